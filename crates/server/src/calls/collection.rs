//! Collections. What is done with the documents of one is done as in a session.

use std::{fs::File, io::BufReader};

use callboard_api as api;
use callboard_core::{entry::Actor, id::CollectionName};
use callboard_engine::{Board, CollectionInfo, Error, Session};

use super::{
    Answer, Authorized, AuthorizedOnServer, CallError, WriteOptions, cursor,
    idempotency::Attempt,
    rights::{ListCollections, MakeCollections, ReadCollection},
};

/// How many collections are on a page at most.
const LIMIT: usize = 1000;

fn listed(info: CollectionInfo) -> api::Collection {
    let CollectionInfo { name, head, documents, size_bytes, tokens, created_at, updated_at } = info;
    api::Collection { name, documents, size_bytes, tokens, head, created_at, updated_at }
}

/// A collection as it is now.
async fn shown(name: &CollectionName, collection: &Session) -> Result<api::Collection, CallError> {
    Ok(listed(CollectionInfo::of(name.clone(), &*collection.state().await?)))
}

/// Refuses collections that are not there.
pub(super) async fn check_collections(board: &Board, names: &[CollectionName]) -> Result<(), CallError> {
    for name in names {
        if let Err(error) = board.collection(name).await {
            let error = CallError::from(error);
            return Err(if error.code == "not_found" { error.hint(MAKE_IT) } else { error });
        }
    }
    Ok(())
}

const MAKE_IT: &str = "make it with `PUT /v1/collections/NAME` or `callboard collection create NAME`";

impl AuthorizedOnServer<ListCollections> {
    pub(crate) async fn list_collections(
        &self,
        query: api::PageQuery,
    ) -> Result<Answer<api::CollectionList>, CallError> {
        let limit = query.limit.unwrap_or(LIMIT).min(LIMIT);
        let after = query.cursor.as_deref().map(cursor::collection).transpose()?;
        let mut infos = self.app.board.collections(after.as_ref(), limit.saturating_add(1)).await?;
        let next_cursor = cursor::cut(&mut infos, limit, |info| info.name.as_str());
        let collections = infos.into_iter().map(listed).collect();
        Ok(Answer::ok(api::CollectionList { collections, next_cursor }))
    }
}

impl Authorized<ReadCollection> {
    pub(crate) async fn read_collection(&self, name: &CollectionName) -> Result<Answer<api::Collection>, CallError> {
        Ok(Answer::ok(shown(name, &self.session).await?))
    }
}

impl AuthorizedOnServer<MakeCollections> {
    /// Makes a collection, unless there is one of this name.
    pub(crate) async fn put_collection(
        &self,
        name: CollectionName,
        options: WriteOptions,
    ) -> Result<Answer<api::Collection>, CallError> {
        let board = &self.app.board;
        let put = async |_: Attempt<()>| shown(&name, &board.put_collection(&name).await?).await;
        Ok(Answer::ok(self.app.idempotent(Actor::User, &options, None, (), put).await?))
    }

    pub(crate) async fn delete_collection(&self, name: CollectionName, options: WriteOptions) -> Result<(), CallError> {
        let delete = async |attempt: Attempt<()>| match self.app.board.delete_collection(&name).await {
            Err(error) if attempt.is_repeat && error.code() == "not_found" => Ok(()),
            deleted => Ok(deleted?),
        };
        self.app.idempotent(Actor::User, &options, None, (), delete).await
    }

    /// Makes a collection of an export of one. Nothing is stored unless all of it is valid.
    pub(crate) async fn import_collection(
        &self,
        name: CollectionName,
        export: File,
        options: WriteOptions,
    ) -> Result<Answer<api::Collection>, CallError> {
        let board = &self.app.board;
        let import = async |attempt: Attempt<()>| {
            let collection = board.import_collection(BufReader::new(export), &name, attempt.is_repeat).await;
            shown(&name, &collection.map_err(in_use)?).await
        };
        Ok(Answer::ok(self.app.idempotent(Actor::User, &options, None, (), import).await?))
    }
}

/// Says that it is a collection that is there already.
fn in_use(error: Error) -> CallError {
    let error = CallError::from(error);
    match error.code {
        "session_exists" => CallError::new(error.code, "there is a collection of this name")
            .hint("import it under another name, or delete that one first"),
        _ => error,
    }
}
