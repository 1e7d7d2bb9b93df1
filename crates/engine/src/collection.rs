//! Collections: documents that sessions share. Each is a journal of its own, which is not listed as a session.

use std::io::{BufRead, Seek};

use callboard_core::{
    collection::{CollectionInfo, NewCollection},
    error::Error as Refusal,
    id::{CollectionName, SessionId},
    session::SessionKind,
};

use crate::{board::Board, error::Error, session::Session, transfer::create::exists};

/// How many journals are listed at once.
const PAGE: usize = 256;

impl Board {
    /// The collection of this name. What is called a session there is the journal of the collection.
    pub async fn collection(&self, name: &CollectionName) -> Result<Session, Error> {
        Ok(self.find_collection(name).await?.ok_or_else(|| Refusal::not_found("collection", name))?)
    }

    /// The collection of this name, if there is one.
    pub(crate) async fn find_collection(&self, name: &CollectionName) -> Result<Option<Session>, Error> {
        let found = self.open(&name.journal()).await;
        match found.and_then(|found| Ok((found.known()?.session.kind, found))) {
            Ok((SessionKind::Collection, found)) => Ok(Some(found)),
            Ok((SessionKind::Session, _)) | Err(Error::NoSession { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The collection of this name, which is made if there is none.
    pub async fn put_collection(&self, name: &CollectionName) -> Result<Session, Error> {
        if let Some(there) = self.find_collection(name).await? {
            return Ok(there);
        }
        let new = NewCollection { name: name.clone(), salt: self.settings().random.next() };
        match self.create_as(name.journal(), &new).await {
            // Somebody else made it at this moment, or it is a session with this id.
            Err(error) if error.is_conflict() => self.collection(name).await.map_err(|_| exists(Some(name.journal()))),
            made => made,
        }
    }

    /// The collections behind `after`, by name, at most `limit`. One that this program cannot read is left out, and the log says so.
    pub async fn collections(
        &self,
        after: Option<&CollectionName>,
        limit: usize,
    ) -> Result<Vec<CollectionInfo>, Error> {
        let mut infos = Vec::new();
        let first = SessionId::before_collections();
        let mut last = after.map_or_else(|| first.clone(), CollectionName::journal);
        loop {
            let page = self.store().journals(Some(&last), PAGE).await?;
            for (id, _) in &page {
                if infos.len() == limit || !id.as_str().starts_with(first.as_str()) {
                    return Ok(infos);
                }
                let Some(name) = id.as_collection() else { continue };
                infos.extend(self.listed_collection(name).await?);
            }
            match page.last() {
                Some((id, _)) => last = id.clone(),
                None => return Ok(infos),
            }
        }
    }

    async fn listed_collection(&self, name: CollectionName) -> Result<Option<CollectionInfo>, Error> {
        match self.load(&name.journal()).await {
            Ok((loaded, _)) if loaded.state.session.kind == SessionKind::Collection => {
                Ok(Some(CollectionInfo::of(name, &loaded.state)))
            }
            Ok(_) | Err(Error::NoSession { .. }) => Ok(None),
            Err(Error::Refused(error @ (Refusal::WrittenByNewer { .. } | Refusal::Damaged { .. }))) => {
                tracing::warn!(collection = %name, %error, "a collection is left out of the list");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes all there is of a collection. Sessions that name it find nothing in it from then on.
    pub async fn delete_collection(&self, name: &CollectionName) -> Result<(), Error> {
        self.collection(name).await?;
        match self.remove(&name.journal()).await {
            Err(Error::NoSession { .. }) => Err(Refusal::not_found("collection", name).into()),
            removed => removed,
        }
    }

    /// Makes a collection of an [`export`](crate::Export) of one, as [`import`](Self::import) does a session.
    pub async fn import_collection<R>(&self, export: R, name: &CollectionName, again: bool) -> Result<Session, Error>
    where
        R: BufRead + Seek + Send + 'static,
    {
        self.import_to(export, Some(name.journal()), SessionKind::Collection, again).await
    }
}
