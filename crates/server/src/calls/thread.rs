//! Threads.

use callboard_api as api;
use callboard_core::{error::Error as Refusal, id::ThreadId, view::View};

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
}

impl Authorized<ChangeThread> {
    pub(crate) async fn put_thread(
        &self,
        name: ThreadId,
        body: api::PutThread,
        options: WriteOptions,
    ) -> Result<Answer<api::Thread>, CallError> {
        let receipt = self.execute(options, body.command(name.clone())).await?;
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
