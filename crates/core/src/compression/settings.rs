//! Settings: at which sizes a thread is long, and how short it is to become.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{count::Tokens, error::Error, id::is_control, input::InputVisitor, number, text::INLINE_BYTES};

/// The size of a prompt at which its thread is compressed, whatever larger budget there is.
const COMPRESS: Tokens = Tokens(180_000);

/// The smallest target. Less would hold no summary beside what is pinned and kept.
pub const LEAST_TARGET: Tokens = Tokens(500);

/// In a small window the target is half of the size at which threads are compressed, up to this: a ninth would leave few messages
/// word for word.
const SMALL_TARGET: Tokens = Tokens(8000);

/// How long a model may take to write a summary, unless the session says so.
const TIMEOUT_SECONDS: u64 = 120;

/// The longest time that a session can give a model.
const MOST_SECONDS: u64 = 3600;

/// When threads are compressed, and to which size. Absent sizes follow from `compress_tokens`: the warning comes at
/// eight ninths of it, and the target is a ninth, or in a small window half of it, up to 8,000.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CompressionSettings {
    /// Whether threads are compressed automatically. If absent: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<bool>,
    /// The size of a prompt at which there is a warning. If absent: 160,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 1))]
    pub warn_tokens: Option<Tokens>,
    /// The size that no prompt may pass: the thread is compressed before. If absent: 180,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 1))]
    pub compress_tokens: Option<Tokens>,
    /// The largest size of a history after its compression. If absent: 20,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 500))]
    pub target_tokens: Option<Tokens>,
    /// When a prompt gets too large, results of tools larger than this are no longer shown. Only if that is not enough
    /// is the thread compressed. If absent: results stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 1))]
    pub clear_tool_results_over: Option<Tokens>,
    /// The model that writes summaries. If absent: the model of the agent whose turn it is; if a thread is compressed by hand,
    /// the manager's, else the default model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<crate::schema::Line>))]
    pub model: Option<String>,
    /// What a model that writes a summary is told besides Callboard's own instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Arc<str>>,
    /// The seconds that a model may take to write a summary; after them it is made of excerpts. If absent: 120.
    #[serde(deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 3600))]
    pub timeout_seconds: Option<u64>,
}

/// The sizes of a prompt at which a thread gets long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// From here on it is worth a warning.
    pub warn: Tokens,
    /// From here on it is to be compressed.
    pub compress: Tokens,
    /// The size of its history after that, at most.
    pub target: Tokens,
}

impl CompressionSettings {
    /// Whether threads are compressed unasked.
    pub fn is_automatic(&self) -> bool {
        self.auto.unwrap_or(true)
    }

    /// How long a model may take to write a summary.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.unwrap_or(TIMEOUT_SECONDS))
    }

    /// See [`Command::input`](crate::command::Command::input).
    pub(crate) fn input(&mut self, visitor: &mut dyn InputVisitor) {
        if let Some(model) = &self.model {
            visitor.name(format_args!("/compression/model"), model);
        }
        visitor.text_if_any(&mut self.instructions);
    }

    /// The thresholds for prompts that have to fit in `budget`: where nine tenths of it are less than `compress_tokens`,
    /// those, and the others in proportion.
    pub fn thresholds(&self, budget: Tokens) -> Thresholds {
        let wanted = self.compress_tokens.unwrap_or(COMPRESS);
        let compress = wanted.min(budget.part(9, 10));
        let scaled = |tokens: Tokens| tokens.part(compress.0, wanted.0);
        let warn = scaled(self.warn_tokens.unwrap_or(wanted.part(8, 9))).min(compress);
        let small = compress.part(1, 2).min(SMALL_TARGET);
        let target = match self.target_tokens {
            Some(target) => scaled(target),
            None => compress.part(1, 9).max(small),
        };
        let target = target.max(LEAST_TARGET);
        Thresholds { warn, compress, target }
    }

    /// What is aimed at where nobody says: the target for prompts that have to fit in `budget`, and where half of that would
    /// not hold what is pinned, twice that.
    pub fn target_for(&self, budget: Tokens, pinned: Tokens) -> Tokens {
        self.thresholds(budget).target.max(Tokens(pinned.0.saturating_mul(2)))
    }

    /// The target where no budget is known.
    pub fn target(&self) -> Tokens {
        self.thresholds(Tokens(u64::MAX)).target
    }

    /// Refuses sizes that contradict each other.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let compress = self.compress_tokens.unwrap_or(COMPRESS);
        for (field, size) in [("warn_tokens", self.warn_tokens), ("compress_tokens", self.compress_tokens)] {
            if size == Some(Tokens(0)) {
                return Err(Error::invalid(format!("/compression/{field}"), "use 1 or more"));
            }
        }
        if self.timeout_seconds.is_some_and(|seconds| !(1..=MOST_SECONDS).contains(&seconds)) {
            return Err(Error::invalid("/compression/timeout_seconds", format!("use 1 to {MOST_SECONDS}")));
        }
        if self.model.as_ref().is_some_and(|model| model.chars().count() > 200 || model.chars().any(is_control)) {
            return Err(Error::invalid("/compression/model", "use one line of at most 200 characters"));
        }
        if self.instructions.as_ref().is_some_and(|text| text.len() > INLINE_BYTES) {
            return Err(Error::invalid("/compression/instructions", format!("use at most {INLINE_BYTES} bytes")));
        }
        if self.target_tokens.is_some_and(|target| target < LEAST_TARGET) {
            return Err(Error::invalid("/compression/target_tokens", format!("use {LEAST_TARGET} or more")));
        }
        if self.warn_tokens.is_some_and(|warn| warn > compress) {
            let problem = format!("the warning would come after the compression at {compress}");
            return Err(Error::contradiction("/compression/warn_tokens", problem));
        }
        if self.target_tokens.is_some_and(|target| target >= compress) {
            let problem = format!("aim below the {compress} tokens at which a thread is compressed");
            return Err(Error::contradiction("/compression/target_tokens", problem));
        }
        Ok(())
    }
}

/// Refuses a target that would hold no summary.
pub fn check_target(target: Tokens) -> Result<(), Error> {
    match target < LEAST_TARGET {
        true => Err(Error::invalid("/target_tokens", format!("use {LEAST_TARGET} or more"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &str, budget: u64) -> (u64, u64, u64) {
        let settings: CompressionSettings = serde_json::from_str(settings).unwrap();
        settings.check().unwrap();
        let Thresholds { warn, compress, target } = settings.thresholds(Tokens(budget));
        (warn.0, compress.0, target.0)
    }

    #[test]
    fn a_large_window_is_compressed_at_180_000_and_smaller_ones_in_proportion() {
        assert_eq!(of("{}", 1_000_000), (160_000, 180_000, 20_000));
        assert_eq!(of("{}", 200_000), (160_000, 180_000, 20_000));
        assert_eq!(of("{}", 128_000), (102_400, 115_200, 12_800));
        assert_eq!(of("{}", 32_000), (25_600, 28_800, 8000));
        assert_eq!(of("{}", 7000), (5600, 6300, 3150));
        assert_eq!(of("{}", 1), (0, 0, 500));
        assert_eq!(of("{}", u64::MAX), (160_000, 180_000, 20_000));
    }

    #[test]
    fn all_three_sizes_can_be_set_and_shrink_with_the_window() {
        assert_eq!(of(r#"{"compress_tokens": 9000}"#, 128_000), (8000, 9000, 4500));
        let all = r#"{"warn_tokens": 5000, "compress_tokens": 6000, "target_tokens": 2000}"#;
        assert_eq!(of(all, 128_000), (5000, 6000, 2000));
        assert_eq!(of(all, 4000), (3000, 3600, 1200));
    }

    #[test]
    fn sizes_that_contradict_each_other_are_refused() {
        let refused = |settings: &str| {
            let settings: CompressionSettings = serde_json::from_str(settings).unwrap();
            settings.check().unwrap_err().to_string()
        };
        let warning = refused(r#"{"warn_tokens": 7000, "compress_tokens": 6000}"#);
        assert_eq!(warning, "/compression/warn_tokens: the warning would come after the compression at 6000");
        let target = refused(r#"{"target_tokens": 180000}"#);
        let wanted = "/compression/target_tokens: aim below the 180000 tokens at which a thread is compressed";
        assert_eq!(target, wanted);
        assert_eq!(refused(r#"{"target_tokens": 499}"#), "/compression/target_tokens: use 500 or more");
        assert_eq!(refused(r#"{"compress_tokens": 0}"#), "/compression/compress_tokens: use 1 or more");
        for seconds in [0, 3601] {
            let settings = format!(r#"{{"timeout_seconds": {seconds}}}"#);
            assert_eq!(refused(&settings), "/compression/timeout_seconds: use 1 to 3600");
        }
        assert_eq!(refused(r#"{"model": "a\nb"}"#), "/compression/model: use one line of at most 200 characters");
    }
}
