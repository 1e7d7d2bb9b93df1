//! Calibration: learns from providers' usage reports how many tokens a model counts, if its vocabulary is not shipped. A
//! session learns within itself, so that its prompts are the same on every node.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use crate::count::{Factor, Tokens};

/// So many models are known at the most; reports about others teach nothing.
const MODELS: usize = 64;

/// A prompt with fewer tokens teaches nothing: what a provider adds to it weighs too much.
const SMALLEST: Tokens = Tokens(16);

/// The newest report weighs at least an eighth, so that a change of a model is noticed.
const MEMORY: u32 = 8;

/// A report that is off by more than a tenth counts an eighth, unless it agrees with the one before.
const FAR: u32 = 8;

/// A learned factor is higher by this many thousandths than what was reported on average.
const MARGIN: u32 = 20;

/// No factor is taken from a report outside of these bounds: from half of what a similar vocabulary counts to twice what the
/// highest estimate makes of that. Besides, none corrects the estimate of its model beyond half or twice of it, since a provider
/// may report a part of a prompt only, such as what it did not cache.
const BOUNDS: (u32, u32) = (500, 2700);

/// The bounds for a model that is counted by its bytes. These bound its tokens; its estimate is a quarter to half of them.
const BOUNDS_OF_BYTES: (u32, u32) = (125, 1000);

/// What a provider reported of one prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The model.
    pub model: Arc<str>,
    /// What a token of the vocabulary came to.
    pub factor: Factor,
    /// What it was expected to come to.
    pub estimate: Factor,
    /// Whether the vocabulary is the bytes of the prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_bytes: bool,
}

/// What a session has learned of each model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    #[serde(default, skip_serializing_if = "RedBlackTreeMapSync::is_empty")]
    learned: RedBlackTreeMapSync<Arc<str>, Learned>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Learned {
    /// The average of what was reported, the newest weighing most.
    average: Factor,
    /// The newest report.
    newest: Factor,
    /// How many reports there were, as far as that matters, and the estimate before the first.
    reports: u32,
    /// The estimate before the first report.
    estimate: Factor,
}

impl Report {
    /// What is learned from `used` tokens of a prompt of `model` that was counted as `tokens` with `factor`; `by_bytes` says that
    /// the vocabulary is its bytes. `None` where the prompt is too small to tell.
    pub fn of(model: &str, tokens: Tokens, factor: Factor, by_bytes: bool, used: Tokens) -> Option<Self> {
        let (counted, estimate) = (factor.fitting(tokens), factor);
        let factor = Factor::between(used, counted).filter(|_| counted >= SMALLEST && used > Tokens(0))?;
        let (least, most) = if by_bytes { BOUNDS_OF_BYTES } else { BOUNDS };
        let within = |factor: Factor| Factor::thousandths(factor.as_thousandths().clamp(least, most));
        Some(Self { model: model.into(), factor: within(factor), estimate: within(estimate), by_bytes })
    }
}

impl Calibration {
    /// Learns from a report.
    pub fn learn(&mut self, report: &Report) {
        let before = self.learned.get(&report.model).copied();
        if before.is_none() && self.learned.size() >= MODELS {
            return;
        }
        let Report { factor, estimate, by_bytes, .. } = *report;
        let Learned { average, newest, reports, estimate } =
            before.unwrap_or(Learned { average: estimate, newest: estimate, reports: 1, estimate });
        let (least, most) = match (by_bytes, estimate.as_thousandths()) {
            (true, _) => BOUNDS_OF_BYTES,
            (false, estimate) => (estimate / 2, estimate.saturating_mul(2)),
        };
        let factor = Factor::thousandths(factor.as_thousandths().clamp(least, most));
        let (reports, one_in) = match () {
            () if is_near(factor, average, 10) => (MEMORY.min(reports + 1), MEMORY.min(reports + 1)),
            () if is_near(factor, newest, 4) => (1, 2),
            () => (reports, FAR),
        };
        let (known, said) = (i64::from(average.as_thousandths()), i64::from(factor.as_thousandths()));
        let average = u32::try_from(known + (said - known) / i64::from(one_in)).map_or(average, Factor::thousandths);
        self.learned.insert_mut(report.model.clone(), Learned { average, newest: factor, reports, estimate });
    }

    /// What a token of the vocabulary comes to for `model`, with a small margin, where something was learned of it.
    pub fn factor(&self, model: &str) -> Option<Factor> {
        let average = self.learned.get(model)?.average.as_thousandths();
        Some(Factor::thousandths(average + average * MARGIN / 1000))
    }
}

/// Whether two factors differ by so small a part: 4 is a quarter.
fn is_near(one: Factor, other: Factor, part: u64) -> bool {
    let (one, other) = (u64::from(one.as_thousandths()), u64::from(other.as_thousandths()));
    one.max(other) * part <= one.min(other) * (part + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn report(factor: u32) -> Report {
        let (factor, estimate) = (Factor::thousandths(factor), Factor::ONE);
        Report { model: "m".into(), factor, estimate, by_bytes: false }
    }

    proptest! {
        /// Whatever the provider counts, from half to twice of what is estimated, prompts come within 8 % of it, and stay there.
        #[test]
        fn estimates_come_near_what_a_provider_reports(
            truth in 500_u32..=2000,
            prompts in prop::collection::vec(200_u64..50_000, 12..30),
        ) {
            let (truth, mut calibration, mut factor) = (Factor::thousandths(truth), Calibration::default(), Factor::ONE);
            for (at, counted) in prompts.into_iter().map(Tokens).enumerate() {
                let (estimated, used) = (factor.of(counted), truth.of(counted));
                if at > 10 {
                    let off = estimated.0.abs_diff(used.0) as f64 / used.0 as f64;
                    prop_assert!(off <= 0.08, "{estimated} of {used} after {at} reports");
                }
                calibration.learn(&Report::of("m", estimated, factor, false, used).unwrap());
                factor = calibration.factor("m").unwrap();
            }
        }

        #[test]
        fn no_report_teaches_what_cannot_be(tokens: u64, factor in 1_u32.., by_bytes: bool, used: u64) {
            let mut calibration = Calibration::default();
            if let Some(report) = Report::of("m", Tokens(tokens), Factor::thousandths(factor), by_bytes, Tokens(used)) {
                (0..100).for_each(|_| calibration.learn(&report));
                let learned = calibration.factor("m").unwrap().as_thousandths();
                let (least, most) = if by_bytes { BOUNDS_OF_BYTES } else { BOUNDS };
                prop_assert!((least..=most + most * MARGIN / 1000).contains(&learned));
            }
        }
    }

    #[test]
    fn one_report_that_is_far_off_changes_little_and_one_that_agrees_with_it_more() {
        let learned = |reports: &[u32]| {
            let mut calibration = Calibration::default();
            reports.iter().for_each(|factor| calibration.learn(&report(*factor)));
            calibration.factor("m").unwrap().as_thousandths()
        };
        assert_eq!(learned(&[1100]), 1071, "the first one counts half");
        assert_eq!((learned(&[500]), learned(&[500, 510])), (956, 738));
        // What was reported of a part of the prompts, now and then.
        assert!(learned(&[1000, 500, 1000, 1000, 500, 1000, 1000]) > 930);
    }

    #[test]
    fn no_report_corrects_an_estimate_beyond_half_or_twice_of_it() {
        for (estimate, factor, learned) in [(1350, 500, 675), (1200, 2700, 2400), (1000, 500, 500)] {
            let (estimate, factor) = (Factor::thousandths(estimate), Factor::thousandths(factor));
            let mut calibration = Calibration::default();
            // What comes later is estimated by what was learned, which is no bound.
            for _ in 0..130 {
                let estimate = calibration.factor("m").unwrap_or(estimate);
                calibration.learn(&Report { model: "m".into(), factor, estimate, by_bytes: false });
            }
            let found = calibration.factor("m").unwrap().as_thousandths();
            assert!(found.abs_diff(learned + learned * MARGIN / 1000) <= 10, "{found} for {learned}");
        }
    }

    #[test]
    fn a_model_that_counts_otherwise_from_now_on_is_noticed() {
        let mut calibration = Calibration::default();
        (0..100).for_each(|_| calibration.learn(&report(1000)));
        (0..30).for_each(|_| calibration.learn(&report(1500)));
        assert!(calibration.factor("m").unwrap().as_thousandths().abs_diff(1500) <= 75);
        assert_eq!(calibration.factor("another"), None);
    }

    #[test]
    fn the_number_of_models_is_bounded() {
        let mut calibration = Calibration::default();
        for model in 0..1000 {
            calibration.learn(&Report { model: model.to_string().into(), ..report(1000) });
        }
        assert_eq!(calibration.learned.size(), MODELS);
    }
}
