//! Forks: a session whose journal is the beginning of another's.

use callboard_core::{
    entry::{Entry, Hash, Head},
    error::Error as Refusal,
    id::{Seq, SessionId},
};
use callboard_store::Append;
use serde_json::Value;

use crate::{Board, Error, Session, live::PAGE};

impl Board {
    /// Makes a session whose journal is the first `at` entries of `session`, or all of them.
    pub async fn fork(&self, session: &Session, at: Option<Seq>, id: Option<SessionId>) -> Result<Session, Error> {
        let state = match at {
            Some(seq) => session.state_at(seq).await?,
            None => session.state().await?,
        };
        let settings = self.settings();
        let made = || {
            let random = u32::try_from(settings.random.next() % (1 << 31)).unwrap_or_default();
            SessionId::generate(settings.clock.now(), random)
        };
        let id = id.unwrap_or_else(made);
        let mut head = Head::default();
        while head.seq < state.head.seq {
            let entries = session.page(head.seq, state.head.seq, PAGE).await?;
            let Some(last) = entries.last().map(Entry::head) else { break };
            let hashes: Vec<_> = entries.iter().flat_map(|entry| stored(&entry.data)).collect();
            let values = session.values(hashes).await?.into_iter().collect();
            let expires_at = state.session.settings.ttl_seconds.expires_at(session.live.store.now().await?);
            let append = Append { session: id.clone(), expected: head, entries, values, expires_at };
            match self.store().append(append).await {
                Err(callboard_store::Error::Conflict { .. }) if head.seq == Seq::ZERO => {
                    return Err(Refusal::Conflict {
                        code: "session_exists",
                        what: format!("there is a session {id}"),
                        hint: "take another id, or leave it out to get a new one",
                    }
                    .into());
                }
                appended => appended?,
            }
            head = last;
        }
        self.session(&id).await
    }
}

/// The hashes of the long texts that the data of an entry speaks of.
pub(crate) fn stored(data: &str) -> Vec<Hash> {
    fn collect(value: &Value, hashes: &mut Vec<Hash>) {
        match value {
            Value::Object(fields) => {
                let is_text = fields.contains_key("size_bytes") && fields.contains_key("beginning");
                let hash = fields.get("sha256").filter(|_| is_text);
                hashes.extend(
                    hash.and_then(|hash| serde_json::from_value(hash.clone()).ok()).into_iter().collect::<Vec<Hash>>(),
                );
                fields.values().for_each(|value| collect(value, hashes));
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, hashes)),
            _ => {}
        }
    }
    let mut hashes = Vec::new();
    if let Ok(data) = serde_json::from_str(data) {
        collect(&data, &mut hashes);
    }
    hashes
}
