//! Feeds: the items of an open stream, for server-sent events and WebSockets.

use std::sync::Arc;

use callboard_api::{DELTA, Delta, FollowQuery, words};
use callboard_core::{
    conversation::facts::MessageAdded, entry::Hash, error::Error as Refusal, fact::Fact, id::Seq, state::State,
    view::Projected, viewer::Viewer,
};
use callboard_engine::{Ephemeral, Error, Filter, Listener, Session, Subscription};

use super::{Authorized, CallError, message::roles, rights::Rank};
use crate::app::App;

/// An open stream. It ends with the server, with the session, or with the caller's right to read it.
pub(crate) struct Feed {
    app: App,
    session: Session,
    subscription: Subscription,
    deltas: Option<Listener>,
    admission: Admission,
}

/// Why the caller was let in.
struct Admission {
    viewer: Viewer,
    token: Option<Hash>,
    /// Whether the caller is the user or the manager.
    in_charge: bool,
}

/// An item of a stream.
pub(crate) enum Item {
    /// An entry.
    Entry(Projected),
    /// A piece of a model's answer. It is not stored and not sent again.
    Delta(Delta),
}

impl Feed {
    /// Opens a stream. `last` is the last entry that a caller has who reconnects.
    pub(crate) async fn open<R>(
        caller: &Authorized<R>,
        query: FollowQuery,
        last: Option<Seq>,
    ) -> Result<Self, CallError> {
        let types: Vec<Arc<str>> = words(query.types.as_deref()).map(Arc::from).collect();
        let roles = roles(query.roles.as_deref())?;
        let wants_deltas = if types.is_empty() {
            roles.is_empty() && query.thread.is_none()
        } else {
            types.iter().any(|kind| **kind == *DELTA)
        };
        if !roles.is_empty() && !types.is_empty() && !types.iter().any(|kind| **kind == *MessageAdded::TYPE) {
            return Err(Refusal::contradiction(
                "/roles",
                "only entries of the type message.added have a role: leave `roles` out, or add this type to `types`",
            )
            .into());
        }
        let viewer = caller.viewer();
        let in_charge = caller.rank >= Rank::Manager;
        let deltas = if wants_deltas && in_charge { Some(caller.session.listen(&viewer).await?) } else { None };
        let filter = Filter { types, thread: query.thread, roles };
        let after = last.or(query.after.map(Seq));
        let subscription = caller.session.subscribe(viewer.clone(), after, filter).await?;
        caller.app.metrics.streams.up();
        let admission = Admission { viewer, token: caller.token, in_charge };
        Ok(Self { app: caller.app.clone(), session: caller.session.clone(), subscription, deltas, admission })
    }

    /// The next item; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Item> {
        loop {
            let Self { app, session, subscription, deltas, admission } = self;
            let ended = session.when(|state| (!admission.holds(state)).then_some(()));
            tokio::select! {
                biased;
                () = app.closing.cancelled() => return None,
                _ = ended => return None,
                entry = subscription.next() => return match entry {
                    Ok(Some(entry)) => match hidden(session, &admission.viewer, entry).await {
                        Ok(entry) => Some(Item::Entry(entry)),
                        Err(error) => {
                            tracing::info!(session = %session.id(), %error, "a stream ends");
                            None
                        }
                    },
                    Ok(None) => None,
                    Err(error) => {
                        // The client reconnects with the number of its last entry, and then gets the error.
                        tracing::info!(session = %session.id(), %error, "a stream ends");
                        None
                    }
                },
                delta = hear(deltas) => match delta {
                    Some(delta) => return Some(Item::Delta(delta)),
                    None => *deltas = None,
                },
            }
        }
    }

    /// The server whose stream it is.
    pub(crate) fn app(&self) -> &App {
        &self.app
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.app.metrics.streams.down();
    }
}

impl Admission {
    /// Whether the caller would still be let in with the same rights.
    fn holds(&self, state: &State) -> bool {
        let known = |token: &Hash| state.tokens.actor(*token, &state.team).is_some();
        // User tokens of the server do not change while it runs.
        let of_session = self.token.as_ref().is_none_or(known);
        of_session
            && match &self.viewer {
                Viewer::User => true,
                Viewer::Agent(name) => {
                    let is_manager = state.team.manager().is_some_and(|manager| manager.name == *name);
                    state.team.agent(name).is_ok() && is_manager == self.in_charge
                }
            }
    }
}

/// An entry without the secrets that were said in it before they were known as such.
async fn hidden(session: &Session, viewer: &Viewer, entry: Projected) -> Result<Projected, Error> {
    let mask = session.reading_mask(viewer).await?;
    let data = mask.and_then(|mask| mask.hide_in_json(&entry.data));
    Ok(Projected { data: data.map_or_else(|| entry.data.clone(), Arc::from), ..entry })
}

/// The next piece of a model's answer. Pieces that arrived too fast are skipped.
async fn hear(deltas: &mut Option<Listener>) -> Option<Delta> {
    let Some(deltas) = deltas else { return std::future::pending().await };
    let Ephemeral::Delta { run, turn, agent, text } = deltas.next().await?;
    Some(Delta { run, turn, agent, text })
}
