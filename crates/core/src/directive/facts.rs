//! What is kept of a directive.

use crate::{
    directive::{Received, SUBJECT},
    entry::Header,
    fact::{Description, Fact, MeantFor, Sentence, text},
    sentence::Statement,
    state::State,
};

impl Fact for Received {
    const TYPE: &'static str = "directive.received";

    const SENTENCE: Sentence = sentence;

    const DESCRIPTION: Description = Description::of(&[
        text("message"),
        text("outcomes.*.name"),
        text("outcomes.*.reason"),
        text("faults.*.pointer"),
        text("faults.*.problem"),
        text("unparsed.*"),
    ]);

    const MEANT_FOR: MeantFor = MeantFor::Manager;

    fn subject(&self) -> String {
        SUBJECT.to_owned()
    }

    fn apply(self, _: &mut State, _: &Header) {}
}

fn sentence(it: &Statement<'_>) -> String {
    let to = match &*it.text("message_to") {
        "" => String::new(),
        to => format!(" to {to}"),
    };
    match (&*it.text("message"), it.count("outcomes")) {
        ("", 0) => format!("{} gave a directive{to}", it.by),
        ("", 1) => format!("{} gave a directive{to} with 1 context set", it.by),
        ("", sets) => format!("{} gave a directive{to} with {sets} context sets", it.by),
        (message, _) => format!("{}{to}: {message}", it.by),
    }
}
