//! Windows: a passage lends its words to its neighbours, the more the nearer they stand.

use std::sync::LazyLock;

/// How many passages away words are lent at the most.
pub(crate) const REACH: usize = 5;

/// With so many words between two passages, or more, nothing is lent.
pub(crate) const FARTHEST_WORDS: u32 = 200;

/// After so many words, half is lent.
const HALF_LIFE: f32 = 40.0;

/// What is lent to the passages after, beside what a passage has itself.
const FORWARD: f32 = 0.6;

/// What is lent to the passages before.
const BACKWARD: f32 = 0.4;

/// What a question lends to what follows it.
const QUESTION: f32 = 1.0;

/// The longest passage that is told apart; what a longer one lends is the same.
const LONGEST: u32 = 512;

/// `2^(-words/40)`, by words.
static DECAY: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let words = 0..=u16::try_from(FARTHEST_WORDS + LONGEST).unwrap_or(u16::MAX);
    words.map(|words| (-f32::from(words) / HALF_LIFE).exp2()).collect()
});

/// What all of a passage of `words` words lends over a gap of `gap` words: the mean of `2^(-x/40)` over its words.
fn share(gap: u32, words: u32) -> f32 {
    let decay = |words: u32| DECAY.get(words as usize).copied().unwrap_or_default();
    let words = words.clamp(1, LONGEST);
    let counted = f32::from(u16::try_from(words).unwrap_or(u16::MAX));
    HALF_LIFE / (counted * std::f32::consts::LN_2) * (decay(gap) - decay(gap + words))
}

/// What a passage of `words` words lends to one that comes `gap` words later, and whether it asks what that answers.
pub(crate) fn forward(gap: u32, words: u32, is_asked: bool) -> f32 {
    share(gap, words) * if is_asked { QUESTION } else { FORWARD }
}

/// What a passage of `words` words lends to one that came `gap` words before.
pub(crate) fn backward(gap: u32, words: u32) -> f32 {
    share(gap, words) * BACKWARD
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_near_and_short_passage_lends_most() {
        let rounded = |gap, words| (share(gap, words) * 1000.0).round() / 1000.0;
        assert_eq!([rounded(0, 25), rounded(25, 25), rounded(0, 120), rounded(120, 120)], [0.812, 0.526, 0.421, 0.053]);
    }
}
