//! What is given out of a session, thing by thing, as programs and people read it.

use std::sync::Arc;

use callboard_core::{
    audience::Audience,
    context_set::{Held, SetView, hidden_from_agents},
    conversation::{Size, Thread},
    count::{Counting, Tokens},
    error::Error as Refusal,
    form::Form,
    id::{AgentName, RunId, Seq, SetName, ThreadId},
    prompt::{Body, PartReport, Prompt},
    run::{Due, Kind, Limits, Run, Status, Used},
    session::Share,
    text::{Text, Values},
    time::Timestamp,
    view::View,
    viewer::Viewer,
};
use serde::Serialize;

use crate::{error::Error, session::Session};

/// A context set as a viewer sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetInfo {
    /// Its name.
    pub name: SetName,
    /// What it says, whole; absent where the manager looks at a set that is hidden from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Arc<str>>,
    /// Who may see it, as it was meant.
    pub visible_to: Audience,
    /// From whom it is hidden, for the team as it is now.
    pub hidden_from_agents: Vec<AgentName>,
    /// Whether it stands in prompts.
    pub enabled: bool,
    /// The form that the user is to fill in, or has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// The size of its content.
    pub tokens: Tokens,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A thread as a viewer sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadInfo {
    /// Its name.
    pub name: ThreadId,
    /// Who may see it.
    pub visible_to: Audience,
    /// How much of it the viewer sees.
    #[serde(flatten)]
    pub size: Size,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunInfo {
    /// Its id.
    pub id: RunId,
    /// What kind of run it is.
    pub kind: Kind,
    /// Where it is.
    pub status: Status,
    /// Why it does not go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is due; absent where it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Due>,
    /// How far it goes before it is paused.
    #[serde(skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// What it has used altogether.
    pub used: Used,
    /// When it was started.
    pub started_at: Timestamp,
}

/// A prompt with what became of its parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptInfo {
    /// The last entry that it was made from.
    pub seq: Seq,
    /// What it had to fit in.
    pub budget: Tokens,
    /// Its size.
    pub tokens: Tokens,
    /// How far the size can be trusted.
    pub counting: Counting,
    /// The vocabulary that it was counted in.
    pub vocabulary: String,
    /// Its parts, in order.
    pub parts: Vec<PartReport>,
    /// How much of it, from its beginning, the agent's last turn in a run was asked with too.
    pub reusable_prefix_tokens: Tokens,
    /// What the model gets: `text` or `messages`.
    #[serde(flatten)]
    pub body: Body,
}

impl Session {
    /// The context sets that `viewer` sees anything of, by name.
    pub async fn sets(&self, viewer: &Viewer) -> Result<Vec<SetInfo>, Error> {
        let (seen, missing) = self
            .view(viewer, |view| {
                let seen: Vec<_> = view.sets().map(|set| set_info(&view, set)).collect();
                let missing: Vec<_> = seen.iter().filter_map(|(_, text)| text.as_ref()?.stored()).collect();
                Ok((seen, missing))
            })
            .await?;
        let values = self.values(missing).await?;
        Ok(seen.into_iter().map(|(info, text)| with_content(info, text.as_ref(), &values)).collect())
    }

    /// The context set with this name. A hidden one answers like one that is not there.
    pub async fn set(&self, viewer: &Viewer, name: &SetName) -> Result<SetInfo, Error> {
        let (info, text) = self.view(viewer, |view| Ok(set_info(&view, view.set(name)?))).await?;
        let values = self.values(text.as_ref().and_then(Text::stored)).await?;
        Ok(with_content(info, text.as_ref(), &values))
    }

    /// The threads that `viewer` sees, by name.
    pub async fn threads(&self, viewer: &Viewer) -> Result<Vec<ThreadInfo>, Error> {
        self.view(viewer, |view| Ok(view.threads().map(|(name, thread)| thread_info(&view, name, thread)).collect()))
            .await
    }

    /// The runs, in the order of their ids, for whoever may see them.
    pub async fn runs(&self, viewer: &Viewer) -> Result<Vec<RunInfo>, Error> {
        self.view(viewer, |view| {
            let shared = view.state.session.settings.share.contains(&Share::Runs);
            if !view.is_in_charge() && !shared {
                return Err(Refusal::not_found("run", "here"));
            }
            Ok(view.state.runs.iter().map(|run| run_info(&view, run)).collect())
        })
        .await
    }

    /// The run with this id.
    pub async fn run(&self, viewer: &Viewer, id: &RunId) -> Result<RunInfo, Error> {
        let run = self.runs(viewer).await?.into_iter().find(|run| run.id == *id);
        run.ok_or_else(|| Refusal::not_found("run", id).into())
    }
}

impl From<Prompt> for PromptInfo {
    fn from(prompt: Prompt) -> Self {
        let Prompt { seq, budget, tokens, counting, vocabulary, parts, reusable_prefix_tokens, body, .. } = prompt;
        Self { seq, budget, tokens, counting, vocabulary, parts, reusable_prefix_tokens, body }
    }
}

/// A set without its content, and its content where the viewer sees it.
fn set_info(view: &View<'_>, seen: SetView<'_>) -> (SetInfo, Option<Text>) {
    let held: &Held = seen.held();
    let text = matches!(seen, SetView::Whole(_)).then(|| held.set.content.clone());
    let info = SetInfo {
        name: held.set.name.clone(),
        content: None,
        visible_to: held.set.visible_to.clone(),
        hidden_from_agents: hidden_from_agents(held, &view.state.team).cloned().collect(),
        enabled: held.set.enabled,
        form: held.set.form.clone().filter(|_| text.is_some()),
        tokens: held.set.tokens,
        updated_at: held.updated_at,
    };
    (info, text)
}

fn with_content(info: SetInfo, text: Option<&Text>, values: &Values) -> SetInfo {
    SetInfo { content: text.and_then(|text| text.whole(values).ok().cloned()), ..info }
}

fn thread_info(view: &View<'_>, name: &ThreadId, thread: &Thread) -> ThreadInfo {
    ThreadInfo { name: name.clone(), visible_to: thread.sight.audience.clone(), size: view.size(thread) }
}

fn run_info(view: &View<'_>, run: &Run) -> RunInfo {
    RunInfo {
        id: run.id.clone(),
        kind: run.kind,
        status: run.status(),
        reason: view.reason(run),
        due: view.due(run),
        limits: run.limits.clone(),
        used: run.used_in_all,
        started_at: run.started_at,
    }
}
