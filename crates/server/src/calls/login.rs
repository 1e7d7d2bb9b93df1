//! Who a caller is.

use callboard_api as api;
use callboard_core::entry::Actor;

use super::{CallError, Credentials, caller::unknown};
use crate::{app::App, secret};

impl Credentials {
    /// The credentials behind a token. Whether they are valid is not known yet.
    pub(crate) fn of(app: &App, token: &str) -> Self {
        match app.user_tokens.contains(&secret::hash(token)) {
            true => Self::User,
            false => Self::Token(token.to_owned()),
        }
    }

    /// Who has these credentials.
    pub(crate) async fn me(&self, app: &App) -> Result<api::Me, CallError> {
        let login = !app.user_tokens.is_empty();
        let Self::Token(token) = self else {
            return Ok(api::Me { name: "user".to_owned(), role: None, session: None, login });
        };
        let id = secret::session_of(token).ok_or_else(unknown)?;
        let (_, state, actor) = self.enter(app, &id).await?;
        let (name, role) = match actor {
            Actor::Agent(name) => (name.to_string(), Some(state.team.agent(&name)?.role)),
            Actor::User | Actor::System => ("user".to_owned(), None),
        };
        Ok(api::Me { name, role, session: Some(id), login })
    }
}
