//! What is kept of the connections of clients, so that any server goes on with them.

use std::sync::Arc;

use async_trait::async_trait;
use callboard_core::entry::Hash;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};
use serde_json::Value;

use crate::Scope;

/// How many bytes of what a client said are kept at the most: clients say some hundreds, and each connection is kept for a day.
const MOST_SAID: usize = 64 << 10;

/// Keeps what clients of the protocol's versions with sessions said when they connected. Servers that share it go on with each other's
/// connections, and with those of before a restart. Fails with what to tell people.
#[async_trait]
pub trait Connections: Send + Sync + 'static {
    /// Keeps what a client said, under the name of its connection, which is new.
    async fn keep(&self, name: &str, said: Value) -> Result<(), String>;

    /// Whether there is a connection with this name, which is used now.
    async fn is_kept(&self, name: &str) -> Result<bool, String>;

    /// What the client said.
    async fn said(&self, name: &str) -> Result<Option<Value>, String>;

    /// Ends a connection.
    async fn forget(&self, name: &str) -> Result<(), String>;
}

tokio::task_local! {
    /// Who makes the request that is answered now.
    pub(crate) static ASKING: Scope;
}

/// The name under which a connection is kept. It depends on who asks: nobody else finds the connection, whoever knows its id. The id
/// itself is kept nowhere.
pub(crate) fn name(id: &str, scope: &Scope) -> String {
    let Scope { headers, session, acting_as, offer } = scope;
    let mut text = format!("{id}\n{session:?}\n{acting_as:?}\n{offer:?}").into_bytes();
    for (header, value) in headers {
        text.push(b'\n');
        text.extend_from_slice(header.as_str().as_bytes());
        text.push(b' ');
        text.extend_from_slice(value.as_bytes());
    }
    Hash::of(&text).to_string()
}

/// The connections, as the protocol's library asks for them while a request is answered.
pub(crate) struct ConnectionStore(pub(crate) Arc<dyn Connections>);

#[async_trait]
impl SessionStore for ConnectionStore {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let said = self.0.said(&name_here(id)?).await?;
        Ok(said.map(serde_json::from_value).transpose()?.map(SessionState::new))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let mut said = state.initialize_params.clone();
        // It belongs to the request, not to the connection.
        said.meta = None;
        let said = serde_json::to_value(said)?;
        let bytes = said.to_string().len();
        if bytes > MOST_SAID {
            return Err(
                format!("the client said {bytes} bytes in `initialize`: {MOST_SAID} are kept at the most").into()
            );
        }
        self.0.keep(&name_here(id)?, said).await?;
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        self.0.forget(&name_here(id)?).await?;
        Ok(())
    }
}

fn name_here(id: &str) -> Result<String, String> {
    ASKING.try_with(|scope| name(id, scope)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header};

    use super::name;
    use crate::{Offer, Scope};

    #[test]
    fn a_connection_has_another_name_for_each_who_asks() {
        let token = |token: &'static str| {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(token))]);
            Scope { headers, ..Scope::default() }
        };
        let scopes = [
            Scope::default(),
            token("Bearer a"),
            token("Bearer b"),
            Scope { session: Some("s".parse().unwrap()), ..Scope::default() },
            Scope { acting_as: Some("s".parse().unwrap()), ..Scope::default() },
            Scope { offer: Offer::All, ..Scope::default() },
        ];
        let mut names: Vec<_> = scopes.iter().flat_map(|scope| [name("1", scope), name("2", scope)]).collect();
        assert_eq!(name("1", &token("Bearer a")), names[2], "the same each time");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 2 * scopes.len());
    }
}
