//! The README is true: what its examples print is what the binary prints.

use crate::home::Home;

#[test]
fn the_examples_of_the_readme_print_what_they_say() {
    let readme = include_str!("../../../../README.md");
    let home = Home::new();
    let mut examples = 0;
    for block in readme.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for example in block.split("$ callboard ").skip(1) {
            let (line, expected) = example.split_once('\n').unwrap();
            let done = home.run(&line.replace('"', "'"));
            // The standard error also says which session is meant, and sums a prompt up.
            let errors: Vec<_> = done.stderr.lines().filter(|line| line.starts_with("error:")).collect();
            let printed = home.normal(&format!("{}{}", done.stdout, errors.join("\n")));
            assert!(fits(&printed, expected.trim_end()), "$ callboard {line}\n{printed}\nand not\n{expected}");
            examples += 1;
        }
    }
    assert!(examples >= 6, "only {examples} examples were found");
}

/// Whether `printed` is what `expected` says, where a line `...` stands for any lines.
fn fits(printed: &str, expected: &str) -> bool {
    let mut rest = printed.trim_end();
    let pieces: Vec<_> = expected.split("...").map(|piece| piece.trim_matches('\n')).collect();
    let starts = pieces.first().is_none_or(|first| rest.starts_with(first));
    let whole = pieces.len() > 1 || rest == expected;
    starts
        && whole
        && pieces.iter().all(|piece| match rest.split_once(piece) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
}
