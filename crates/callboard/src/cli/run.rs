//! `callboard run`.

use callboard_engine::core::id::SessionId;
use clap::Args;

const RUN_EXAMPLES: &str = r#"Examples:
  callboard run TEAM.toml "Review the article"
  callboard run TEAM.toml - < task.txt
  callboard run --session 20250118-143022-a4f2        go on with the run that has not ended
  callboard run --session 20250118-143022-a4f2 "And now in German"

A team file:
  title = "Review"
  input = "Improve the article."
  [prompt]                     # budget, answer_tokens, parts
  budget = 12000
  [limits]                     # turns, tokens, seconds
  turns = 20
  [[agent]]                    # name, role, title, instructions, model, tools
  name = "lead"
  role = "manager"
  [[agent]]
  name = "critic"
  role = "worker"
  instructions = "Name the three worst faults."
  [[set]]                      # name, content or file, visible_to
  name = "Article"
  file = "article.md"
  visible_to = ["lead", "critic"]
  [[step]]                     # also description, conditions, available_tools
  name = "research"
  is_default = true
  sequence = ["look_up"]

Also: default_visibility, share, grant, ttl_seconds. An agent without a model speaks through CALLBOARD_MODEL.

Ctrl-C holds the run; `callboard run --session ID` goes on with it."#;

/// Let a team work on a task, and watch it
#[derive(Args, Debug)]
#[command(
    override_usage = "callboard run [OPTIONS] TEAM.toml [INPUT]\n       callboard run [OPTIONS] --session ID [INPUT]",
    after_help = RUN_EXAMPLES
)]
pub(crate) struct Run {
    /// The team's file, and what the team is to do: a text, or - for the standard input
    #[arg(num_args = 0..=2, value_names = ["TEAM.toml", "INPUT"])]
    pub(crate) words: Vec<String>,
    /// Go on with this session, and with its run that has not ended
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// The id of the new session
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) id: Option<SessionId>,
    /// Hold the run after so many turns
    #[arg(long, value_name = "N")]
    pub(crate) limit_turns: Option<u64>,
    /// Hold the run after so many tokens, prompts and answers together
    #[arg(long, value_name = "N")]
    pub(crate) limit_tokens: Option<u64>,
    /// Hold the run after so many seconds of waiting for models
    #[arg(long, value_name = "N")]
    pub(crate) limit_seconds: Option<u64>,
    /// Answer forms and questions by itself, as it does without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
    /// Answer nothing: end where the team asks the user
    #[arg(long, conflicts_with = "yes")]
    pub(crate) no_answers: bool,
}
