//! The end of a run that was watched: what came of it, and how to go on or look closer.

use std::process::ExitCode;

use callboard_engine::{
    MessageQuery, RunInfo,
    core::{
        conversation::Role,
        id::{AgentName, ThreadId},
        run::Status,
        viewer::Viewer,
    },
};
use serde_json::{Value, json};

use super::Work;
use crate::{
    commands::runs::{seconds, status as in_words},
    failure::Failure,
    output::{Style, indented},
};

impl Work<'_> {
    /// Says how it ended, and how to go on or look closer.
    pub(super) async fn conclude(&self) -> Result<ExitCode, Failure> {
        let run = self.session.run(&Viewer::User, &self.run).await?;
        let last = MessageQuery { limit: Some(1), roles: vec![Role::Ai], ..MessageQuery::default() };
        let completed = run.status == Status::Completed;
        let message = match completed {
            true => self.session.messages(&Viewer::User, &ThreadId::main(), last).await?.messages.pop(),
            false => None,
        };
        let message = message.filter(|message| message.timestamp >= run.started_at).map(|message| message.content);
        if self.context.output.json {
            let result = json!({"session": self.session.id(), "run": run, "message": message});
            self.context.output.json(&json!({"result": result}));
        } else {
            self.sum_up(&run, message.as_ref()).await?;
        }
        Ok(if completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    async fn sum_up(&self, run: &RunInfo, message: Option<&Value>) -> Result<(), Failure> {
        let output = self.context.output;
        if let Some(text) = message.and_then(Value::as_str) {
            output.line(format!("\n{}", output.paint(Style::Name, "the result")));
            output.line(indented(text, "    "));
        }
        let style = if run.status == Status::Completed { Style::Good } else { Style::Bad };
        let reason = run.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        output.line(format!("\n{}{reason}", output.paint(style, format!("run {} {}", run.id, in_words(run.status)))));
        let used = run.used;
        output.line(format!(
            "{} turns, {} tokens of prompts, {} of answers, {:.1} s",
            used.turns,
            used.prompt_tokens,
            used.completion_tokens,
            seconds(used.milliseconds),
        ));
        let id = self.session.id();
        if !matches!(run.status, Status::Completed | Status::Failed | Status::Cancelled) {
            output.line("\nto go on:");
            output.line(format!("  {}", self.context.suggestion(&format!("run --session {id}"))));
        }
        output.line("\nto read what an agent was shown:");
        for agent in self.session.state().await?.team.names() {
            let name = quoted(agent);
            output.line(format!("  {}", self.context.suggestion(&format!("prompt --session {id} --agent {name}"))));
        }
        Ok(())
    }
}

fn quoted(name: &AgentName) -> String {
    if name.as_str().contains(' ') { format!("\"{name}\"") } else { name.to_string() }
}
