//! `callboard team`: has a model write a team file, for people to look over.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use callboard_engine::core::agent::{AgentRole, Tool};
use callboard_model::{ChatModel as _, ChatRequest, Endpoints, Finish, ModelName};
use callboard_server::{Drive, Local};
use clap::Subcommand;
use serde_json::{Value, json};

use super::{board, settings, transfer::unwritable};
use crate::{
    cli::Global,
    client::Client,
    config,
    failure::Failure,
    output::{Output, counted},
    team_file::{self, TeamFile},
    terminal,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Team {
    /// Have a model write a team file for a task
    #[command(
        after_help = "Examples:\n  callboard team draft \"Review the article\" > TEAM.toml\n  callboard team draft \"Plan a week in Lisbon\" --output TEAM.toml --model openai:gpt-4o\n\nLook the file over, then: callboard run TEAM.toml"
    )]
    Draft {
        /// The task, or - for the standard input
        task: String,
        /// The model that writes it (default: CALLBOARD_MODEL)
        #[arg(short, long, value_name = "MODEL")]
        model: Option<String>,
        /// Write the file instead of printing it
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace the file if it exists
        #[arg(long, requires = "output")]
        force: bool,
    },
}

/// How often a model is asked until its file is a team.
const ATTEMPTS: usize = 3;

/// How long a model may take for one attempt.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The longest answer: a team file is short.
const MAX_TOKENS: u64 = 4096;

/// What the model is told.
const INSTRUCTIONS: &str = include_str!("team/draft.md");

pub(super) async fn execute(global: &Global, command: Team, output: Output) -> Result<(), Failure> {
    let Team::Draft { task, model, output: path, force } = command;
    let task = terminal::text(&task)?;
    let task = task.trim();
    if task.is_empty() {
        return Err(Failure::usage("usage", "give the task that the team is for"));
    }
    if let Some(path) = path.as_deref().filter(|path| path.exists() && !force) {
        return Err(is_there(path));
    }
    let writer = Writer::new(model.as_deref(), task)?;
    let drafted = writer.write(global, output).await?;
    let Some(path) = path else {
        output.answer(&json!({"team": drafted}), |output| output.write(&drafted));
        return Ok(());
    };
    save(&path, &drafted, force)?;
    let path = path.display().to_string();
    output.answer(&json!({"path": path, "team": drafted}), |output| {
        output.line(format!("wrote {path}: look it over, then `callboard run {path}`"));
    });
    Ok(())
}

/// A model that writes a team file.
struct Writer {
    endpoints: Endpoints,
    model: ModelName,
    messages: Vec<Value>,
}

impl Writer {
    fn new(model: Option<&str>, task: &str) -> Result<Self, Failure> {
        let named = model.map(str::to_owned).or_else(config::default_model).ok_or_else(|| {
            Failure::failed("no_model", "no model is named that could write the team file")
                .hint("use --model openai:NAME or CALLBOARD_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY")
        })?;
        let model: ModelName = named.parse()?;
        let endpoints = config::endpoints();
        endpoints.check(model.provider())?;
        let asked = format!("Write the team file for this task:\n\n{task}");
        Ok(Self { endpoints, model, messages: vec![json!({"role": "user", "content": asked})] })
    }

    /// Asks for the file until it makes a team, and tells the model each time what is wrong with it.
    async fn write(mut self, global: &Global, output: Output) -> Result<String, Failure> {
        for attempt in 1.. {
            output.progress(&format!("{} is writing, attempt {attempt} of {ATTEMPTS}", self.model));
            let answer = self.ask().await;
            output.progress("");
            let answer = answer?;
            let text = toml_in(&answer);
            let Err(wrong) = check(global, &text).await else { return Ok(text) };
            let detail = wrong.problem.detail;
            if attempt == ATTEMPTS {
                let what = format!("{} wrote no team in {}: {detail}", self.model, counted(ATTEMPTS, "attempt"));
                return Err(Failure::failed("no_team", what).hint("try another model, or say more about the task"));
            }
            output.note(format!("attempt {attempt} of {ATTEMPTS}: {detail}"));
            self.messages.push(json!({"role": "assistant", "content": answer}));
            let again = format!("That file cannot be used: {detail}\nWrite the whole file again without this fault.");
            self.messages.push(json!({"role": "user", "content": again}));
        }
        Err(Failure::failed("no_team", "no attempt was made"))
    }

    async fn ask(&self) -> Result<String, Failure> {
        let mut request = ChatRequest::instructed(self.model.clone(), INSTRUCTIONS);
        request.messages.extend_from_slice(&self.messages);
        request.max_tokens = Some(MAX_TOKENS);
        let answer = tokio::time::timeout(PATIENCE, self.endpoints.chat(&request, &mut |_| {})).await;
        let late = |_| Failure::failed("model_timeout", format!("{} did not answer within 10 minutes", self.model));
        let answer = answer.map_err(late)??;
        if answer.finish == Finish::Length {
            let what = format!("the answer of {} was cut off at {MAX_TOKENS} tokens", self.model);
            return Err(Failure::failed("no_team", what).hint("try another model"));
        }
        Ok(answer.text)
    }
}

/// Checks a draft by making a session of it, in a store of its own in memory.
async fn check(global: &Global, text: &str) -> Result<(), Failure> {
    let team = team_file::parse(text, Path::new("TEAM.toml"))?;
    runs_as_it_is(&team)?;
    let board = board(global, "memory:", Drive::Nothing).await?;
    let settings = settings(&board, callboard_model::Settings::default().into());
    let client = Client::Local(Local::new(board, settings, Drive::Nothing)?);
    let made = team.create(&client, None, None).await;
    client.close().await;
    made.map(|_| ())
}

/// Refuses what a session may have, but a draft that is to run without more may not.
fn runs_as_it_is(team: &TeamFile) -> Result<(), Failure> {
    let wrong = |what: &str| Err(Failure::failed("invalid", what));
    let is_role = |role| team.agents.iter().filter(move |agent| agent.role == role).count();
    if is_role(AgentRole::Manager) != 1 || is_role(AgentRole::Worker) == 0 {
        return wrong("a team has one agent with the role \"manager\", and at least one with the role \"worker\"");
    }
    if team.input.as_deref().is_none_or(|input| input.trim().is_empty()) {
        return wrong("there is no `input`: put the task there");
    }
    if team.agents.iter().any(|agent| agent.model.is_some()) {
        return wrong("an agent has a `model`: leave it out");
    }
    if team.agents.iter().flat_map(|agent| &agent.tools).any(|tool: &Tool| tool.own().is_none()) {
        return wrong("an agent has `tools`: leave them out");
    }
    if team.reads_files() {
        return wrong("a set has a `file`: give its `content`");
    }
    Ok(())
}

/// The file in an answer: in a code fence, or all of it.
fn toml_in(answer: &str) -> String {
    let fenced = answer.split_once("```").and_then(|(_, rest)| {
        let (_, rest) = rest.split_once('\n')?;
        Some(rest.rsplit_once("```").map_or(rest, |(text, _)| text))
    });
    format!("{}\n", fenced.unwrap_or(answer).trim())
}

fn save(path: &Path, text: &str, replaces: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true);
    let options = if replaces { options.create(true).truncate(true) } else { options.create_new(true) };
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => is_there(path),
        _ => unwritable(path, &error),
    })
}

fn is_there(path: &Path) -> Failure {
    Failure::failed("exists", format!("{} exists already", path.display()))
        .hint("use --force to replace it, or name another file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_in_an_answer_with_and_without_a_fence() {
        for answer in [
            "title = 'a'",
            "```toml\ntitle = 'a'\n```",
            "Here it is:\n```\ntitle = 'a'\n```\nDone.",
            "```toml\ntitle = 'a'",
        ] {
            assert_eq!(toml_in(answer), "title = 'a'\n", "{answer}");
        }
    }
}
