//! `callboard files`.

use std::{path::PathBuf, time::Duration};

use callboard_files::Match;
use clap::{Args, Subcommand};

use crate::parse;

const EXAMPLES: &str = "\
Example of one agent handing work to another:
  callboard files new
  callboard files add --session ID --category features --name user-auth --for @task-manager \\
      --keywords user-auth,authentication --request \"Build the login\"
  callboard files search --session ID --keywords user-auth
  callboard files delegate --session ID --to @coder --task \"Implement the login\" \\
      --keywords user-auth
  callboard files end --session ID

No server and no store is needed: everything is in .tmp/sessions of the project.";

/// Context files: notes that agents leave each other in folders (new, sessions, add, list, search, delegate, remove, touch, end, clean, check, should-create, instructions)
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Files {
    /// The project's folder, with .tmp/sessions in it (default: the nearest one, from the current folder upwards)
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: FilesCommand,
}

// Names are plain texts here: an invalid name is reported as a failure of the command, like a missing one, not as wrong
// usage.
#[derive(Debug, Subcommand)]
pub(crate) enum FilesCommand {
    /// Create a session
    #[command(after_help = "Example:\n  callboard files new --json")]
    New {
        /// Its name (default: the time and four random characters)
        #[arg(short, long, alias = "id", value_name = "ID")]
        session: Option<String>,
        /// Leave sessions alone that were not used for 24 hours; otherwise they are deleted, as by `callboard files clean`
        #[arg(long)]
        no_clean: bool,
    },
    /// List the sessions, the one used last first
    #[command(after_help = "Example:\n  callboard files sessions")]
    Sessions,
    /// Write a file, or register an existing one
    #[command(after_help = "\
Examples:
  callboard files add --session ID --category code --name login --for @coder --keywords login \\
      --request \"Build it\"
  callboard files add --session ID --name login --for @coder --from login.md
  git diff | callboard files add --session ID --name review --for @critic \\
      --request \"Review this\" --background -
  callboard files add --session ID --for @coder --keywords schema --file code/schema.sql")]
    Add(FilesAdd),
    /// List files in the order they were added
    #[command(after_help = "Example:\n  callboard files list --session ID --category tasks")]
    List {
        #[command(flatten)]
        session: FilesSession,
        #[command(flatten)]
        query: FilesQuery,
    },
    /// Search files, best matches first
    #[command(
        after_help = "Examples:\n  callboard files search --session ID --keywords user-auth,login --match all\n  callboard files search --all-sessions --text \"rate limit\""
    )]
    Search {
        /// The session (default: CALLBOARD_SESSION)
        #[arg(short, long, value_name = "ID")]
        session: Option<String>,
        /// Search all sessions of the project
        #[arg(long, conflicts_with = "session")]
        all_sessions: bool,
        #[command(flatten)]
        query: FilesQuery,
    },
    /// Print the message that delegates a task to an agent, with the paths of the matching files
    #[command(
        after_help = "Example:\n  callboard files delegate --session ID --to @coder --task \"Implement the login\" \\
      --keywords user-auth"
    )]
    Delegate {
        #[command(flatten)]
        session: FilesSession,
        /// The agent that gets the task
        #[arg(long, value_name = "AGENT")]
        to: String,
        /// The task, or - for the standard input
        #[arg(long, value_name = "TEXT")]
        task: String,
        #[command(flatten)]
        query: FilesQuery,
    },
    /// Remove a file whose task is done
    #[command(after_help = "Example:\n  callboard files remove --session ID features/user-auth-context.md")]
    Remove {
        #[command(flatten)]
        session: FilesSession,
        /// The file: its path below the session's folder, or below the project
        path: String,
    },
    /// Mark a session as used now
    #[command(after_help = "Example:\n  callboard files touch --session ID")]
    Touch(FilesSession),
    /// End a session: delete the files in its manifest, and nothing else
    #[command(after_help = "Example:\n  callboard files end --session ID")]
    End(FilesSession),
    /// Delete sessions that have not been used for a long time; safe to run at any time
    #[command(after_help = "Examples:\n  callboard files clean --dry-run\n  callboard files clean --older-than 7d")]
    Clean {
        /// How long they have been unused: a number followed by s, m, h or d
        #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse::duration)]
        older_than: Duration,
        /// Only print what would be deleted
        #[arg(long)]
        dry_run: bool,
    },
    /// Check sessions for problems
    #[command(after_help = "Examples:\n  callboard files check\n  callboard files check --session ID --repair")]
    Check {
        /// The session (default: all)
        #[arg(short, long, value_name = "ID")]
        session: Option<String>,
        /// Repair what can be repaired: manifests are rewritten from the files that exist
        #[arg(long)]
        repair: bool,
    },
    /// Advise whether a task needs a context file
    #[command(after_help = "Example:\n  callboard files should-create --delegating --sentences 4")]
    ShouldCreate {
        /// How many sentences of context the task needs
        #[arg(long, value_name = "N", value_parser = parse::number, allow_negative_numbers = true)]
        sentences: u64,
        /// The task goes to another agent
        #[arg(long)]
        delegating: bool,
        /// The task could be misread
        #[arg(long)]
        risk: bool,
    },
    /// Print instructions that teach a coding agent to use these files
    #[command(after_help = "Example:\n  callboard files instructions >> AGENTS.md")]
    Instructions,
}

/// The session that a command works on.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilesSession {
    /// The session (default: CALLBOARD_SESSION)
    #[arg(short, long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

/// The files that a command works on.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilesQuery {
    /// Only files with these keywords, separated by commas
    #[arg(long, value_name = "A,B")]
    pub(crate) keywords: Option<String>,
    /// Whether one of the keywords is enough, or all have to match
    #[arg(long = "match", value_name = "any|all", default_value = "any", hide_possible_values = true, value_parser = parse::one_of::<Match>(parse::explained([("any", "One"), ("all", "All")])))]
    pub(crate) matching: Match,
    /// Only files of this category: features, documentation, code, refactoring, testing, tasks or general
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,
    /// Only files for this agent
    #[arg(long = "for", value_name = "AGENT")]
    pub(crate) recipient: Option<String>,
    /// Only files that contain this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// Write a file, or register an existing one
#[derive(Args, Debug)]
pub(crate) struct FilesAdd {
    /// The session; created if it does not exist (default: CALLBOARD_SESSION, else a new one)
    #[arg(short, long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The category: features, documentation, code, refactoring, testing, tasks or general
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,
    /// Its name; the file is CATEGORY/NAME-context.md, or tasks/NAME-tasks.md
    #[arg(long, value_name = "NAME", required_unless_present = "file")]
    pub(crate) name: Option<String>,
    /// The agent that it is for
    #[arg(long = "for", value_name = "AGENT")]
    pub(crate) recipient: String,
    /// Its keywords, separated by commas (default: its name)
    #[arg(long, value_name = "A,B")]
    pub(crate) keywords: Option<String>,
    /// The request; for any of these texts, - reads it from the standard input
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["file", "from"])]
    pub(crate) request: Option<String>,
    /// The background
    #[arg(long, value_name = "TEXT")]
    pub(crate) background: Option<String>,
    /// The expected output
    #[arg(long, value_name = "TEXT")]
    pub(crate) expected: Option<String>,
    /// The constraints
    #[arg(long, value_name = "TEXT")]
    pub(crate) constraints: Option<String>,
    /// A file with these parts below the headings "## Request Summary", "## Background", "## Expected Output" and "## Constraints"; - for the standard input
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Option<String>,
    /// A template for the file: a text with {task_name}, {session_id}, {for}, {request}, {background}, {expected} and {constraints} in it
    #[arg(long, value_name = "PATH")]
    pub(crate) template: Option<PathBuf>,
    /// Register this file of the session's folder instead of writing one
    #[arg(long, value_name = "PATH", conflicts_with_all = ["name", "request", "background", "expected", "constraints", "from", "template"])]
    pub(crate) file: Option<String>,
}
