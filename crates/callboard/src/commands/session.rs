//! `callboard session`.

use callboard_engine::{
    NewBoardSession, Session, SessionInfo,
    core::{
        agent::{Agent, Role},
        command::Command,
        count::Tokens,
        prompt::profile::Profile,
        session::{SessionPatch, Settings, Ttl, Visible},
    },
};
use serde_json::json;

use super::{Context, PAGE};
use crate::{
    cli::{self, SessionNew, SessionUpdate},
    config,
    failure::Failure,
    journal, team_file,
};

pub(super) async fn execute(context: &Context, command: cli::Session) -> Result<(), Failure> {
    match command {
        cli::Session::New(args) => new(context, args).await,
        cli::Session::List => list(context).await,
        cli::Session::Show(which) => show(context, &context.session(&which).await?).await,
        cli::Session::Update(args) => update(context, args).await,
        cli::Session::Delete { session } => {
            context.board.delete(&session).await?;
            context.output.answer(&json!({"deleted": session}), |output| output.line(format!("{session} is deleted")));
            Ok(())
        }
        cli::Session::Fork { which, at, id } => {
            let from = context.session(&which).await?;
            show(context, &context.board.fork(&from, at, id).await?).await
        }
        cli::Session::Journal(args) => journal::print(&context.session(&args.which).await?, args, context.output).await,
    }
}

async fn new(context: &Context, args: SessionNew) -> Result<(), Failure> {
    let SessionNew { team, agents, id, title, default_visibility, ttl } = args;
    if let Some(path) = &team {
        let mut file = team_file::read(path)?;
        file.agents.extend(agents);
        file.title = title.or(file.title);
        file.default_visibility = default_visibility.map_or(file.default_visibility, Visible);
        file.ttl_seconds = ttl.or(file.ttl_seconds);
        return show(context, &file.create(&context.board, id).await?).await;
    }
    let settings = Settings {
        title,
        default_visibility: default_visibility.map(Visible).unwrap_or_default(),
        ttl_seconds: ttl.map_or_else(config::ttl, Ok)?,
        ..Settings::default()
    };
    let new = NewBoardSession { id, agents, settings: Some(settings) };
    show(context, &context.board.create(new).await?).await
}

async fn list(context: &Context) -> Result<(), Failure> {
    let mut sessions: Vec<SessionInfo> = Vec::new();
    loop {
        let page = context.board.sessions(sessions.last().map(|info| &info.id), PAGE).await?;
        if page.is_empty() {
            break;
        }
        sessions.extend(page);
    }
    sessions.sort_by_key(|info| std::cmp::Reverse(info.last_activity));
    context.output.answer(&json!({"sessions": sessions}), |output| {
        let row = |info: &SessionInfo| {
            let names = info.agents.iter().map(|agent| agent.name.to_string()).collect::<Vec<_>>().join(", ");
            let title = info.settings.title.clone().unwrap_or_default();
            vec![info.id.to_string(), info.head.to_string(), info.last_activity.to_string(), names, title]
        };
        let head = ["SESSION", "ENTRIES", "LAST USED", "AGENTS", "TITLE"];
        output.table(&head, &sessions.iter().map(row).collect::<Vec<_>>());
    });
    Ok(())
}

async fn update(context: &Context, args: SessionUpdate) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let agents = args.team.as_deref().map(team_file::read).transpose()?.map(|file| file.agents);
    let prompt = (args.budget.is_some() || args.answer_tokens.is_some()).then_some(());
    let prompt = match prompt {
        Some(()) => {
            let before = session.state().await?.session.settings.prompt.clone();
            Some(Profile {
                budget: args.budget.map(Tokens).or(before.budget),
                answer_tokens: args.answer_tokens.map(Tokens).or(before.answer_tokens),
                parts: before.parts,
            })
        }
        None => None,
    };
    let patch = SessionPatch {
        title: args.title,
        agents,
        default_visibility: args.default_visibility.map(Visible),
        ttl_seconds: args.ttl,
        prompt,
        ..SessionPatch::default()
    };
    session.execute(args.eyes.viewer(), Command::UpdateSession(patch)).await?;
    show(context, &session).await
}

async fn show(context: &Context, session: &Session) -> Result<(), Failure> {
    let info = session.info().await?;
    context.output.answer(&info, |output| {
        output.line(format!("session    {}", info.id));
        if let Some(title) = &info.settings.title {
            output.line(format!("title      {title}"));
        }
        info.agents.iter().for_each(|agent| output.line(format!("agent      {}", named(agent))));
        output.line(format!("entries    {}", info.head));
        output.line(format!("created    {}", info.created_at));
        output.line(format!("last used  {}", info.last_activity));
        let expires = match (info.expires_at, info.settings.ttl_seconds) {
            (Some(at), Ttl::Seconds(seconds)) => format!("{at}, {seconds} s after its last use"),
            _ => "never".to_owned(),
        };
        output.line(format!("expires    {expires}"));
    });
    Ok(())
}

fn named(agent: &Agent) -> String {
    let role = match agent.role {
        Role::Manager => "manager",
        Role::Worker => "worker",
    };
    let title = agent.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
    let model = agent.model.as_ref().map(|model| format!(" through {model}")).unwrap_or_default();
    format!("{} ({role}){title}{model}", agent.name)
}
