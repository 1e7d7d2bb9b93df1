//! Context sets.

use callboard_api as api;
use callboard_core::{
    context_set::{DeleteSet, Held, PutSet, SetView, hidden_from_agents},
    id::SetName,
    text::Text,
    view::View,
};
use callboard_engine::Session;
use futures::{StreamExt, stream};

use super::{
    Answer, Authorized, CallError, Pages, WriteOptions,
    cursor::{self, After},
    rights::{ReadSets, WriteSets},
};

/// A page of context sets. Long contents are read while the list is.
pub(crate) struct ListedSets {
    pub(crate) sets: Pages<api::ContextSet>,
    /// The cursor of the next page, if there is one.
    pub(crate) next_cursor: Option<String>,
}

/// A context set as a viewer sees it, before a long content is read.
pub(crate) struct Seen {
    body: api::ContextSet,
    content: Option<Text>,
}

impl Seen {
    /// What `view` shows of a set.
    pub(crate) fn of(seen: SetView<'_>, view: &View<'_>) -> Self {
        let Held { set, updated_at, .. } = seen.held();
        let form = set.form.as_ref().map(|form| api::Form {
            name: set.name.clone(),
            fields: form.fields.clone(),
            answered: form.answered,
            answers: form.answers.clone(),
        });
        let is_whole = matches!(seen, SetView::Whole(_));
        let body = api::ContextSet {
            name: set.name.clone(),
            content: None,
            visible_to: set.visible_to.clone(),
            hidden_from_agents: hidden_from_agents(seen.held(), &view.state.team).cloned().collect(),
            enabled: set.enabled,
            form: form.filter(|_| is_whole),
            tokens: set.tokens,
            updated_at: *updated_at,
        };
        Self { body, content: is_whole.then(|| set.content.clone()) }
    }

    /// The same with its content, which is read from the store if it is long.
    pub(super) async fn whole(self, session: &Session) -> Result<api::ContextSet, CallError> {
        let Self { mut body, content } = self;
        if let Some(content) = content {
            body.content = Some(session.text(&content).await?);
        }
        Ok(body)
    }
}

impl Authorized<ReadSets> {
    pub(crate) async fn list_sets(&self, query: api::PageAtQuery) -> Result<ListedSets, CallError> {
        let after = After::read(query.cursor.as_deref())?;
        let limit = query.limit.unwrap_or(usize::MAX);
        let look = |view: View<'_>| {
            let sets = view.sets().filter(|set| after.is_before(set.held().set.name.as_str()));
            let sets = sets.take(limit.saturating_add(1));
            Ok(sets.map(|set| (set.held().set.name.clone(), Seen::of(set, &view))).collect::<Vec<_>>())
        };
        let mut sets = self.look_at(query.at, look).await?;
        let next_cursor = cursor::cut(&mut sets, limit, |(name, _)| name.as_str());
        let session = self.session.clone();
        let sets = stream::iter(sets).then(move |(_, set)| {
            let session = session.clone();
            async move { set.whole(&session).await.map(|set| vec![set]) }
        });
        Ok(ListedSets { sets: sets.boxed(), next_cursor })
    }

    pub(crate) async fn read_set(
        &self,
        name: SetName,
        query: api::AtQuery,
    ) -> Result<Answer<api::ContextSet>, CallError> {
        let seen = self.look_at(query.at, |view| Ok(Seen::of(view.set(&name)?, &view))).await?;
        Ok(Answer::ok(seen.whole(&self.session).await?))
    }
}

impl Authorized<WriteSets> {
    pub(crate) async fn put_set(
        &self,
        name: SetName,
        body: api::PutContextSet,
        options: WriteOptions,
    ) -> Result<Answer<api::PutContextSetAnswer>, CallError> {
        let api::PutContextSet { content, visible_to, enabled } = body;
        let put = PutSet { name: name.clone(), content, visible_to, enabled };
        let receipt = self.execute(options, put).await?;
        let look = |view: View<'_>| Ok(Seen::of(view.set(&name)?, &view));
        let seen = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        let outcome = Some(receipt.answer.outcome);
        Ok(Answer::ok(api::PutContextSetAnswer { set: seen.whole(&self.session).await?, outcome }).at(receipt.head))
    }

    pub(crate) async fn delete_set(&self, name: SetName, options: WriteOptions) -> Result<(), CallError> {
        self.execute(options, DeleteSet(name)).await?;
        Ok(())
    }
}
