//! `callboard files`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};

use crate::parse;

const EXAMPLES: &str = "\
Example, of two agents handing work over:
  callboard files new
  callboard files add --session ID --category features --name user-auth --for @task-manager \\
      --keywords user-auth,authentication --request \"Build the login\"
  callboard files search --session ID --keywords user-auth
  callboard files delegate --session ID --to @coder --task \"Implement the login\" --keywords user-auth
  callboard files end --session ID

They need no server and no store: all of it is in .tmp/sessions of the project.";

/// Context files: folders in which agents leave each other what they must know
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Files {
    /// The folder of the project, which has .tmp/sessions in it
    #[arg(long, global = true, value_name = "PATH", default_value = ".")]
    pub(crate) root: PathBuf,
    #[command(subcommand)]
    pub(crate) command: FilesCommand,
}

// What names something is taken as it is here: what cannot be a name fails like what is not there.
#[derive(Debug, Subcommand)]
pub(crate) enum FilesCommand {
    /// Make a session
    #[command(after_help = "Example:\n  callboard files new --json")]
    New {
        /// Its name; the time and four random characters, where it is left out
        #[arg(long, alias = "id", value_name = "ID")]
        session: Option<String>,
    },
    /// Write a file, or list one that is there
    #[command(after_help = "\
Examples:
  callboard files add --session ID --category code --name login --for @coder --keywords login --request \"Build it\"
  callboard files add --session ID --name login --for @coder --from login.md
  git diff | callboard files add --session ID --name review --for @critic --request \"Review this\" --background -
  callboard files add --session ID --for @coder --keywords schema --file code/schema.sql")]
    Add(FilesAdd),
    /// List files in the order in which they were added
    #[command(after_help = "Example:\n  callboard files list --session ID --category tasks")]
    List {
        #[command(flatten)]
        session: FilesSession,
        #[command(flatten)]
        query: FilesQuery,
    },
    /// Search files; those that fit best come first
    #[command(
        after_help = "Examples:\n  callboard files search --session ID --keywords user-auth,login --match all\n  callboard files search --all-sessions --text \"rate limit\""
    )]
    Search {
        /// The session
        #[arg(long, value_name = "ID", required_unless_present = "all_sessions")]
        session: Option<String>,
        /// Search all sessions of the project
        #[arg(long, conflicts_with = "session")]
        all_sessions: bool,
        #[command(flatten)]
        query: FilesQuery,
    },
    /// Print what to say to the agent that gets a task, with the paths of the files that belong to it
    #[command(
        after_help = "Example:\n  callboard files delegate --session ID --to @coder --task \"Implement the login\" --keywords user-auth"
    )]
    Delegate {
        #[command(flatten)]
        session: FilesSession,
        /// The agent that gets it
        #[arg(long, value_name = "AGENT")]
        to: String,
        /// What it is to do, or - for the standard input
        #[arg(long, value_name = "TEXT")]
        task: String,
        #[command(flatten)]
        query: FilesQuery,
    },
    /// Remove a file once its task is done
    #[command(after_help = "Example:\n  callboard files remove --session ID features/user-auth-context.md")]
    Remove {
        #[command(flatten)]
        session: FilesSession,
        /// The file: its path below the session's folder, or below the project
        path: String,
    },
    /// Note that a session is in use
    #[command(after_help = "Example:\n  callboard files touch --session ID")]
    Touch {
        #[command(flatten)]
        session: FilesSession,
    },
    /// End a session: delete what its manifest lists, and nothing else
    #[command(after_help = "Example:\n  callboard files end --session ID")]
    End {
        #[command(flatten)]
        session: FilesSession,
    },
    /// Clean up sessions that nobody has used for long; it may run at any time
    #[command(after_help = "Examples:\n  callboard files clean --dry-run\n  callboard files clean --older-than 7d")]
    Clean {
        /// For how long: a number with s, m, h or d behind it
        #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse::duration)]
        older_than: Duration,
        /// Only say what would be done
        #[arg(long)]
        dry_run: bool,
    },
    /// Find what is wrong with sessions
    #[command(after_help = "Examples:\n  callboard files check\n  callboard files check --session ID --repair")]
    Check {
        /// The session; all of them, where it is left out
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Mend what can be mended: manifests are written anew from what is there
        #[arg(long)]
        repair: bool,
    },
    /// Say whether a file is due for a task
    #[command(after_help = "Example:\n  callboard files should-create --delegating --sentences 4")]
    ShouldCreate {
        /// How many sentences it takes to say what one has to know
        #[arg(long, value_name = "N")]
        sentences: u64,
        /// It goes to another agent
        #[arg(long)]
        delegating: bool,
        /// It could be misread
        #[arg(long)]
        risk: bool,
    },
    /// Print a text for the rules of a coding agent, so that it works with these files
    #[command(after_help = "Example:\n  callboard files instructions >> AGENTS.md")]
    Instructions,
}

/// Which session is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilesSession {
    /// The session
    #[arg(long, value_name = "ID")]
    pub(crate) session: String,
}

/// Which files are meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilesQuery {
    /// Words under which they are listed, with commas between them
    #[arg(long, value_name = "A,B")]
    pub(crate) keywords: Option<String>,
    /// Whether one of the words has to fit, or all
    #[arg(long = "match", value_name = "any|all", default_value = "any", hide_possible_values = true)]
    pub(crate) matching: MatchChoice,
    /// What they are for: features, documentation, code, refactoring, testing, tasks or general
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,
    /// For whom they are
    #[arg(long = "for", value_name = "AGENT")]
    pub(crate) recipient: Option<String>,
    /// What stands in them
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// How many of some words have to fit.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MatchChoice {
    /// One.
    Any,
    /// All.
    All,
}

/// Write a file, or list one that is there
#[derive(Args, Debug)]
pub(crate) struct FilesAdd {
    /// The session; a new one, where it is left out or not there yet
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// What it is for: features, documentation, code, refactoring, testing, tasks or general
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,
    /// What it is called; the file is CATEGORY/NAME-context.md, in tasks NAME-tasks.md
    #[arg(long, value_name = "NAME", required_unless_present = "file")]
    pub(crate) name: Option<String>,
    /// For which agent it is
    #[arg(long = "for", value_name = "AGENT")]
    pub(crate) recipient: String,
    /// Words under which it is found, with commas between them; its name, where they are left out
    #[arg(long, value_name = "A,B")]
    pub(crate) keywords: Option<String>,
    /// What is to be done; - in place of a text takes it from the standard input
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["file", "from"])]
    pub(crate) request: Option<String>,
    /// What one has to know for it
    #[arg(long, value_name = "TEXT")]
    pub(crate) background: Option<String>,
    /// What is to come of it
    #[arg(long, value_name = "TEXT")]
    pub(crate) expected: Option<String>,
    /// What limits it
    #[arg(long, value_name = "TEXT")]
    pub(crate) constraints: Option<String>,
    /// A text with these parts below the headings "## Request Summary", "## Background", "## Expected Output" and "## Constraints"; - for the standard input
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Option<String>,
    /// How the file is to look: a text with {task_name}, {session_id}, {for}, {request}, {background}, {expected} and {constraints} in it
    #[arg(long, value_name = "PATH")]
    pub(crate) template: Option<PathBuf>,
    /// List this file of the session's folder instead of writing one
    #[arg(long, value_name = "PATH", requires = "session", conflicts_with_all = ["name", "request", "background", "expected", "constraints", "from", "template"])]
    pub(crate) file: Option<String>,
}
