//! Rounds: things that are compared are measured in turns, so that other load on the machine affects all of them.

use std::time::Instant;

use tokio::task::JoinSet;

/// The number of rounds.
pub(crate) const ROUNDS: usize = 7;

/// A rate per second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Rate(pub(crate) f64);

impl Rate {
    /// The rate of `count` things since `began`.
    pub(crate) fn since(count: usize, began: Instant) -> Self {
        Self(count as f64 / began.elapsed().as_secs_f64())
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0}/s", self.0)
    }
}

/// What is measured of several things, which take turns in each round. The first round does not count: in it logs grow,
/// connections are opened and caches are filled.
pub(crate) async fn in_rounds<T, const N: usize>(
    mut round: impl AsyncFnMut() -> anyhow::Result<[T; N]>,
) -> anyhow::Result<[Vec<T>; N]> {
    let mut all: [Vec<T>; N] = std::array::from_fn(|_| Vec::new());
    for number in 0..=ROUNDS {
        let measured = round().await?;
        if number > 0 {
            all.iter_mut().zip(measured).for_each(|(all, one)| all.push(one));
        }
    }
    Ok(all)
}

/// The median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The median of the ratios of pairs that were measured next to each other.
pub(crate) fn ratio(ours: &[Rate], theirs: &[Rate]) -> f64 {
    median(ours.iter().zip(theirs).map(|(ours, theirs)| ours.0 / theirs.0).collect())
}

/// The median rate.
pub(crate) fn typical(rates: &[Rate]) -> Rate {
    Rate(median(rates.iter().map(|rate| rate.0).collect()))
}

/// The rate of `count` things that callers do at once.
pub(crate) async fn at_once<F>(count: usize, callers: impl Iterator<Item = F>) -> anyhow::Result<Rate>
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let callers: Vec<F> = callers.collect();
    let began = Instant::now();
    all_end(callers.into_iter().collect()).await?;
    Ok(Rate::since(count, began))
}

/// Waits until all callers have ended.
pub(crate) async fn all_end(mut calling: JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
    while let Some(called) = calling.join_next().await {
        called??;
    }
    Ok(())
}
