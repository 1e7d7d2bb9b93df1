//! What the budget of a prompt rests on: counts of pieces add up, and no count exceeds the upper bound.

mod texts;

use callboard_core::count::{TokenCounter, Tokens};
use callboard_tokens::{Vocabulary, counter, upper_bound};
use proptest::{collection::vec, prelude::*, sample::select};

/// Texts that start with a character that is neither white space nor `/` and end with a line end.
fn piece() -> impl Strategy<Value = String> {
    let line_end = select(&["\n", "\r\n", "\r", "\n\n", " \n", "\u{a0}\n", "\n \n", "/\n", ">\n"][..]);
    (select(texts::VISIBLE), texts::text(), line_end).prop_map(|(start, text, end)| start.to_owned() + &text + end)
}

/// Checks that the counts of `pieces` are together the count of what they make up.
fn check_sum(counter: &dyn TokenCounter, pieces: &[String]) -> Result<(), TestCaseError> {
    let sum: Tokens = pieces.iter().map(|piece| counter.count(piece)).sum();
    prop_assert_eq!(counter.count(&pieces.concat()), sum, "{}", counter.vocabulary());
    Ok(())
}

proptest! {
    #[test]
    fn counts_of_pieces_that_end_with_a_line_end_add_up(pieces in vec(piece(), 2..6)) {
        for vocabulary in Vocabulary::ALL {
            check_sum(counter(vocabulary), &pieces)?;
        }
    }

    #[test]
    fn upper_bounds_of_pieces_add_up_wherever_they_end(pieces in vec(texts::text(), 2..6)) {
        check_sum(upper_bound(), &pieces)?;
    }

    #[test]
    fn no_exact_count_exceeds_the_upper_bound(text in texts::text()) {
        let bound = upper_bound().count(&text);
        for vocabulary in Vocabulary::ALL {
            prop_assert!(counter(vocabulary).count(&text) <= bound, "{}", vocabulary.as_str());
        }
        let normalised = Tokens(bpe_openai::voyage3_base().count(text.as_str()) as u64);
        prop_assert!(normalised <= bound, "qwen2, normalised");
    }
}
