//! The steps of a long chore, and how long each took.

use std::time::{Duration, Instant};

/// What was done so far.
#[derive(Default)]
pub(crate) struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    /// Does one step, and notes how long it took, also if it failed.
    pub(crate) fn run<T>(&mut self, name: &'static str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        eprintln!("──── {name}");
        let began = Instant::now();
        let result = work();
        self.0.push((name, began.elapsed()));
        result
    }

    /// Prints a table of all steps.
    pub(crate) fn report(&self) {
        let all: Duration = self.0.iter().map(|(_, took)| *took).sum();
        eprintln!("\n{}", table(&[&self.0[..], &[("all", all)]].concat()));
    }
}

fn table(steps: &[(&str, Duration)]) -> String {
    let lines = steps.iter().map(|(name, took)| {
        let seconds = took.as_secs();
        format!("{:>3}:{:02}  {name}\n", seconds / 60, seconds % 60)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_has_a_line_with_its_minutes_and_seconds() {
        let steps = [("clippy", Duration::from_secs(192)), ("all", Duration::from_secs(3600))];
        assert_eq!(table(&steps), "  3:12  clippy\n 60:00  all\n");
    }

    #[test]
    fn a_step_that_failed_is_noted_too() {
        let mut steps = Steps::default();
        let failed: anyhow::Result<()> = steps.run("one", || anyhow::bail!("no"));
        assert!(failed.is_err());
        assert_eq!(steps.0.len(), 1);
    }
}
