//! Threads.

use callboard_api as api;
use callboard_core::{
    conversation::PutThread,
    error::Error as Refusal,
    id::{AgentName, ThreadId},
    prompt::PartReport,
    view::View,
    viewer::Viewer,
};
use callboard_engine::{DEFAULT_WINDOW, PromptSpec};

use super::{
    Answer, Authorized, CallError, WriteOptions,
    cursor::{self, After},
    rights::{ChangeThread, ReadThreads},
};

impl Authorized<ReadThreads> {
    pub(crate) async fn list_threads(&self, query: api::PageQuery) -> Result<Answer<api::ThreadList>, CallError> {
        let after = After::read(query.cursor.as_deref())?;
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut threads = self
            .session
            .view(&self.viewer(), |view| {
                let threads = view.threads().filter(|(name, _)| after.is_before(name.as_str()));
                let threads = threads.take(limit.saturating_add(1));
                Ok(threads.map(|(name, thread)| api::Thread::seen(&view, name, thread)).collect::<Vec<_>>())
            })
            .await?;
        let next_cursor = cursor::cut(&mut threads, limit, |thread| thread.name.as_str());
        Ok(Answer::ok(api::ThreadList { threads, next_cursor }))
    }

    pub(crate) async fn measure_context(&self, thread: ThreadId) -> Result<Answer<api::ContextSize>, CallError> {
        let reader =
            self.session.view(&self.viewer(), |view| view.thread(&thread).map(|_| reader(&view, &thread))).await?;
        let Some(agent) = reader else {
            // No agent sees the thread, so there is no prompt: only its messages count.
            let size = self.session.view(&Viewer::User, |view| Ok(view.size(view.thread(&thread)?))).await?;
            let history =
                PartReport { name: "history".to_owned(), tokens: size.tokens, shortened: false, omitted: Vec::new() };
            return Ok(Answer::ok(api::ContextSize::new(size.tokens, vec![history], DEFAULT_WINDOW)));
        };
        let default_model = self.app.settings.runs.model.clone();
        let query = PromptSpec { agent: Some(agent), thread: Some(thread), default_model, ..PromptSpec::default() };
        let prompt = self.session.prompt(&query).await?;
        Ok(Answer::ok(api::ContextSize::new(prompt.tokens, prompt.parts, prompt.budget)))
    }
}

impl Authorized<ChangeThread> {
    pub(crate) async fn put_thread(
        &self,
        name: ThreadId,
        body: api::PutThread,
        options: WriteOptions,
    ) -> Result<Answer<api::Thread>, CallError> {
        let receipt = self.execute(options, PutThread { thread: name.clone(), visible_to: body.visible_to }).await?;
        let viewer = self.viewer();
        // A caller who has hidden the thread from itself still gets this answer.
        let look = |view: View<'_>| {
            let thread = view.state.threads.get(&name).ok_or_else(|| Refusal::not_found("thread", &name))?;
            Ok(api::Thread::seen(&view, &name, thread))
        };
        let body = self.session.view_at(&viewer, receipt.head, look).await?;
        Ok(Answer::ok(body).at(receipt.head))
    }
}

/// Whose prompt to measure: the calling agent's, else the manager's, else that of the first agent that sees the thread.
fn reader(view: &View<'_>, thread: &ThreadId) -> Option<AgentName> {
    if let Some(agent) = view.agent() {
        return Some(agent.clone());
    }
    let audience = &view.thread(thread).ok()?.sight.audience;
    let team = &view.state.team;
    let names = team.manager().map(|manager| &manager.name).into_iter().chain(team.names());
    let mut seeing = names.filter(|name| audience.contains(name));
    seeing.next().cloned()
}
