//! Log lines in the form of what commands print for people: `warning: it happened (id: 7)`.

use std::fmt;

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

/// Writes log lines in that form.
pub(crate) struct Remark;

/// What an event says, and about what.
#[derive(Default)]
struct Said {
    message: String,
    about: Vec<String>,
}

impl<S, N> FormatEvent<S, N> for Remark
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut said = Said::default();
        event.record(&mut said);
        let level = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            _ => "note",
        };
        writeln!(writer, "{level}: {}", said.line())
    }
}

impl Said {
    fn line(&self) -> String {
        match self.about.as_slice() {
            [] => self.message.clone(),
            about => format!("{} ({})", self.message, about.join(", ")),
        }
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.about.push(format!("{name}: {value:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_event_is_about_stands_behind_it() {
        let said = Said { message: "it failed".to_owned(), about: vec!["id: 7".to_owned(), "try: 2".to_owned()] };
        assert_eq!(said.line(), "it failed (id: 7, try: 2)");
        assert_eq!(Said { about: Vec::new(), ..said }.line(), "it failed");
    }
}
