//! The commands, one module per noun: its arguments and what it does. Each calls the API, at a server or on a store opened
//! in this process.

mod browser;
mod choose;
mod collection;
mod compress;
mod directive;
mod director;
mod doctor;
mod documents;
pub(crate) mod files;
mod form;
mod journal;
mod mcp;
mod messages;
mod plan;
mod prompt;
mod recall;
mod run;
mod runs;
mod secrets;
mod serve;
mod session;
mod set;
mod steps;
mod store;
mod team;
mod thread;
mod token;
mod tools;
mod transfer;
mod turns;
mod variable;
mod watch;
mod why;
mod workflow;

use std::{path::Path, process::ExitCode, sync::Arc};

use callboard_engine::{
    Board,
    core::id::SessionId,
    store::{Durability, Lease},
};
use callboard_model::Endpoints;
use callboard_server::{Drive, Local, Settings};
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use http::Method;
use serde::Serialize;

use self::workflow::{Workflow, WorkflowCommand};
use crate::{
    because::Because,
    chosen::Chosen,
    cli::{BrowserArgs, Global, On},
    client::{Call, Client, OnSession, Remote},
    config::{self, ConnectionTarget},
    failure::Failure,
    master_keys,
    output::Output,
    which,
};

const EXAMPLES: &str = "\
Examples:
  callboard run TEAM.toml \"Review the article\"     run a team on a task
  callboard session journal                         list what happened, entry by entry
  callboard prompt --agent critic --at 12           show what an agent was shown

Environment:
  CALLBOARD_STORE                  the store, as --store
  CALLBOARD_URL                    the server, as --url
  CALLBOARD_TOKEN                  the access token for the server; --token-file is a file with it
  CALLBOARD_SESSION                the session of commands that name none
  CALLBOARD_MODEL                  the model of agents that name none, such as openai:gpt-4o
  OPENAI_BASE_URL                  where models openai:NAME are, such as http://127.0.0.1:8080/v1
  OPENAI_API_KEY                   the key for them
  ANTHROPIC_BASE_URL               where models anthropic:NAME are
  ANTHROPIC_API_KEY                the key for them
  HTTPS_PROXY, NO_PROXY            the proxy to models elsewhere, and the hosts that need none
  CALLBOARD_MASTER_KEY             the key that protects secrets (default: a file beside the data)
  CALLBOARD_USER_TOKENS            tokens with all rights at `callboard serve`, separated by blanks
  SESSION_TTL_SECONDS              how long sessions live after their last use that do not say
  CHROMIUM                         the path of Chromium (default: looked for in PATH)
  CALLBOARD_BROWSER_ALLOW          private or loopback addresses that pages may reach
  CALLBOARD_BROWSER_ALLOW_PRIVATE  1: they may reach all of them
  NO_COLOR                         no colours at a terminal
  RUST_LOG                         what is logged: error, warn, info, debug or trace
  XDG_DATA_HOME, XDG_STATE_HOME    the folders of the default store and of what was chosen";

/// The groups of the help, each with the command that it begins with. The order is that of [`Command`].
const GROUPS: &[(&str, &str)] = &[
    ("Teams at work", "run"),
    ("Sessions", "session"),
    ("Conversations", "say"),
    ("What a team shares", "set"),
    ("What agents use", "tools"),
    ("What agents are shown", "prompt"),
    ("Secrets and rights", "token"),
    ("Running Callboard", "serve"),
];

/// What stands behind a short help that leaves something out.
const MORE: &str = "More: the same with --help";

const GLOBAL_OPTIONS: &str = "Options of all commands, such as --json and --store: `callboard help`";

/// The context engine for teams of AI agents: each session has one durable journal, and every prompt is built from it.
#[derive(Debug, Parser)]
#[command(name = "callboard", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

// What a command does that is no noun is said in its own file.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Run),
    Director(director::Director),
    /// Team files: have a model write one (draft)
    #[command(subcommand, alias = "teams")]
    Team(team::Team),
    /// Runs: what a team did with its tasks (list, show, pause, resume, cancel, tool-result)
    #[command(subcommand)]
    Runs(runs::Runs),
    #[command(alias = "turn")]
    Turns(turns::Turns),
    #[command(alias = "directives")]
    Directive(directive::Directive),
    /// Forms: questions for the user (list, answer)
    #[command(subcommand, alias = "forms")]
    Form(form::Form),
    /// Sessions: each is a team's journal, settings and context (new, list, show, update, delete, fork, journal)
    #[command(subcommand, alias = "sessions")]
    Session(session::Session),
    Use(choose::Use),
    Export(transfer::Export),
    Import(transfer::Import),
    Say(messages::Say),
    #[command(alias = "message")]
    Messages(messages::Messages),
    /// Threads: conversations, who sees them, and their settings (list, put)
    #[command(subcommand, alias = "threads")]
    Thread(thread::Thread),
    Compress(compress::Compress),
    Pin(compress::Pin),
    /// Context sets: named texts that the team shares (list, show, put, delete)
    #[command(subcommand, alias = "sets")]
    Set(set::Set),
    /// Documents: longer texts that agents look things up in (add, list, show, remove)
    #[command(subcommand, alias = "document")]
    Documents(documents::Documents),
    /// Collections: documents that sessions share (create, list, remove, erase, export, import)
    #[command(subcommand, alias = "collections")]
    Collection(collection::Collection),
    #[command(alias = "file")]
    Files(files::Files),
    /// Variables: named values that the team works with (list, get, set, clear)
    #[command(subcommand, name = "var", aliases = ["vars", "variable", "variables"])]
    Variable(variable::Variable),
    #[command(alias = "plans")]
    Plan(plan::Plan),
    #[command(alias = "workflows")]
    Workflow(Workflow),
    /// Steps: the team's current step and the tools it may use (show, use, advance, set, reset, usage, allowed)
    #[command(subcommand, alias = "step")]
    Steps(steps::Steps),
    /// Tools that Callboard executes for agents (list, call)
    #[command(subcommand, alias = "tool")]
    Tools(tools::Tools),
    /// The browser of a session, at a server (status, open, go, inspect, act, screenshot, close)
    #[command(subcommand, alias = "browsers")]
    Browser(browser::Browser),
    Prompt(prompt::Prompt),
    Context(compress::HistorySize),
    Recall(recall::Recall),
    Search(recall::Search),
    Why(why::Why),
    /// Access tokens: each gives the rights of one agent or one role (new, list, revoke)
    #[command(subcommand, alias = "tokens")]
    Token(token::Token),
    /// Secrets: replace the master key, put back what is none (rotate, restore)
    #[command(subcommand, alias = "secret")]
    Secrets(secrets::Secrets),
    Erase(journal::Erase),
    Serve(serve::Serve),
    Mcp(mcp::Mcp),
    /// Stores: check a store, or copy it into another one (check, copy)
    #[command(subcommand, alias = "stores")]
    Store(store::Store),
    Doctor(doctor::Doctor),
    /// Print a shell completion script
    #[command(
        after_help = "Example:\n  callboard completion bash > ~/.local/share/bash-completion/completions/callboard"
    )]
    Completion {
        /// The shell
        shell: Shell,
    },
}

impl Command {
    /// Whether it drives runs, or executes nodes of a workflow.
    fn drive(&self) -> Drive {
        match self {
            Self::Run(_) | Self::Director(_) => Drive::Runs,
            Self::Workflow(Workflow { command: Some(WorkflowCommand::Run(_)), .. }) => Drive::Runs,
            Self::Tools(tools::Tools::Call { tool, .. }) if tool == "test_single_node" => Drive::Runs,
            _ => Drive::Nothing,
        }
    }

    /// The models that it may call.
    fn models(&self) -> Endpoints {
        match self {
            Self::Compress(_) | Self::Mcp(_) => config::endpoints(),
            _ if self.drive() == Drive::Runs => config::endpoints(),
            _ => callboard_model::Settings::default().into(),
        }
    }

    /// How the browsers are started that it uses, where it says so.
    fn browsers(&self) -> BrowserArgs {
        match self {
            Self::Workflow(Workflow { command: Some(WorkflowCommand::Run(run)), .. }) => run.browsers.clone(),
            Self::Director(director) => director.browsers.clone(),
            _ => BrowserArgs::default(),
        }
    }

    /// The file whose content it brings into the store.
    fn imported(&self) -> Option<&Path> {
        match self {
            Self::Import(import) => Some(&import.file),
            Self::Collection(collection::Collection::Import { file, .. }) => Some(file),
            _ => None,
        }
    }

    /// Whether it may be the first command on a store: it makes something that needs nothing else to be there. All others
    /// work on what is there.
    fn makes_store(&self) -> bool {
        use collection::Collection;
        match self {
            Self::Session(session::Session::New(_)) | Self::Import(_) | Self::Mcp(_) => true,
            Self::Run(run) => run.session.is_none(),
            Self::Director(director) => director.on.session.is_none(),
            Self::Collection(command) => matches!(command, Collection::Create(_) | Collection::Import { .. }),
            _ => false,
        }
    }
}

/// What a noun alone may do: it lists or shows what there is. With options, it is the first command that takes them. A command
/// with options of its own is no such noun.
pub(crate) fn of_noun_alone(noun: &str) -> Vec<&'static str> {
    let command = Cli::command();
    let noun = command.find_subcommand(noun).filter(|noun| noun.get_arguments().next().is_none());
    let has = |name: &&str| noun.is_some_and(|noun| noun.find_subcommand(name).is_some());
    ["list", "show"].into_iter().filter(has).collect()
}

/// The command line. The options of all commands are in the help of the program alone.
pub(crate) fn command() -> clap::Command {
    let mut command = Cli::command();
    // Gives the subcommands the options of all commands, which are then hidden there.
    command.build();
    let template = in_groups(&command);
    command.help_template(template).mut_subcommands(without_global_options)
}

/// The same with a short help: it ends with the examples. What clap calls a long help has its options on lines of their own.
pub(crate) fn command_in_short() -> clap::Command {
    in_short(command())
}

fn in_short(command: clap::Command) -> clap::Command {
    let whole = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let paragraphs: Vec<&str> = whole.split("\n\n").collect();
    let mut short: Vec<&str> = paragraphs.iter().take(1).copied().collect();
    short.extend(paragraphs.iter().skip(1).filter(|paragraph| **paragraph == GLOBAL_OPTIONS));
    if short.len() < paragraphs.len() {
        short.insert(1, MORE);
    }
    command.after_help(short.join("\n\n")).mut_subcommands(in_short)
}

/// The help of the program, with its commands in groups.
fn in_groups(command: &clap::Command) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let widest = command.get_subcommands().map(|one| one.get_name().len()).max().unwrap_or_default();
    let mut groups = String::new();
    for one in command.get_subcommands() {
        let name = one.get_name();
        if let Some((title, _)) = GROUPS.iter().find(|(_, first)| *first == name) {
            let gap = if groups.is_empty() { "" } else { "\n" };
            groups += &format!("{gap}{header}{title}:{header:#}\n");
        }
        let about = one.get_about().map(ToString::to_string).unwrap_or_default();
        // The commands of a noun are in its own help.
        let about = about.split(" (").next().unwrap_or_default();
        let padding = " ".repeat(widest - name.len());
        groups += &format!("  {literal}{name}{literal:#}{padding}  {about}\n");
    }
    let options = format!("{header}Options:{header:#}\n{{options}}");
    format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\n{options}{{after-help}}")
}

fn without_global_options(command: clap::Command) -> clap::Command {
    // The folder of all commands on context files is an option of `files`, whose help has it.
    let has_root = command.get_name() == "files";
    let is_its_own = |arg: &clap::Arg| has_root && arg.get_id() == "root";
    let command = command.mut_args(|arg| if arg.is_global_set() && !is_its_own(&arg) { arg.hide(true) } else { arg });
    let examples = command.get_after_help().map(|examples| format!("{examples}\n\n")).unwrap_or_default();
    let command = match command.get_name() {
        "help" => command,
        _ => command.after_help(format!("{examples}{GLOBAL_OPTIONS}")),
    };
    command.mut_subcommands(without_global_options)
}

/// What a command works with.
struct Context {
    client: Client,
    output: Output,
    /// The session that the user chose for this store or server.
    chosen: Chosen,
    /// The session that the access token is for, if it is not for the whole server.
    token_session: Option<SessionId>,
    /// The --store or --url option of this command line, repeated in suggested commands.
    connection_option: Option<String>,
}

/// Executes the command.
pub(crate) async fn execute(global: &Global, command: Command, output: Output) -> Result<ExitCode, Failure> {
    // A file that is not there makes no store.
    command.imported().map_or(Ok(()), transfer::check)?;
    match command {
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "callboard", &mut script);
            output.bytes(&script);
        }
        Command::Serve(args) => return serve::serve(global, args, output).await,
        Command::Doctor(args) => return doctor::doctor(global, &args, output).await,
        Command::Team(command) => team::execute(global, command, output).await?,
        Command::Store(command) => return store::execute(global, command, output).await,
        Command::Secrets(secrets::Secrets::Rotate { data, lost }) => {
            return secrets::rotate(global, data.as_deref(), lost, output).await;
        }
        command => {
            let context = Context::open(global, &command, output).await?;
            if let Command::Mcp(args) = command {
                return mcp::mcp(context, args).await.map(|()| ExitCode::SUCCESS);
            }
            let ended = context.execute(command).await;
            context.client.close().await;
            return ended;
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Context {
    /// Opens a store as the command needs it, or prepares for calls to a server.
    async fn open(global: &Global, command: &Command, output: Output) -> Result<Self, Failure> {
        let (drive, browsers) = (command.drive(), command.browsers());
        let (client, chosen, token) = match config::connection_target(global)? {
            ConnectionTarget::Server(url) => {
                if browsers.are_given() {
                    let problem = "browsers live in the server here, which says how they are started";
                    return Err(Failure::usage("usage", problem)
                        .hint("give the options of browsers to `callboard serve`, or work on a store with --store"));
                }
                let token = config::token(global)?;
                let server = Remote::new(&url, token.as_deref())?;
                let chosen = Chosen::of(server.name());
                (Client::Remote(server), chosen, token)
            }
            ConnectionTarget::Store(url) => {
                let is_missing = !command.makes_store() && config::is_missing(&url);
                if is_missing && global.store.is_some() {
                    let problem = format!("there is no store at {}", config::shown(&url));
                    return Err(Failure::failed("store_cannot_open", problem)
                        .hint("check the path; `callboard session new` with the same --store makes one there"));
                }
                let chosen = Chosen::on_store(&url);
                // A store that is not there is empty, and stays away until something is to be kept in it.
                let url = if is_missing { "memory:".to_owned() } else { url };
                let browsers = match drive {
                    // A browser ends with the process, so only one that goes on for a while has any.
                    Drive::Runs => {
                        browsers.warning().iter().for_each(|warning| output.note(warning));
                        Some(browsers.over(config::browsers(&url, None)?))
                    }
                    Drive::Nothing => None,
                };
                let board = board(global, &url, drive).await?;
                let project = if let Command::Mcp(args) = command { Some(args.project()) } else { None };
                let settings = Settings { project, browsers, ..settings(&board, command.models()) };
                (Client::Local(Local::new(board, settings, drive)?), chosen, None)
            }
        };
        let token_session = token.as_deref().and_then(callboard_server::session_of);
        let given = |option: &str, url: &Option<String>| url.as_ref().map(|url| format!(" --{option} {url}"));
        let connection_option = given("store", &global.store).or_else(|| given("url", &global.url));
        Ok(Self { client, output, chosen, token_session, connection_option })
    }

    async fn execute(&self, command: Command) -> Result<ExitCode, Failure> {
        match command {
            Command::Run(args) => return run::run(self, args).await,
            Command::Director(args) => return director::director(self, args).await,
            Command::Recall(args) => return recall::recall(self, args).await,
            Command::Search(args) => return recall::search(self, args).await,
            Command::Why(args) => return why::why(self, args).await,
            Command::Directive(args) => return directive::directive(self, args).await,
            Command::Documents(command) => return documents::execute(self, command).await,
            Command::Session(command) => session::execute(self, command).await,
            Command::Use(args) => choose::choose(self, args).await,
            Command::Set(command) => set::execute(self, command).await,
            Command::Form(command) => form::execute(self, command).await,
            Command::Say(args) => messages::say(self, args).await,
            Command::Thread(command) => thread::execute(self, command).await,
            Command::Messages(args) => messages::messages(self, args).await,
            Command::Prompt(args) => prompt::prompt(self, args).await,
            Command::Context(args) => compress::context(self, args).await,
            Command::Compress(args) => compress::compress(self, args).await,
            Command::Pin(args) => compress::pin(self, args).await,
            Command::Erase(args) => journal::erase(self, args).await,
            Command::Runs(command) => runs::execute(self, command).await,
            Command::Turns(args) => turns::execute(self, args).await,
            Command::Plan(args) => plan::execute(self, args).await,
            Command::Workflow(args) => workflow::execute(self, args).await,
            Command::Steps(command) => steps::execute(self, command).await,
            Command::Tools(command) => tools::execute(self, command).await,
            Command::Variable(command) => variable::execute(self, command).await,
            Command::Browser(command) => browser::execute(self, command).await,
            Command::Collection(command) => collection::execute(self, command).await,
            Command::Export(args) => transfer::export(self, args).await,
            Command::Import(args) => transfer::import(self, args).await,
            Command::Token(command) => token::execute(self, command).await,
            Command::Secrets(secrets::Secrets::Restore { on, name, reason }) => {
                secrets::restore(self, &on, name, reason).await
            }
            Command::Team(_)
            | Command::Serve(_)
            | Command::Doctor(_)
            | Command::Files(_)
            | Command::Mcp(_)
            | Command::Secrets(secrets::Secrets::Rotate { .. })
            | Command::Store(_)
            | Command::Completion { .. } => Ok(()),
        }?;
        Ok(ExitCode::SUCCESS)
    }

    /// The session that is named, else the one that is meant (see [`which`]), for calls as the agent that the command acts as.
    async fn session_on(&self, on: &On) -> Result<OnSession<'_>, Failure> {
        let (client, acting_as) = (&self.client, on.acting_as.agent.clone());
        let (id, because) = match &on.session {
            Some(id) => (id.clone(), Because::Option),
            None => which::session(client, &self.chosen, self.token_session.as_ref()).await?,
        };
        Ok(OnSession { client, id, because, acting_as })
    }

    /// A call on `path` below the session that is meant, as the agent that the command acts as.
    async fn call(&self, on: &On, method: Method, path: &[&str]) -> Result<Call<'_>, Failure> {
        Ok(self.session_on(on).await?.call(method, path))
    }

    async fn get(&self, on: &On, path: &[&str]) -> Result<Call<'_>, Failure> {
        self.call(on, Method::GET, path).await
    }

    async fn post(&self, on: &On, path: &[&str], body: &impl Serialize) -> Result<Call<'_>, Failure> {
        Ok(self.call(on, Method::POST, path).await?.json(body))
    }

    /// A command line that continues from this one, with the same --store or --url, as it can be pasted.
    fn suggestion(&self, command: &str) -> String {
        let (program, option) = (config::program(), self.connection_option.as_deref().unwrap_or_default());
        format!("{program} {command}{option}")
    }
}

/// The board over the store with this URL. A command that drives no runs takes no lease, so that running runs stay with
/// the process that drives them.
async fn board(global: &Global, url: &str, drive: Drive) -> Result<Board, Failure> {
    let store = callboard_store::open(url, config::store_settings(global)).await?;
    let mut settings =
        callboard_engine::Settings { ttl: config::ttl()?.unwrap_or_default(), ..callboard_engine::Settings::default() };
    settings.master_keys = master_keys::of(url, None);
    settings.recall = config::recall(url, None);
    if drive == Drive::Nothing {
        settings.lease = Lease::unheld();
    }
    Ok(Board::new(store, settings))
}

/// The settings of the API on a board in this process.
fn settings(board: &Board, models: Endpoints) -> Settings {
    Settings::new(Arc::new(models), config::runs(board.settings().lease.holder.clone()))
}

/// What acknowledged writes survive, for people.
fn durability(durability: Durability) -> &'static str {
    match durability {
        Durability::Process => "not durable: everything is lost when this process ends",
        Durability::Normal => {
            "acknowledged writes survive kill -9, but the last moments may be lost in a power failure"
        }
        Durability::Full => "acknowledged writes survive a power failure",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_of_the_help_begins_with_a_command() {
        let command = command();
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let places = GROUPS.iter().map(|(_, first)| names.iter().position(|name| name == first));
        let places: Vec<Option<usize>> = places.collect();
        assert!(places.first() == Some(&Some(0)) && places.is_sorted() && !places.contains(&None), "{places:?}");
    }

    #[test]
    fn a_noun_alone_does_what_it_has_of_list_and_show() {
        assert_eq!(of_noun_alone("sets"), ["list", "show"]);
        assert_eq!(of_noun_alone("step"), ["show"]);
        assert!(["files", "plan", "serve", "no such noun"].iter().all(|noun| of_noun_alone(noun).is_empty()));
    }

    #[test]
    fn a_noun_is_taken_in_both_numbers_and_with_other_words_for_what_sets_it() {
        let all = command();
        let known: [(&str, &str, &str, &[&str]); 8] = [
            ("set", "sets", "put", &["set", "add", "update"]),
            ("thread", "threads", "put", &["set", "add", "update"]),
            ("var", "variables", "set", &["put", "add", "update"]),
            ("documents", "document", "add", &["put"]),
            ("session", "sessions", "update", &["set", "change"]),
            ("plan", "plans", "set", &["put"]),
            ("workflow", "workflows", "set", &["put", "import"]),
            ("workflow", "workflows", "change", &["update"]),
        ];
        for (noun, other, verb, words) in known {
            assert_eq!(all.find_subcommand(other).unwrap().get_name(), noun);
            let named =
                |word: &&str| all.find_subcommand(noun).unwrap().find_subcommand(word).map(clap::Command::get_name);
            assert!(words.iter().all(|word| named(word) == Some(verb)), "{noun} {verb}");
        }
    }

    #[test]
    fn the_groups_fit_a_terminal() {
        let help = command().render_help().to_string();
        let (groups, _) = help.split_once("Options:").unwrap();
        let wide: Vec<_> = groups.lines().filter(|line| line.starts_with("  ") && line.len() > 92).collect();
        assert!(wide.is_empty(), "{wide:?}");
    }
}
