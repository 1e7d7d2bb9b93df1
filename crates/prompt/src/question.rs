//! What is asked of recall for a prompt: the task, and what the newest messages name.

use std::collections::HashSet;

use callboard_core::text::first_chars;

/// How much of the task is asked for, in characters. More would only blur what is meant.
const TASK: usize = 2000;
/// How many names are taken from the newest messages.
const NAMES: usize = 24;
/// How many of the newest messages are looked at.
const MESSAGES: usize = 4;

/// The words of a prompt's question: those of the task, then the names, numbers and identifiers in the newest messages, of
/// which `newest` has the last one first. They say what the talk is about where the task is only "and when was that?".
pub fn question<'a>(task: &str, newest: impl IntoIterator<Item = &'a str>) -> String {
    let mut question = first_chars(task, TASK);
    let mut seen: HashSet<String> = words(task).map(str::to_lowercase).collect();
    let named = newest.into_iter().take(MESSAGES).flat_map(named);
    for name in named.filter(|name| seen.insert(name.to_lowercase())).take(NAMES) {
        question.push(' ');
        question.push_str(name);
    }
    question
}

/// The words of a text that name something: with a capital letter inside of a sentence, with a digit, or in the form of an
/// identifier.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let mut begins = true;
    text.split_whitespace().filter_map(move |piece| {
        let is_first = std::mem::replace(&mut begins, piece.ends_with(['.', '!', '?', ':']));
        let word = trimmed(piece);
        let is_name = !is_first && word.chars().next().is_some_and(char::is_uppercase) && word.chars().count() > 1;
        let is_identifier = word.contains(['_', '/', '.', '-', '@', '#']) && word.chars().any(char::is_alphanumeric);
        let has_digit = word.chars().any(|char| char.is_ascii_digit());
        (is_name || is_identifier || has_digit).then_some(word).filter(|word| word.len() <= 100)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(trimmed)
}

fn trimmed(piece: &str) -> &str {
    piece.trim_matches(|char: char| !char.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use crate::question::question;

    #[test]
    fn a_question_has_the_task_and_what_the_newest_messages_name() {
        let newest =
            ["It broke in parse_date again. Maybe ask Ana about 2024-05-01, or Ana's team.", "We met in Lisbon."];
        assert_eq!(question("When was Lisbon?", newest), "When was Lisbon? parse_date Ana 2024-05-01 Ana's");
        assert_eq!(question("Go on.", []), "Go on.");
        assert!(question(&"long ".repeat(1000), []).chars().count() <= 2001);
    }
}
