//! The end of a watched run: its result, and the commands to continue or look closer.

use std::process::ExitCode;

use callboard_api as api;
use callboard_engine::core::{
    id::{RunId, SessionId},
    run::Status,
};
use serde_json::{Value, json};

use super::{WatchedRun, has_ended};
use crate::{
    client::{Answer, OnSession},
    commands::runs::{seconds, status as in_words},
    failure::Failure,
    output::{Output, Style, counted, indented},
};

/// A run that does not go on by itself, with the last message of its agents where it was completed.
pub(in crate::commands) struct Over {
    pub(in crate::commands) run: Answer<api::Run>,
    message: Option<Value>,
}

impl Over {
    pub(in crate::commands) async fn of(session: &OnSession<'_>, run: &RunId) -> Result<Self, Failure> {
        let run = session.get(&["runs", run.as_str()]).answer::<api::Run>().await?;
        let completed = run.it.status == Status::Completed;
        let message = if completed { last_message(session, &run.it).await? } else { None };
        Ok(Self { run, message })
    }

    /// Prints it for programs, as the last line.
    pub(in crate::commands) fn print(&self, session: &SessionId, output: Output) {
        output.json(&json!({"result": {"session": session, "run": self.run.json, "message": self.message}}));
    }

    /// The exit status of a command that watched it.
    pub(in crate::commands) fn status(&self) -> ExitCode {
        if self.run.it.status == Status::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// The last message of the agents in this run.
async fn last_message(session: &OnSession<'_>, run: &api::Run) -> Result<Option<Value>, Failure> {
    let last = session.get(&["threads", "main", "messages"]).query("limit", 1).query("roles", "assistant");
    let last = last.answer::<api::MessageList>().await?.it.messages.pop();
    Ok(last.filter(|message| message.timestamp >= run.started_at).map(|message| message.content))
}

impl WatchedRun<'_> {
    /// Prints the result, and the commands to continue or look closer.
    pub(super) async fn conclude(&self, session: &api::Session, over: &Over) -> Result<ExitCode, Failure> {
        match self.context.output.json {
            true => over.print(&session.id, self.context.output),
            false => {
                self.sum_up(session, &over.run.it, over.message.as_ref());
                // What became of the run is told already.
                if let Err(Failure { problem, .. }) = self.tell_of_prompts(session).await {
                    self.context.output.note(format!("the last prompts cannot be named: {}", problem.detail));
                }
            }
        }
        Ok(over.status())
    }

    fn sum_up(&self, session: &api::Session, run: &api::Run, message: Option<&Value>) {
        let output = self.context.output;
        if let Some(text) = message.and_then(Value::as_str) {
            output.line(format!("\n{}", output.paint(Style::Name, "result")));
            output.line(indented(text, "    "));
        }
        let style = if run.status == Status::Completed { Style::Good } else { Style::Bad };
        let reason = run.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        output.line(format!("\n{}{reason}", output.paint(style, format!("run {} {}", run.id, in_words(run.status)))));
        let used = run.used;
        output.line(format!(
            "{}, {}, {}, {:.1} s",
            counted(used.turns, "turn"),
            counted(used.prompt_tokens, "prompt token"),
            counted(used.completion_tokens, "answer token"),
            seconds(used.milliseconds),
        ));
        let id = &session.id;
        let go_on = match (run.status, &run.form) {
            (Status::AwaitingUser, Some(form)) => {
                let form = quoted(form.as_str());
                vec![format!("form answer {form} KEY=VALUE… --session {id}"), format!("run --session {id}")]
            }
            (Status::AwaitingUser, None) => vec![format!("run --session {id} \"YOUR ANSWER\"")],
            (status, _) if has_ended(status) => Vec::new(),
            _ => vec![format!("run --session {id}")],
        };
        if !go_on.is_empty() {
            output.line("\nto continue:");
        }
        for command in go_on {
            output.line(format!("  {}", self.context.suggestion(&command)));
        }
    }

    /// Prints for each agent that was asked the command that shows its last prompt.
    async fn tell_of_prompts(&self, session: &api::Session) -> Result<(), Failure> {
        let output = self.context.output;
        for agent in &session.agents {
            let call = self.session.get(&["turns"]).query("agent", &agent.name).query("limit", 1);
            let Some(turn) = call.answer::<api::TurnList>().await?.it.turns.pop() else { continue };
            let named = match (turn.run, turn.turn_of_run) {
                (Some(run), Some(number)) => format!("{run}/{number}"),
                _ => turn.turn.to_string(),
            };
            output.line(format!("\nto see what {} was shown last:", agent.name));
            let show = format!("turns show {named} --prompt --session {}", session.id);
            output.line(format!("  {}", self.context.suggestion(&show)));
        }
        Ok(())
    }
}

fn quoted(name: &str) -> String {
    if name.contains(' ') { format!("\"{name}\"") } else { name.to_owned() }
}
