//! `callboard session`.

mod settings;

use std::{cmp::Reverse, path::PathBuf};

use callboard_api as api;
use callboard_engine::core::{
    agent::Agent,
    audience::Audience,
    count::Tokens,
    id::{Seq, SessionId},
    prompt::{LayoutName, profile::Profile},
    session::{SessionPatch, Ttl},
    step::Step,
};
use clap::{Args, Subcommand};
use http::Method;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{Context, journal};
use crate::{
    cli::{NamedSession, On},
    client::{Answer, OnSession},
    failure::Failure,
    output::{self, Output, counted, joined},
    parse::{self, Collections},
    team_file::{self, TeamFile},
    terminal::Lines,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Create a session
    #[command(
        after_help = "Examples:\n  callboard session new TEAM.toml\n  callboard session new --agent lead:manager --agent critic:worker"
    )]
    New(SessionNew),
    /// List the sessions, most recently used first
    #[command(after_help = "Example:\n  callboard session list --json")]
    List {
        /// At most this many, the most recently used ones
        #[arg(short = 'n', long, value_name = "N", value_parser = parse::limit, allow_negative_numbers = true)]
        limit: Option<usize>,
    },
    /// Show a session with its settings
    #[command(after_help = "Example:\n  callboard session show 20250118-143022-a4f2")]
    Show(NamedSession),
    /// Change a session's settings or team
    #[command(
        aliases = ["set", "change"],
        after_help = "Examples:\n  callboard session update --title Review --ttl never\n  callboard session update --team TEAM.toml"
    )]
    Update(SessionUpdate),
    /// Delete a session with everything in it
    #[command(after_help = "Example:\n  callboard session delete 20250118-143022-a4f2")]
    Delete {
        /// The session
        #[arg(value_name = "ID", required_unless_present = "session", conflicts_with = "session")]
        named: Option<SessionId>,
        #[command(flatten)]
        on: On,
        /// Do not ask; without a terminal and with --json nobody is asked
        #[arg(long)]
        yes: bool,
    },
    /// Create a session from the beginning of another one's journal
    #[command(after_help = "Example:\n  callboard session fork --at 12")]
    Fork {
        #[command(flatten)]
        on: NamedSession,
        /// The last entry to copy (default: the newest)
        #[arg(long, value_name = "SEQ", value_parser = parse::seq)]
        at: Option<Seq>,
        /// The id of the new session
        #[arg(long, value_name = "ID")]
        id: Option<SessionId>,
    },
    /// Read the journal
    #[command(
        after_help = "Examples:\n  callboard session journal --after 40\n  callboard session journal --types message.added,context_set.updated --as critic --follow"
    )]
    Journal(journal::Journal),
}

/// Create a session
#[derive(Args, Debug)]
pub(crate) struct SessionNew {
    /// The team file
    #[arg(value_name = "TEAM.toml")]
    pub(crate) team: Option<PathBuf>,
    /// An agent; the role is manager or worker (default: worker)
    #[arg(long = "agent", value_name = "NAME[:ROLE]", value_parser = parse::agent)]
    pub(crate) agents: Vec<Agent>,
    /// The id of the session
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<SessionId>,
    /// The title
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Who sees new context sets without a visibility of their own: all, none, or names separated by commas
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) default_visibility: Option<Audience>,
    /// How long it lives without being used: 90d, 36h, 15m, seconds, or never
    #[arg(long, value_name = "TIME")]
    pub(crate) ttl: Option<Ttl>,
    /// The collections that its agents can look things up in: names separated by commas
    #[arg(long, value_name = "NAMES", value_parser = parse::collections)]
    pub(crate) collections: Option<Collections>,
    /// Begin with the context sets of this session
    #[arg(long, value_name = "ID")]
    pub(crate) sets_from: Option<SessionId>,
    /// Choose it, as `callboard use` does: later commands work on it
    #[arg(long = "use")]
    pub(crate) choose: bool,
}

/// Change a session's settings or team
#[derive(Args, Debug)]
pub(crate) struct SessionUpdate {
    #[command(flatten)]
    pub(crate) on: NamedSession,
    /// The title
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Who sees new context sets without a visibility of their own: all, none, or names separated by commas
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) default_visibility: Option<Audience>,
    /// How long it lives without being used: 90d, 36h, 15m, seconds, or never
    #[arg(long, value_name = "TIME")]
    pub(crate) ttl: Option<Ttl>,
    /// A team file that replaces the session's agents, and its steps if the file has any
    #[arg(long, value_name = "TEAM.toml")]
    pub(crate) team: Option<PathBuf>,
    /// How prompts are laid out: team, plain or director
    #[arg(long, value_name = "LAYOUT", value_parser = parse::layout)]
    pub(crate) layout: Option<LayoutName>,
    /// The largest size of a prompt
    #[arg(long, value_name = "TOKENS", value_parser = parse::number, allow_negative_numbers = true)]
    pub(crate) budget: Option<u64>,
    /// The largest size of an answer in a run
    #[arg(long, value_name = "TOKENS", value_parser = parse::number, allow_negative_numbers = true)]
    pub(crate) answer_tokens: Option<u64>,
    /// The collections that its agents can look things up in: names separated by commas
    #[arg(long, value_name = "NAMES", value_parser = parse::collections)]
    pub(crate) collections: Option<Collections>,
}

impl SessionUpdate {
    /// What is to change in the settings of prompts. The rest stays as it is.
    fn of_prompts(&self) -> Option<Profile> {
        let Self { layout, budget, answer_tokens, .. } = self;
        let changed = Profile {
            budget: budget.map(Tokens),
            answer_tokens: answer_tokens.map(Tokens),
            layout: *layout,
            ..Profile::default()
        };
        (changed != Profile::default()).then_some(changed)
    }
}

pub(super) async fn execute(context: &Context, command: Session) -> Result<(), Failure> {
    let output = context.output;
    match command {
        Session::New(args) => new(context, args).await,
        Session::List { limit } => list(context, limit).await,
        Session::Show(on) => context.get(&on.on(), &[]).await?.print(output, show).await,
        Session::Update(args) => update(context, args).await,
        Session::Delete { named, on, yes } => {
            let session = context.session_on(&NamedSession { named, on }.on()).await?;
            if !yes && !output.json && output::is_interactive() {
                confirm(&session, output).await?;
            }
            session.delete().await?;
            output.done("deleted", &session.id);
            Ok(())
        }
        Session::Fork { on, at, id } => {
            context.post(&on.on(), &["fork"], &api::Fork { at, id }).await?.print(output, show).await
        }
        Session::Journal(args) => journal::journal(context, args).await,
    }
}

/// Asks at the terminal whether a session is to be deleted. Anything but a yes is a refusal.
async fn confirm(session: &OnSession<'_>, output: Output) -> Result<(), Failure> {
    let it = session.get(&[]).answer::<api::Session>().await?.it;
    output.ask(&format!("delete {} with {}? [y/N] ", it.id, counted(it.head, "entry")));
    let answer = Lines::start().next().await.unwrap_or_default();
    if ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
        return Ok(());
    }
    Err(Failure::failed("not_confirmed", format!("{} was not deleted", it.id))
        .hint("answer with y, or use --yes to be asked nothing"))
}

async fn new(context: &Context, args: SessionNew) -> Result<(), Failure> {
    let SessionNew { team, agents, id, title, default_visibility, ttl, collections, sets_from, choose } = args;
    let mut file = team.as_deref().map_or_else(|| Ok(TeamFile::default()), team_file::read)?;
    file.agents.extend(agents);
    file.title = title.or(file.title);
    file.default_visibility = default_visibility.unwrap_or(file.default_visibility);
    file.ttl_seconds = ttl.or(file.ttl_seconds);
    file.collections = collections.unwrap_or(file.collections);
    let made = file.create(&context.client, id, sets_from).await?;
    if choose {
        context.chosen.write(&made.it.id)?;
    }
    made.print(context.output, show);
    if !choose && !context.output.json && has_others(context).await? {
        let choice = context.suggestion(&format!("use {}", made.it.id));
        context.output.note(format!("there are others: `{choice}` chooses this one"));
    }
    Ok(())
}

/// Whether there are several sessions, so that a new one is not the one that is meant where none is named.
async fn has_others(context: &Context) -> Result<bool, Failure> {
    let list = context.client.call(Method::GET, &["v1", "sessions"]).query("limit", 2);
    Ok(list.answer::<api::SessionList>().await?.it.sessions.len() > 1)
}

async fn list(context: &Context, limit: Option<usize>) -> Result<(), Failure> {
    let mut sessions = all(context).await?;
    sessions.truncate(limit.unwrap_or(usize::MAX));
    let json: Vec<_> = sessions.iter().map(|session| &*session.json).collect();
    context.output.answer(&json!({"sessions": json}), |output| {
        let row = |Answer { it, .. }: &Answer<api::Session>| {
            let names = joined(it.agents.iter().map(|agent| &agent.name));
            let title = it.title.clone().unwrap_or_default();
            vec![it.id.to_string(), it.head.to_string(), output.time(it.last_activity), names, title]
        };
        let head = ["SESSION", "ENTRIES", "LAST USED", "AGENTS", "TITLE"];
        output.list(&head, sessions.iter().map(row), "sessions");
    });
    Ok(())
}

/// The sessions, the one used last first. With a token of one session there is only that one.
async fn all(context: &Context) -> Result<Vec<Answer<api::Session>>, Failure> {
    if let Some(id) = &context.token_session {
        return Ok(vec![context.client.call(Method::GET, &["v1", "sessions", id.as_str()]).answer().await?]);
    }
    let (mut sessions, mut cursor) = (Vec::new(), None);
    loop {
        // A session that is used meanwhile keeps its place in this order, so that no page misses it.
        let call = context.client.call(Method::GET, &["v1", "sessions"]).query("order", "id");
        let call = call.maybe("cursor", cursor.as_ref());
        let page: Sessions = call.answer().await?.it;
        for json in page.sessions {
            let it: api::Session = serde_json::from_str(json.get())
                .map_err(|error| Failure::failed("not_understood", format!("cannot read a session: {error}")))?;
            sessions.push(Answer { json, it });
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    sessions.sort_by_key(|session| Reverse(session.it.last_activity));
    Ok(sessions)
}

/// A page of sessions, as they came.
#[derive(Deserialize)]
struct Sessions {
    sessions: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

async fn update(context: &Context, args: SessionUpdate) -> Result<(), Failure> {
    let file = args.team.as_deref().map(team_file::read).transpose()?;
    let (agents, steps) = file.map(|file| (file.agents, file.steps)).unzip();
    // A file without steps leaves them unchanged.
    let steps = steps.filter(|steps| !steps.is_empty());
    let prompt = args.of_prompts();
    let patch = SessionPatch {
        title: args.title,
        agents,
        default_visibility: args.default_visibility,
        ttl_seconds: args.ttl,
        prompt,
        steps,
        collections: args.collections,
        ..SessionPatch::default()
    };
    if patch == SessionPatch::default() {
        return Err(Failure::usage("usage", "say what to change")
            .hint("for instance --title TEXT; `callboard session update --help` lists what can be changed"));
    }
    context.call(&args.on.on(), Method::PATCH, &[]).await?.json(&patch).print(context.output, show).await
}

fn show(session: &api::Session, output: Output) {
    output.line(format!("session    {}", session.id));
    if let Some(title) = &session.title {
        output.line(format!("title      {title}"));
    }
    session.agents.iter().for_each(|agent| output.line(format!("agent      {}", named(agent))));
    if let Some(settings) = &session.settings {
        settings.steps.iter().for_each(|step| output.line(format!("step       {}", titled(step))));
        settings.collections.iter().for_each(|name| output.line(format!("collection {name}")));
    }
    settings::lines(session).iter().for_each(|line| output.line(line));
    output.line(format!("entries    {}", session.head));
    output.line(format!("created    {}", output.time(session.created_at)));
    output.line(format!("last used  {}", output.time(session.last_activity)));
    let expires = match (session.expires_at, session.ttl_seconds) {
        (Some(at), ttl @ Ttl::Seconds(_)) => format!("{at}, {ttl} after its last use"),
        _ => "never".to_owned(),
    };
    output.line(format!("expires    {expires}"));
}

fn titled(step: &Step) -> String {
    let default = if step.is_default { " (default)" } else { "" };
    let about = step.description.lines().next().map(|line| format!(": {line}")).unwrap_or_default();
    format!("{}{default}{about}", step.name)
}

fn named(agent: &Agent) -> String {
    let model = agent.model.as_ref().map(|model| format!(" through {model}")).unwrap_or_default();
    format!("{} {}{model}", agent.name, role_and_title(agent))
}

/// What stands behind the name of an agent.
pub(super) fn role_and_title(agent: &Agent) -> String {
    let role = agent.role.as_str();
    let title = agent.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
    format!("({role}){title}")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::commands::{Cli, Command};

    #[test]
    fn only_what_changes_in_the_settings_of_prompts_is_sent() {
        let sent = |words: &[&str]| {
            let cli = Cli::try_parse_from(["callboard", "session", "update"].iter().chain(words)).unwrap();
            let Some(Command::Session(Session::Update(args))) = cli.command else { panic!("it is another command") };
            serde_json::to_value(args.of_prompts()).unwrap()
        };
        assert_eq!(sent(&["--title", "Review"]), json!(null));
        assert_eq!(sent(&["--budget", "4000"]), json!({"budget": 4000}));
    }
}
