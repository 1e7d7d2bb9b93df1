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

/// A learned factor is higher by this many thousandths than what was reported on average.
const MARGIN: u32 = 20;

/// No factor is learned outside of these bounds, whatever is reported.
const BOUNDS: (u32, u32) = (50, 5000);

/// What a provider reported of one prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The model.
    pub model: Arc<str>,
    /// What a token of the vocabulary came to.
    pub factor: Factor,
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
    /// How many reports there were, as far as that matters.
    reports: u32,
}

impl Report {
    /// What is learned from `used` tokens of a prompt of `model` that was counted as `tokens` with `factor`. `None` where the
    /// prompt is too small to tell.
    pub fn of(model: &str, tokens: Tokens, factor: Factor, used: Tokens) -> Option<Self> {
        let counted = factor.fitting(tokens);
        let factor = Factor::between(used, counted).filter(|_| counted >= SMALLEST && used > Tokens(0))?;
        let factor = Factor::thousandths(factor.as_thousandths().clamp(BOUNDS.0, BOUNDS.1));
        Some(Self { model: model.into(), factor })
    }
}

impl Calibration {
    /// Learns from a report.
    pub fn learn(&mut self, report: &Report) {
        let before = self.learned.get(&report.model).copied();
        if before.is_none() && self.learned.size() >= MODELS {
            return;
        }
        let Learned { average, reports } = before.unwrap_or(Learned { average: report.factor, reports: 0 });
        let reports = MEMORY.min(reports + 1);
        let (average, newest) = (i64::from(average.as_thousandths()), i64::from(report.factor.as_thousandths()));
        let average = u32::try_from(average + (newest - average) / i64::from(reports)).unwrap_or(BOUNDS.1);
        self.learned.insert_mut(report.model.clone(), Learned { average: Factor::thousandths(average), reports });
    }

    /// What a token of the vocabulary comes to for `model`, with a small margin, where something was learned of it.
    pub fn factor(&self, model: &str) -> Option<Factor> {
        let average = self.learned.get(model)?.average.as_thousandths();
        Some(Factor::thousandths(average + average * MARGIN / 1000))
    }

    /// Whether nothing was learned.
    pub fn is_empty(&self) -> bool {
        self.learned.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever the provider counts, from half to twice of what is estimated, prompts come within 5 % of it, and stay there.
        #[test]
        fn estimates_come_near_what_a_provider_reports(
            truth in 500_u32..=2000,
            prompts in prop::collection::vec(200_u64..50_000, 3..20),
        ) {
            let (truth, mut calibration, mut factor) = (Factor::thousandths(truth), Calibration::default(), Factor::ONE);
            for (at, counted) in prompts.into_iter().map(Tokens).enumerate() {
                let (estimated, used) = (factor.of(counted), truth.of(counted));
                if at > 0 {
                    let off = estimated.0.abs_diff(used.0) as f64 / used.0 as f64;
                    prop_assert!(off <= 0.05 && estimated >= used, "{estimated} of {used} after {at} reports");
                }
                calibration.learn(&Report::of("m", estimated, factor, used).unwrap());
                factor = calibration.factor("m").unwrap();
            }
        }

        #[test]
        fn no_report_teaches_what_cannot_be(tokens: u64, factor in 1_u32.., used: u64) {
            let mut calibration = Calibration::default();
            if let Some(report) = Report::of("m", Tokens(tokens), Factor::thousandths(factor), Tokens(used)) {
                calibration.learn(&report);
                let learned = calibration.factor("m").unwrap().as_thousandths();
                prop_assert!((BOUNDS.0..=BOUNDS.1 + BOUNDS.1 * MARGIN / 1000).contains(&learned));
            }
        }
    }

    #[test]
    fn a_model_that_counts_otherwise_from_now_on_is_noticed() {
        let mut calibration = Calibration::default();
        let report = |factor| Report { model: "m".into(), factor: Factor::thousandths(factor) };
        (0..100).for_each(|_| calibration.learn(&report(1000)));
        (0..30).for_each(|_| calibration.learn(&report(1500)));
        assert!(calibration.factor("m").unwrap().as_thousandths().abs_diff(1500) <= 75);
        assert_eq!(calibration.factor("another"), None);
    }

    #[test]
    fn the_number_of_models_is_bounded() {
        let mut calibration = Calibration::default();
        for model in 0..1000 {
            calibration.learn(&Report { model: model.to_string().into(), factor: Factor::ONE });
        }
        assert_eq!(calibration.learned.size(), MODELS);
    }
}
