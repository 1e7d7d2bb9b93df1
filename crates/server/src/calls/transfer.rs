//! Export and import of sessions.

use std::{fs::File, io::BufReader};

use callboard_api as api;
use callboard_core::{entry::Actor, id::SessionId};
use futures::{StreamExt, stream};

use super::{
    Answer, Authorized, AuthorizedOnServer, CallError, Pages, WriteOptions,
    idempotency::Attempt,
    rights::{ExportSession, ImportSession},
    session::created,
};
use crate::app::App;

impl Authorized<ExportSession> {
    /// Each text has several lines.
    pub(crate) async fn export_session(&self) -> Result<Pages<String>, CallError> {
        let export = self.session.export().await?;
        let lines = stream::try_unfold(export, async |mut export| {
            let lines = export.next().await?;
            Ok(lines.map(|lines| (vec![lines], export)))
        });
        Ok(lines.boxed())
    }
}

impl AuthorizedOnServer<ImportSession> {
    /// Imports a session from an export. Nothing is stored unless all of it is valid.
    pub(crate) async fn import_session(
        &self,
        query: api::ImportQuery,
        export: File,
        options: WriteOptions,
    ) -> Result<Answer<api::Session>, CallError> {
        let import = |attempt| import(&self.app, export, query.id, attempt);
        Ok(Answer::ok(self.app.idempotent(Actor::User, &options, None, (), import).await?))
    }
}

async fn import(
    app: &App,
    export: File,
    id: Option<SessionId>,
    attempt: Attempt<()>,
) -> Result<api::Session, CallError> {
    let (board, export) = (&app.board, BufReader::new(export));
    let session =
        if attempt.is_repeat { board.import_again(export, id).await? } else { board.import(export, id).await? };
    created(app, &session).await
}
