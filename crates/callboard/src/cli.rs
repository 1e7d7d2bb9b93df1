//! What can be written on the command line.

use std::path::PathBuf;

use callboard_engine::core::{
    agent::Agent,
    audience::Audience,
    conversation::Role,
    id::{AgentName, MessageId, RunId, Seq, SessionId, SetName, ThreadId},
    session::Ttl,
    time::Timestamp,
};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::parse;

/// The context engine for teams of AI agents: one durable journal a session, and from it each agent's prompt.
#[derive(Debug, Parser)]
#[command(name = "callboard", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Where sessions are kept: sqlite:PATH or memory:. By default a file in the user's data folder
    #[arg(long, global = true, value_name = "URL", env = "CALLBOARD_STORE", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// What a change has survived once it is answered: the end of the process, or a loss of power too
    #[arg(long, global = true, value_name = "HOW", default_value = "normal")]
    pub(crate) durability: DurabilityChoice,
    /// Print JSON for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What a change has survived once it is answered.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DurabilityChoice {
    /// The end of the process by any means
    Normal,
    /// A loss of power too
    Full,
}

/// Which session is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct Which {
    /// The session; the one used last, where it is left out
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
}

/// Through whose eyes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Eyes {
    /// Look and write through this agent's eyes
    #[arg(long = "as", value_name = "AGENT")]
    pub(crate) agent: Option<AgentName>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Let a team work on a task, and watch it
    Run(Run),
    /// Sessions: new, list, show, update, delete, fork, journal
    #[command(subcommand)]
    Session(Session),
    /// Context sets: named texts that the team shares
    #[command(subcommand)]
    Set(Set),
    /// Apply a manager's directive and print what came of it
    Directive(Directive),
    /// Forms: what the user is asked
    #[command(subcommand)]
    Form(Form),
    /// Add a message to a thread
    Say(Say),
    /// Threads: conversations, each with those who see it
    #[command(subcommand)]
    Thread(Thread),
    /// Read the messages of a thread
    Messages(Messages),
    /// Build the prompt of an agent, now or as of an entry
    Prompt(Prompt),
    /// Runs: list, show, pause, resume, cancel, tool-result
    #[command(subcommand)]
    Runs(Runs),
    /// Check the store and the model, and say what is wrong
    Doctor(Doctor),
    /// Print what a shell needs to complete commands
    #[command(
        after_help = "Example:\n  callboard completion bash > ~/.local/share/bash-completion/completions/callboard"
    )]
    Completion {
        /// The shell
        shell: Shell,
    },
}

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

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Make a session
    #[command(
        after_help = "Examples:\n  callboard session new TEAM.toml\n  callboard session new --agent lead:manager --agent critic:worker"
    )]
    New(SessionNew),
    /// List the sessions, the one used last first
    #[command(after_help = "Example:\n  callboard session list --json")]
    List,
    /// Show a session
    #[command(after_help = "Example:\n  callboard session show --session 20250118-143022-a4f2")]
    Show(Which),
    /// Change a session's settings or its team
    #[command(
        after_help = "Examples:\n  callboard session update --title Review --ttl never\n  callboard session update --team TEAM.toml"
    )]
    Update(SessionUpdate),
    /// Delete all there is of a session
    #[command(after_help = "Example:\n  callboard session delete --session 20250118-143022-a4f2")]
    Delete {
        /// The session
        #[arg(long, value_name = "ID", required = true)]
        session: SessionId,
    },
    /// Make a session whose journal is the beginning of another's
    #[command(after_help = "Example:\n  callboard session fork --at 12")]
    Fork {
        #[command(flatten)]
        which: Which,
        /// The last entry that is taken along; all, where it is left out
        #[arg(long, value_name = "SEQ", value_parser = seq)]
        at: Option<Seq>,
        /// The id of the new session
        #[arg(long, value_name = "ID")]
        id: Option<SessionId>,
    },
    /// Read the journal
    #[command(
        after_help = "Examples:\n  callboard session journal --after 40\n  callboard session journal --types message.added,context_set.updated --as critic --follow"
    )]
    Journal(Journal),
}

/// Make a session
#[derive(Args, Debug)]
pub(crate) struct SessionNew {
    /// The team's file
    #[arg(value_name = "TEAM.toml")]
    pub(crate) team: Option<PathBuf>,
    /// An agent, a worker where the role is left out
    #[arg(long = "agent", value_name = "NAME[:ROLE]", value_parser = parse::agent)]
    pub(crate) agents: Vec<Agent>,
    /// The id of the session
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<SessionId>,
    /// What people call it
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Who sees a new context set that does not say so
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) default_visibility: Option<Audience>,
    /// The seconds without use after which it expires, or never
    #[arg(long, value_name = "SECONDS", value_parser = parse::ttl)]
    pub(crate) ttl: Option<Ttl>,
}

/// Change a session's settings or its team
#[derive(Args, Debug)]
pub(crate) struct SessionUpdate {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// What people call it
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Who sees a new context set that does not say so
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) default_visibility: Option<Audience>,
    /// The seconds without use after which it expires, or never
    #[arg(long, value_name = "SECONDS", value_parser = parse::ttl)]
    pub(crate) ttl: Option<Ttl>,
    /// A file whose team this session's is to be
    #[arg(long, value_name = "TEAM.toml")]
    pub(crate) team: Option<PathBuf>,
    /// What a prompt has to fit in
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// How long an answer in a run may be
    #[arg(long, value_name = "TOKENS")]
    pub(crate) answer_tokens: Option<u64>,
}

/// Read the journal
#[derive(Args, Debug)]
pub(crate) struct Journal {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// Only entries after this one
    #[arg(long, value_name = "SEQ", default_value = "0", value_parser = seq)]
    pub(crate) after: Seq,
    /// At most so many entries
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    pub(crate) limit: Option<usize>,
    /// Only entries of these types
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    pub(crate) types: Vec<String>,
    /// Go on as entries come, until Ctrl-C
    #[arg(long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Set {
    /// List the context sets
    #[command(after_help = "Example:\n  callboard set list --as critic")]
    List {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Show a context set
    #[command(after_help = "Example:\n  callboard set show Article")]
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        name: SetName,
    },
    /// Create or change a context set
    #[command(
        after_help = "Examples:\n  callboard set put Tone \"friendly, short\" --visible-to writer,editor\n  callboard set put Article --file article.md\n  git diff | callboard set put Diff -"
    )]
    Put(SetPut),
    /// Delete a context set
    #[command(after_help = "Example:\n  callboard set delete Tone")]
    Delete {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        name: SetName,
    },
}

/// Create or change a context set
#[derive(Args, Debug)]
pub(crate) struct SetPut {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// Its name
    pub(crate) name: SetName,
    /// What it says, or - for the standard input; as before, where it is left out
    pub(crate) content: Option<String>,
    /// A file that says it
    #[arg(long, value_name = "PATH", conflicts_with = "content")]
    pub(crate) file: Option<PathBuf>,
    /// Who sees it: all, none, or names with commas between them
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) visible_to: Option<Audience>,
    /// Whether it stands in prompts
    #[arg(long, value_name = "BOOL")]
    pub(crate) enabled: Option<bool>,
}

/// Apply a manager's directive and print what came of it
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard directive directive.json\n  echo 'Context update: Tone\nfriendly' | callboard directive -\n  callboard directive --schema"
)]
pub(crate) struct Directive {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// A file with the directive as JSON or as text, or - for the standard input
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// Print the JSON Schema that a directive of this team has
    #[arg(long, conflicts_with = "file")]
    pub(crate) schema: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Form {
    /// List the forms
    #[command(after_help = "Example:\n  callboard form list")]
    List {
        #[command(flatten)]
        which: Which,
    },
    /// Answer a form
    #[command(
        after_help = "Examples:\n  callboard form answer Audience who=beginners words=300\n  callboard form answer Topics 'topics=[\"a\", \"b\"]'"
    )]
    Answer {
        #[command(flatten)]
        which: Which,
        /// Its name
        name: SetName,
        /// The answers
        #[arg(value_name = "KEY=VALUE", value_parser = parse::pair)]
        answers: Vec<(String, String)>,
    },
}

/// Add a message to a thread
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard say \"Make it shorter\"\n  callboard say --thread agent:critic --as critic \"It is too long\"\n  callboard say --lines --id log < lines.txt      each line is a message: log-1, log-2, …"
)]
pub(crate) struct Say {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// What is said, or - for the standard input
    #[arg(required_unless_present = "lines")]
    pub(crate) text: Option<String>,
    /// In which thread
    #[arg(long, value_name = "THREAD", default_value = "main")]
    pub(crate) thread: ThreadId,
    /// In which role: user, assistant, system or tool; user, or assistant with --as, where it is left out
    #[arg(long, value_parser = parse::message_role)]
    pub(crate) role: Option<Role>,
    /// The message's id: said twice, it is there once
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<MessageId>,
    /// Add each line of the standard input, and print the number of its entry once it is durable
    #[arg(long, conflicts_with = "text")]
    pub(crate) lines: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Thread {
    /// List the threads
    #[command(after_help = "Example:\n  callboard thread list --as critic")]
    List {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Say who sees a thread
    #[command(after_help = "Example:\n  callboard thread put review --visible-to lead,critic")]
    Put {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        name: ThreadId,
        /// Who sees it: all, none, or names with commas between them
        #[arg(long, value_name = "WHO", value_parser = parse::audience)]
        visible_to: Audience,
    },
}

/// Read the messages of a thread
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard messages --limit 10\n  callboard messages --thread agent:critic --as critic --roles assistant"
)]
pub(crate) struct Messages {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// The thread
    #[arg(long, value_name = "THREAD", default_value = "main")]
    pub(crate) thread: ThreadId,
    /// The most recent ones, at most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Only earlier ones
    #[arg(long, value_name = "TIME")]
    pub(crate) before: Option<Timestamp>,
    /// Only later ones
    #[arg(long, value_name = "TIME")]
    pub(crate) after: Option<Timestamp>,
    /// Only those in these roles
    #[arg(long, value_name = "ROLES", value_delimiter = ',', value_parser = parse::message_role)]
    pub(crate) roles: Vec<Role>,
}

/// Build the prompt of an agent, now or as of an entry
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard prompt --agent critic\n  callboard prompt --agent critic --at 12 --format openai\n  callboard prompt --budget 4000 --model openai:gpt-4o-mini\n\nThe prompt goes to the standard output, the table of its parts to the standard error."
)]
pub(crate) struct Prompt {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Whose; the manager's or the only agent's, where it is left out
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<AgentName>,
    /// In which thread; main, or the agent's own
    #[arg(long, value_name = "THREAD")]
    pub(crate) thread: Option<ThreadId>,
    /// As of this entry
    #[arg(long, value_name = "SEQ", value_parser = seq)]
    pub(crate) at: Option<Seq>,
    /// How many tokens it may have
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// The model that reads it, whose vocabulary counts
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// As one text, or as the messages of a chat completion
    #[arg(long, default_value = "text")]
    pub(crate) format: PromptFormat,
}

/// The form of a prompt.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PromptFormat {
    /// One text
    Text,
    /// The messages of an OpenAI chat completion
    Openai,
}

/// Which run is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhichRun {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The run; the newest, where it is left out
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<RunId>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List the runs of a session
    #[command(after_help = "Example:\n  callboard runs list")]
    List(Which),
    /// Show a run
    #[command(after_help = "Example:\n  callboard runs show --run r4")]
    Show(WhichRun),
    /// Hold a run: what a model is asked now is still heard
    #[command(after_help = "Example:\n  callboard runs pause --reason \"waiting for the figures\"")]
    Pause {
        #[command(flatten)]
        run: WhichRun,
        /// Why
        #[arg(long, default_value = "held by the user")]
        reason: String,
    },
    /// Let a held run go on; `callboard run --session ID` then drives it
    #[command(after_help = "Example:\n  callboard runs resume && callboard run --session 20250118-143022-a4f2")]
    Resume(WhichRun),
    /// End a run before it is done
    #[command(after_help = "Example:\n  callboard runs cancel")]
    Cancel(WhichRun),
    /// Bring the result of a tool call that a run waits for
    #[command(after_help = "Example:\n  callboard runs tool-result call_1 '{\"celsius\": 21}'")]
    ToolResult {
        #[command(flatten)]
        run: WhichRun,
        /// The call
        #[arg(value_name = "CALL")]
        call: String,
        /// The result, or - for the standard input
        result: String,
    },
}

/// Check the store and the model, and say what is wrong
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  callboard doctor\n  callboard doctor --no-model --store sqlite:team.db")]
pub(crate) struct Doctor {
    /// Leave the model out
    #[arg(long)]
    pub(crate) no_model: bool,
}

fn seq(text: &str) -> Result<Seq, String> {
    text.parse().map(Seq).map_err(|_| format!("{text:?} is not the number of an entry"))
}
