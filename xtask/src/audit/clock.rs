//! No test depends on the clock: how long something takes says more of the machine than of the code, and a test that waits
//! waits for an event. Two things are refused in tests: an assertion on a time that was taken with `elapsed()`, and a duration
//! below one second that gives no reason in a comment on the line, or on the one above: `// clock: the reason`.

use std::path::Path;

use super::sources::{Source, is_test};

/// Begins the comment that gives the reason.
const REASON: &str = "// clock: ";

/// What makes a duration of a number, and from which number on it lasts a second.
const UNITS: [(&str, f64); 5] = [
    ("Duration::from_millis(", 1e3),
    ("Duration::from_micros(", 1e6),
    ("Duration::from_nanos(", 1e9),
    ("Duration::from_secs_f32(", 1.0),
    ("Duration::from_secs_f64(", 1.0),
];

/// Where the tests of our crates go by the clock. Benchmarks measure.
pub(super) fn faults(sources: &[Source]) -> Vec<String> {
    let measures = |path: &Path| path.iter().any(|part| part == "bench");
    let mut faults = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| !measures(path)) {
        let found = in_file(text, is_test(path));
        faults.extend(found.into_iter().map(|(line, what)| format!("{}:{line}: {what}", path.display())));
    }
    faults
}

/// The lines that go by the clock, from 1. Of a file that is not a test, those of its module of tests count, at its end.
fn in_file(text: &str, is_test: bool) -> Vec<(usize, &'static str)> {
    let lines: Vec<&str> = text.lines().collect();
    let begins_tests = |pair: &[&str]| matches!(pair, ["#[cfg(test)]", module] if module.ends_with('{'));
    let first = if is_test { Some(0) } else { lines.windows(2).position(begins_tests) };
    let (mut faults, mut asserts) = (Vec::new(), false);
    let mut times: Vec<&str> = Vec::new();
    for (at, &line) in lines.iter().enumerate().skip(first.unwrap_or(lines.len())) {
        let code = line.split("//").next().unwrap_or_default();
        if code.contains("fn ") {
            times.clear();
        }
        asserts |= code.contains("assert") && code.contains("!(");
        let takes_time = code.contains("elapsed()");
        if asserts {
            if takes_time || times.iter().any(|time| has_word(code, time)) {
                faults.push((at + 1, "an assertion on how long something took"));
            }
            asserts = !code.trim_end().ends_with(';');
        } else if takes_time {
            times.extend(noted_in(code));
        }
        if is_short(code) && !has_reason(&lines, at) {
            faults.push((at + 1, "a duration below one second"));
        }
    }
    faults
}

/// Whether a reason stands on this line, or on the one above.
fn has_reason(lines: &[&str], at: usize) -> bool {
    let above = at.checked_sub(1).and_then(|above| lines.get(above));
    [lines.get(at), above].into_iter().flatten().any(|line| line.contains(REASON))
}

/// The variable that a line puts a time into: `let took = …`, `took = …` or `took.push(…)`.
fn noted_in(code: &str) -> Option<&str> {
    let before = code.split("elapsed()").next()?;
    let name = before.split_once(" = ").map(|(name, _)| name).or(before.split_once(".push(").map(|(name, _)| name))?;
    name.split_whitespace().next_back().filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

fn is_short(code: &str) -> bool {
    let number = |rest: &str| rest.split(')').next().and_then(|number| number.replace('_', "").parse::<f64>().ok());
    UNITS.iter().any(|(unit, second)| code.split(unit).skip(1).filter_map(number).any(|number| number < *second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        in_file(text, true).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn durations_below_one_second_need_a_reason() {
        for short in ["from_millis(999)", "from_micros(5_000)", "from_nanos(1)", "from_secs_f64(0.5)"] {
            let code = format!("sleep(Duration::{short});");
            assert_eq!(lines(&code), [1], "{code}");
            assert!(lines(&format!("{code} // clock: only lets others run")).is_empty());
            assert!(lines(&format!("// clock: only lets others run\n{code}")).is_empty());
            assert_eq!(lines(&format!("// clock: of this line alone\n{code}\n{code}")), [3]);
        }
        for fine in ["Duration::from_millis(1_000)", "Duration::from_secs(1)", "Timestamp::from_millis(5)", "millis(n)"]
        {
            assert!(lines(fine).is_empty(), "{fine}");
        }
    }

    #[test]
    fn no_assertion_is_on_a_time() {
        assert_eq!(lines("assert!(began.elapsed() < limit);"), [1]);
        assert_eq!(lines("assert!(\n    began.elapsed() < limit,\n    \"slow\"\n);"), [2]);
        assert_eq!(lines("// clock: it is fast\nassert!(\n    began.elapsed() < limit\n);"), [3]);
        assert_eq!(lines("let took = began.elapsed();\nassert!(took < limit);"), [2]);
        assert_eq!(lines("all.push(began.elapsed());\nassert!(all[0] < limit);"), [2]);
        assert!(lines("let took = began.elapsed();\nprintln!(\"{took:?}\");\nassert!(overtook);").is_empty());
        assert!(lines("let took = began.elapsed();\nfn other() {\nassert!(took < limit);").is_empty());
    }

    #[test]
    fn only_tests_are_looked_at() {
        let code =
            "sleep(Duration::from_millis(5));\n#[cfg(test)]\nmod tests {\n    sleep(Duration::from_millis(5));\n}";
        assert_eq!(in_file(code, false).len(), 1);
        assert!(in_file(&code.replace(" {", ";"), false).is_empty());
    }
}
