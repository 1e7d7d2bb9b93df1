//! The steps of a long chore, and how long each took.

use std::time::{Duration, Instant};

use anyhow::anyhow;

/// What was done so far.
pub(crate) struct Steps {
    began: Instant,
    done: Vec<(&'static str, Duration)>,
}

impl Default for Steps {
    fn default() -> Self {
        Self { began: Instant::now(), done: Vec::new() }
    }
}

impl Steps {
    /// Does one step, and notes how long it took, also if it failed.
    pub(crate) fn run<T>(&mut self, name: &'static str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        eprintln!("──── {name}");
        let began = Instant::now();
        let result = work();
        self.done.push((name, began.elapsed()));
        result
    }

    /// Does the step `name` while `others` does others. What it returns to be printed is printed when both have ended.
    pub(crate) fn run_beside(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> anyhow::Result<String> + Send,
        others: impl FnOnce(&mut Self) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        std::thread::scope(|scope| {
            let step = scope.spawn(|| {
                let began = Instant::now();
                (work(), began.elapsed())
            });
            let result = others(self);
            let (printed, took) = step.join().map_err(|_| anyhow!("{name}: it panicked"))?;
            eprintln!("──── {name}, beside the last steps");
            self.done.push((name, took));
            eprint!("{}", printed?);
            result
        })
    }

    /// Prints a table of all steps. What all took is less than their sum where some ran beside others.
    pub(crate) fn report(&self) {
        eprintln!("\n{}", table(&[&self.done[..], &[("all", self.began.elapsed())]].concat()));
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
        assert_eq!(steps.done.len(), 1);
    }

    #[test]
    fn a_step_beside_others_is_noted_and_its_failure_is_an_error() {
        let mut steps = Steps::default();
        steps.run_beside("one", || Ok(String::new()), |steps| steps.run("two", || Ok(()))).unwrap();
        assert_eq!(steps.done.iter().map(|step| step.0).collect::<Vec<_>>(), ["two", "one"]);
        assert!(steps.run_beside("three", || anyhow::bail!("no"), |_| Ok(())).is_err());
        assert!(steps.run_beside("four", || Ok(String::new()), |_| anyhow::bail!("no")).is_err());
        assert_eq!(steps.done.len(), 4);
    }
}
