//! Shows a team at work: the entries of its journal, in words.

use callboard_api as api;
use callboard_engine::core::{
    agent::AgentRole,
    context_set::ContextSet,
    conversation::{Message, MessageChecked, Role},
    directive::Received,
    id::{AgentName, ThreadId},
    run::{
        Due,
        turn_facts::{TurnAnswered, TurnFailed, TurnRequested},
    },
    time::Timestamp,
};
use serde_json::from_str;

use crate::{
    commands::{runs::seconds, set, watch},
    output::{Output, Style, counted, fault_in_words, indented},
};

/// Prints entries and pieces of answers.
pub(super) struct Show {
    output: Output,
    manager: Option<AgentName>,
    /// The last turn that was answered.
    answered_turn: u64,
    /// When the current turn was requested.
    asked_at: Option<Timestamp>,
    /// The agent whose answer was streamed to the screen.
    streamed: Option<AgentName>,
}

/// How the whole of a long text is read.
const READ_WITH: &str = "`callboard messages` or `callboard set show`";

impl watch::Show for Show {
    fn shows(&self, piece: &api::Delta) -> bool {
        // The whole answer may have overtaken it. The manager's answer is JSON, and its message is shown when it is whole.
        piece.turn > self.answered_turn && self.manager.as_ref() != Some(&piece.agent)
    }

    fn piece(&mut self, piece: &api::Delta, is_first: bool) {
        if is_first {
            self.output.write("    ");
            self.streamed = Some(piece.agent.clone());
        }
        self.output.write(&self.output.paint(Style::Quiet, piece.text.replace('\n', "\n    ")));
    }

    fn entry(&mut self, entry: &api::Entry) -> serde_json::Result<()> {
        let data: &str = &entry.data;
        match &*entry.kind {
            "message.added" => self.message(from_str(data)?),
            "message.checked" => self.verdict(from_str(data)?),
            "context_set.updated" => self.set(entry, from_str(data)?),
            "context_set.deleted" => self.line(entry, format!("deletes {}", about(entry))),
            "directive.received" => self.directive(from_str(data)?),
            "turn.requested" => self.requested(entry, from_str(data)?),
            "turn.answered" => self.answered(entry, from_str(data)?),
            "turn.failed" => self.failed(from_str(data)?),
            "run.paused" => from_str::<watch::Paused>(data)?.show(self.output),
            "run.resumed" => self.output.line("  resumed"),
            _ => {}
        }
        Ok(())
    }
}

impl Show {
    pub(super) fn new(session: &api::Session, output: Output) -> Self {
        let manager = session.agents.iter().find(|agent| agent.role == AgentRole::Manager);
        let manager = manager.map(|agent| agent.name.clone());
        Self { output, manager, answered_turn: 0, asked_at: None, streamed: None }
    }

    fn message(&mut self, message: Message) {
        let from = match (message.said_by(None), message.role) {
            (Some(agent), _) => agent.to_string(),
            (None, Role::User) => "user".to_owned(),
            (None, Role::Tool) => "tool".to_owned(),
            (None, Role::Ai | Role::System) => "system".to_owned(),
        };
        let to = self.reader(&message);
        self.output.line(format!("{} → {}", self.output.paint(Style::Name, from), self.output.paint(Style::Name, to)));
        if message.agent.is_some() && self.streamed == message.agent {
            self.output.painted(Style::Quiet, "    (as above)");
        } else {
            self.output.line(indented(&watch::content(&message.content, READ_WITH), "    "));
        }
        for call in &message.tool_calls {
            self.output.line(format!("    calls {} as {}: {}", call.name, call.id, call.arguments_text()));
        }
        if let Some(expected) = &message.expected_output {
            self.output.painted(Style::Quiet, indented(&format!("expects: {expected}"), "    "));
        }
    }

    /// The addressee of a message: in an agent's own thread the agent or its manager, in main the user or the manager.
    fn reader(&self, message: &Message) -> String {
        let manager = || self.manager.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string);
        let by_manager = message.agent.is_some() && message.agent == self.manager;
        match message.thread_id.as_str().strip_prefix("agent:") {
            Some(worker) if by_manager || message.agent.is_none() => worker.to_owned(),
            Some(_) => manager(),
            None if message.thread_id == ThreadId::main() && by_manager => "user".to_owned(),
            None if message.thread_id == ThreadId::main() => manager(),
            None => message.thread_id.to_string(),
        }
    }

    fn verdict(&mut self, checked: MessageChecked) {
        let (style, word) = match checked.valid {
            Some(true) => (Style::Good, "as expected"),
            Some(false) => (Style::Bad, "not as expected"),
            None => (Style::Bad, "not checked"),
        };
        self.output.line(format!("  the answer is {}: {}", self.output.paint(style, word), checked.reason));
    }

    fn set(&mut self, entry: &api::Entry, set: ContextSet) {
        let Some(form) = &set.form else {
            let off = if set.enabled { "" } else { ", disabled" };
            let (name, to, size) = (&set.name, &set.visible_to, counted(set.tokens, "token"));
            return self.line(entry, format!("shares {name} with {to} ({size}){off}"));
        };
        if form.answered {
            self.line(entry, format!("answers {}", set.name));
            self.output.line(indented(&watch::text(&set.content, READ_WITH), "    "));
        } else {
            self.line(entry, format!("asks with the form {}", set.name));
        }
    }

    fn directive(&mut self, received: Received) {
        for set in received.outcomes.iter().filter(|set| !set.outcome.is_change()) {
            let reason = set.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            self.output.line(format!("  {}{reason}", set::outcome_line(set.outcome, &set.name)));
        }
        for fault in received.faults.iter().map(fault_in_words).chain(received.unparsed) {
            self.output.line(format!("  {}: {fault}", self.output.paint(Style::Bad, "ignored")));
        }
    }

    fn requested(&mut self, entry: &api::Entry, requested: TurnRequested) {
        self.asked_at = Some(entry.at);
        let TurnRequested { turn, agent, due, model, prompt, .. } = requested;
        let what = due.and_then(|due| due.turn()).map_or("to answer", |turn| turn.purpose);
        let model = model.unwrap_or_default();
        let (tokens, budget) = (prompt.tokens, prompt.budget);
        let asked = format!("  turn {turn}: {agent} is asked {what}, {tokens} tokens of {budget}, {model}");
        self.output.painted(Style::Quiet, asked);
    }

    fn answered(&mut self, entry: &api::Entry, answered: TurnAnswered) {
        let since = |asked_at: Timestamp| u64::try_from(entry.at.as_millis() - asked_at.as_millis()).unwrap_or(0);
        let took = self.asked_at.take().map(|asked_at| format!(" in {:.1} s", seconds(since(asked_at))));
        let took = took.unwrap_or_default();
        let TurnAnswered { turn, agent, usage, cut_off, due, .. } = answered;
        self.answered_turn = turn;
        let usage = usage.unwrap_or_default();
        let (read, wrote) = (counted(usage.prompt_tokens, "token"), usage.completion_tokens);
        let cut = if cut_off { ", cut off at the length limit" } else { "" };
        self.output.painted(Style::Quiet, format!("  turn {turn}: {agent} read {read} and wrote {wrote}{took}{cut}"));
        if let Some(Due::Repair { faults, .. }) = due {
            self.output.line(format!("  {}:", self.output.paint(Style::Bad, "directive rejected")));
            faults.iter().for_each(|fault| self.output.line(format!("    {}", fault_in_words(fault))));
        }
        self.streamed = None;
    }

    fn failed(&mut self, failed: TurnFailed) {
        self.streamed = None;
        self.output.painted(Style::Quiet, format!("  turn {}: {} gave no answer", failed.turn, failed.agent));
    }

    fn line(&self, entry: &api::Entry, what: String) {
        self.output.line(format!("  {} {what}", self.output.paint(Style::Name, entry.by.called())));
    }
}

fn about(entry: &api::Entry) -> &str {
    entry.subject.strip_prefix("set:").unwrap_or(&entry.subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::watch::Show as _;

    #[test]
    fn the_answer_of_the_manager_is_not_shown_piece_by_piece() {
        let name = |name: &str| name.parse::<AgentName>().unwrap();
        let output = Output::new(false, false);
        let mut show = Show { output, manager: Some(name("lead")), answered_turn: 0, asked_at: None, streamed: None };
        let piece = |agent| api::Delta { run: "r6".parse().unwrap(), turn: 1, agent: name(agent), text: "{".into() };
        assert!(!show.shows(&piece("lead")) && show.shows(&piece("writer")));
        show.piece(&piece("writer"), true);
        assert_eq!(show.streamed, Some(name("writer")));
    }
}
