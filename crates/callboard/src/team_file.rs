//! Team files: a team, its settings and what it starts with, as people write them down.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use callboard_api as api;
use callboard_engine::core::{
    agent::{Agent, Tool},
    audience::Audience,
    id::{CollectionName, SessionId, SetName},
    json::in_words,
    limits::Limits,
    prompt::profile::Profile,
    rights::{Grant, Share},
    session::Ttl,
    step::Steps,
};
use http::Method;
use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use crate::{
    client::{Answer, Client, OnSession},
    failure::Failure,
    terminal,
};

/// A team file. A key that is not here is an error that says where it stands.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TeamFile {
    /// What people call the session.
    pub(crate) title: Option<String>,
    /// What the team is to do.
    pub(crate) input: Option<String>,
    /// The team.
    #[serde(rename = "agent")]
    pub(crate) agents: Vec<Agent>,
    /// The tools that every agent has besides its own.
    tools: Vec<Tool>,
    /// The context sets that it starts with.
    #[serde(rename = "set")]
    pub(crate) sets: Vec<SetSource>,
    /// The steps of its work.
    #[serde(rename = "step")]
    pub(crate) steps: Steps,
    /// Who sees a new context set without a visibility of its own.
    pub(crate) default_visibility: Audience,
    share: Vec<Share>,
    grant: Vec<Grant>,
    prompt: Profile,
    limits: Limits,
    compression: Option<api::CompressionSettings>,
    /// The collections whose documents the team can look things up in.
    pub(crate) collections: Vec<CollectionName>,
    /// The inactivity after which the session expires.
    pub(crate) ttl_seconds: Option<Ttl>,
    /// Where it was read.
    #[serde(skip)]
    source: Option<Source>,
}

/// A file, and what it says.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    text: String,
}

/// A context set that a team starts with: its content stands here or in a file beside the team file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetSource {
    name: SetName,
    content: Option<Arc<str>>,
    file: Option<std::path::PathBuf>,
    visible_to: Option<Audience>,
}

/// Reads a team file with all the files that it names.
pub(crate) fn read(path: &Path) -> Result<TeamFile, Failure> {
    let mut team = parse(&terminal::file(path)?, path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for set in &mut team.sets {
        set.content = Some(set.read(folder)?);
    }
    Ok(team)
}

/// Reads the text of a team file, which has this path. The files that it names are not read.
pub(crate) fn parse(text: &str, path: &Path) -> Result<TeamFile, Failure> {
    let mut team: TeamFile = toml::from_str(text).map_err(|error| {
        let wrong = error.to_string().replace(error.message(), &in_words(error.message()));
        Failure::failed("invalid", format!("{} is not a team file: {}", path.display(), wrong.trim_end()))
            .hint("see the example in `callboard run --help`")
    })?;
    for agent in &mut team.agents {
        let has = |tool: &Tool| agent.tools.iter().any(|own| own.name == tool.name);
        let more: Vec<Tool> = team.tools.iter().filter(|tool| !has(tool)).cloned().collect();
        agent.tools.extend(more);
    }
    team.source = Some(Source { path: path.to_owned(), text: text.to_owned() });
    Ok(team)
}

impl SetSource {
    async fn put(&self, session: &OnSession<'_>) -> Result<(), Failure> {
        let content = self.content.clone().unwrap_or_default();
        let put = api::PutContextSet { content, visible_to: self.visible_to.clone(), enabled: None };
        session.call(Method::PUT, &["context-sets", self.name.as_str()]).json(&put).done().await
    }

    fn read(&self, folder: &Path) -> Result<Arc<str>, Failure> {
        match (&self.content, &self.file) {
            (Some(content), None) => Ok(content.clone()),
            (None, Some(file)) => Ok(terminal::file(&folder.join(file))?.into()),
            _ => Err(Failure::failed("invalid", format!("the set {}: give either content or file", self.name))),
        }
    }
}

impl Source {
    /// The line of the field to which a JSON pointer leads, or of what is nearest around it.
    fn line(&self, pointer: &str) -> Option<usize> {
        let document = DeTable::parse(&self.text).ok()?;
        let mut place = None;
        let mut within: Option<&DeValue<'_>> = None;
        for (depth, segment) in pointer.split('/').skip(1).enumerate() {
            // What there may be several of is named in the singular in a team file.
            let key = match segment {
                "agents" | "steps" if depth == 0 => segment.trim_end_matches('s'),
                segment => segment,
            };
            let next = match (depth, within) {
                (0, _) => document.get_ref().get(key),
                (_, Some(DeValue::Table(table))) => table.get(key),
                (_, Some(DeValue::Array(list))) => key.parse().ok().and_then(|at: usize| list.get(at)),
                _ => None,
            };
            let Some(next) = next else { break };
            place = Some(next.span().start);
            within = Some(next.get_ref());
        }
        Some(self.text.get(..place?)?.matches('\n').count() + 1)
    }
}

impl TeamFile {
    /// Whether the content of a set stands in another file.
    pub(crate) fn reads_files(&self) -> bool {
        self.sets.iter().any(|set| set.file.is_some())
    }

    /// Says in which lines of the file there is something wrong.
    fn placed(&self, mut failure: Failure) -> Failure {
        let Some(source) = &self.source else { return failure };
        for fault in failure.problem.errors.clone() {
            if let Some(line) = source.line(&fault.pointer) {
                let place = format!("{}, line {line}: {}", source.path.display(), fault.detail);
                let told = format!("{}: {}", fault.pointer, fault.detail);
                failure.problem.detail = failure.problem.detail.replace(&told, &place);
            }
        }
        failure
    }

    /// Creates the session with its sets, and with those of the session `sets_from`. If one set fails, the session is deleted again.
    pub(crate) async fn create(
        &self,
        client: &Client,
        id: Option<SessionId>,
        sets_from: Option<SessionId>,
    ) -> Result<Answer<api::Session>, Failure> {
        let new = api::NewSession {
            id,
            title: self.title.clone(),
            agents: self.agents.clone(),
            default_visibility: Some(self.default_visibility.clone()),
            share: self.share.clone(),
            grant: self.grant.clone(),
            prompt: Some(self.prompt.clone()),
            ttl_seconds: self.ttl_seconds,
            limits: Some(self.limits.clone()),
            steps: self.steps.clone(),
            compression: self.compression.clone(),
            collections: self.collections.clone(),
            context_sets_from: sets_from,
        };
        let made = client.call(Method::POST, &["v1", "sessions"]).json(&new).answer::<api::Session>().await;
        let made = made.map_err(|failure| self.placed(failure))?;
        if self.sets.is_empty() {
            return Ok(made);
        }
        let session = OnSession::named(client, made.it.id.clone(), None);
        for set in &self.sets {
            if let Err(mut failure) = set.put(&session).await {
                session.delete().await?;
                failure.problem.detail = format!("the set {}: {}", set.name, failure.problem.detail);
                return Err(failure);
            }
        }
        session.get(&[]).answer().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        toml::from_str::<TeamFile>(text).unwrap_err().to_string()
    }

    #[test]
    fn a_team_file_says_all_there_is_to_say() {
        let team: TeamFile = toml::from_str(
            "title = 'Review'\ninput = 'Go'\ndefault_visibility = 'none'\nttl_seconds = 'never'\n\
             [prompt]\nbudget = 12000\nanswer_tokens = 400\nparts = {history = {max = '50%'}}\n\
             [limits]\nturns = 24\n\
             [[agent]]\nname = 'lead'\nrole = 'manager'\n\
             [[agent]]\nname = 'critic'\nrole = 'worker'\ntools = [{name = 'look', parameters = {type = 'object'}}, 'read_messages']\n\
             [[set]]\nname = 'Article'\nfile = 'article.md'\nvisible_to = ['critic']\n\
             [[step]]\nname = 'research'\nis_default = true\nsequence = ['look']\n\
             [[step]]\nname = 'over'\nconditions = [{type = 'tool_used', value = 'look'}]\n\
             available_tools = {denied = ['*']}\n",
        )
        .unwrap();
        assert_eq!((team.agents.len(), team.sets.len(), team.limits.turns), (2, 1, Some(24)));
        assert_eq!(team.agents[1].tools[1].name, "callboard:read_messages");
        assert_eq!(team.ttl_seconds, Some(Ttl::Never));
        assert_eq!(team.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), ["research", "over"]);
    }

    #[test]
    fn the_tools_of_a_team_are_those_of_each_agent_besides_its_own() {
        let text = "tools = ['callboard:read', {name = 'look'}]\n[[agent]]\nname = 'lead'\nrole = 'manager'\n\
                    [[agent]]\nname = 'critic'\nrole = 'worker'\ntools = [{name = 'look', description = 'Looks up'}]\n";
        let team = parse(text, Path::new("team.toml")).unwrap();
        let names = |at: usize| team.agents[at].tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
        assert_eq!([names(0), names(1)], [vec!["callboard:read", "look"], vec!["look", "callboard:read"]]);
        assert_eq!(team.agents[1].tools[0].description, "Looks up", "its own comes first");
    }

    #[test]
    fn what_is_wrong_with_a_field_has_a_line() {
        let text = "title = 'a'\n\n[[agent]]\nname = 'lead'\nrole = 'manager'\n\n[[agent]]\nname = 'a'\ntools = [\n  {name = 'x'},\n]\n";
        let source = Source { path: "team.toml".into(), text: text.to_owned() };
        let line = |pointer: &str| source.line(pointer);
        assert_eq!([line("/title"), line("/agents/1/name"), line("/agents/1/tools/0/name")], [1, 8, 10].map(Some));
        assert_eq!(line("/agents/1/model"), Some(7), "it is not there: the agent is");
        assert_eq!(line("/surprise"), None);
    }

    #[test]
    fn an_unknown_key_is_an_error_that_says_where() {
        let wrong = wrong("title = 'a'\ntitel = 'b'\n");
        assert!(wrong.contains("line 2") && wrong.contains("titel"), "{wrong}");
    }

    #[test]
    fn a_reserved_name_is_an_error_that_says_where() {
        let wrong = wrong("[[agent]]\nname = 'all'\nrole = 'worker'\n");
        assert!(wrong.contains("line 2") && wrong.contains("reserved"), "{wrong}");
    }
}
