//! Compression: when what was said in a thread takes so much room that it is time for a summary of it.

use crate::count::Tokens;

/// The size of a prompt at which its thread is to be compressed, whatever larger budget there is.
const COMPRESS: Tokens = Tokens(180_000);

/// The sizes of a prompt at which a thread gets long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// From here on it is worth a warning.
    pub warn: Tokens,
    /// From here on it is to be compressed.
    pub compress: Tokens,
}

impl Thresholds {
    /// Those for prompts that have to fit in `budget`: 160,000 and 180,000 tokens; where nine tenths of the budget are
    /// less than that, those and in proportion.
    pub fn of(budget: Tokens) -> Self {
        let tenths = |parts: u64| u64::try_from(u128::from(budget.0) * u128::from(parts) / 10).unwrap_or(u64::MAX);
        let compress = COMPRESS.min(Tokens(tenths(9)));
        Self { warn: Tokens(compress.0 * 8 / 9), compress }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(budget: u64) -> (u64, u64) {
        let Thresholds { warn, compress } = Thresholds::of(Tokens(budget));
        (warn.0, compress.0)
    }

    #[test]
    fn a_large_window_is_compressed_at_180_000_and_smaller_ones_in_proportion() {
        assert_eq!(of(1_000_000), (160_000, 180_000));
        assert_eq!(of(200_000), (160_000, 180_000));
        assert_eq!(of(128_000), (102_400, 115_200));
        assert_eq!((of(1), of(0)), ((0, 0), (0, 0)));
        assert_eq!(of(u64::MAX), (160_000, 180_000));
    }
}
