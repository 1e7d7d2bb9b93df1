//! The report: what was measured, and what is promised.

/// All figures of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    figures: Vec<Figure>,
}

/// One figure.
#[derive(Debug)]
struct Figure {
    what: String,
    /// What was measured, with its unit, and what it is compared with.
    measured: String,
    /// The figure, and what is promised of it.
    promise: Option<(f64, Goal)>,
}

/// What is promised of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Report {
    /// Adds a figure with a promise.
    pub(crate) fn promised(&mut self, what: impl Into<String>, value: f64, goal: Goal, measured: impl Into<String>) {
        self.add(Figure { what: what.into(), measured: measured.into(), promise: Some((value, goal)) });
    }

    /// Adds a figure without a promise.
    pub(crate) fn noted(&mut self, what: impl Into<String>, measured: impl Into<String>) {
        self.add(Figure { what: what.into(), measured: measured.into(), promise: None });
    }

    fn add(&mut self, figure: Figure) {
        eprintln!("  {}: {}", figure.what, figure.measured);
        self.figures.push(figure);
    }

    /// Prints a table in Markdown.
    pub(crate) fn print_table(&self) {
        println!("| what | measured | figure | promised | |\n| --- | --- | --- | --- | --- |");
        for Figure { what, measured, promise } in &self.figures {
            let (figure, promised, kept) = match promise {
                Some((value, goal)) => {
                    (number(*value), goal.words(), if goal.is_met(*value) { "kept" } else { "**missed**" })
                }
                None => Default::default(),
            };
            println!("| {what} | {measured} | {figure} | {promised} | {kept} |");
        }
    }
}

impl Goal {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
        }
    }

    fn words(self) -> String {
        match self {
            Self::AtLeast(least) => format!("at least {}", number(least)),
            Self::AtMost(most) => format!("at most {}", number(most)),
        }
    }
}

/// A number with its significant digits.
fn number(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
