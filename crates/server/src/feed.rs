//! Feeds: the items of an open stream, for server-sent events and WebSockets.

use std::sync::Arc;

use callboard_api::{DELTA, FollowQuery, REWRITTEN, words};
use callboard_core::{
    browser::{CHANGED, NOTICED},
    conversation::facts::{MessageAdded, thread_subject},
    entry::Hash,
    error::Error as Refusal,
    fact::Fact,
    id::{AgentName, Seq},
    json::value_of,
    rights::Share,
    state::State,
    view::Projected,
};
use callboard_engine::{Ephemeral, Filter, Listener, Session, Subscription};
use serde_json::{Value, json};

use crate::{call_error::CallError, caller::Authorized, metrics::Counted, params::roles, rights::ReadJournal};

/// An open stream. It ends with the server, with the session, or with the caller's right to read it.
pub(crate) struct Feed {
    pub(crate) caller: Authorized<ReadJournal>,
    _open: Counted,
    subscription: Subscription,
    heard: Option<Listener>,
    /// The types of what is not stored that the caller wants.
    heard_types: Vec<&'static str>,
    /// The last entry that changed what older ones say, as far as the caller was told. The user gets these entries themselves.
    rewritten: Seq,
}

/// An item of a stream.
pub(crate) enum FeedItem {
    /// An entry.
    Entry(Projected),
    /// What is not stored and not sent again: a piece of a model's answer, what happened in the browser, or that older entries
    /// have changed.
    Heard {
        /// The type.
        kind: &'static str,
        /// More of it, as JSON.
        data: Value,
    },
}

impl Feed {
    /// Opens a stream. `last` is the last entry that a caller has who reconnects.
    pub(crate) async fn open(
        caller: Authorized<ReadJournal>,
        query: FollowQuery,
        last: Option<Seq>,
    ) -> Result<Self, CallError> {
        let types: Vec<Arc<str>> = words(query.types.as_deref()).map(Arc::from).collect();
        let roles = roles(query.roles.as_deref())?;
        let wanted = |kind: &&str| match types.is_empty() {
            true => roles.is_empty() && query.thread.is_none(),
            false => types.iter().any(|wanted| **wanted == **kind),
        };
        let heard_types: Vec<_> = [DELTA, CHANGED, NOTICED, REWRITTEN].into_iter().filter(wanted).collect();
        if !roles.is_empty() && !types.is_empty() && !types.iter().any(|kind| **kind == *MessageAdded::TYPE) {
            return Err(Refusal::contradiction(
                "/roles",
                "only entries of the type message.added have a role: leave `roles` out, or add this type to `types`",
            )
            .into());
        }
        let viewer = caller.viewer();
        let may_hear =
            caller.in_charge || caller.session.view(&viewer, |view| Ok(view.may_see(Share::Browser))).await?;
        let listens = may_hear && !heard_types.is_empty();
        let heard = if listens { Some(caller.session.listen(&viewer).await?) } else { None };
        let subject = query.thread.map(|thread| thread_subject(&thread).into());
        let filter = Filter { types, subject, roles, ..Filter::default() };
        let after = last.or(query.after.map(Seq));
        let rewritten = after.unwrap_or(caller.session.known()?.erased);
        let subscription = caller.session.subscribe(viewer, after, filter).await?;
        let open = caller.app.metrics.streams.open();
        Ok(Self { caller, _open: open, subscription, heard, heard_types, rewritten })
    }

    /// The next item; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<FeedItem> {
        loop {
            let Self { caller, subscription, heard, heard_types, rewritten, .. } = self;
            let caller = &*caller;
            let (app, session) = (&caller.app, &caller.session);
            let ended = session.when(|state| (!is_let_in(caller, state)).then_some(()));
            let changed = session.when(|state| (state.erased > *rewritten).then_some(state.erased));
            let is_told = !caller.is_user() && heard_types.contains(&REWRITTEN);
            tokio::select! {
                biased;
                () = app.closing.cancelled() => return None,
                _ = ended => return None,
                Some(seq) = changed, if is_told => match session.sees_change(&caller.viewer(), *rewritten, seq).await {
                    // Where this is dropped before, it is looked for again.
                    Ok(is_seen) => {
                        *rewritten = seq;
                        if is_seen {
                            return Some(FeedItem::Heard { kind: REWRITTEN, data: json!({}) });
                        }
                    }
                    Err(error) => {
                        tracing::info!(session = %session.id(), %error, "a stream ends");
                        return None;
                    }
                },
                entry = subscription.next() => return match entry {
                    Ok(entry) => entry.map(FeedItem::Entry),
                    Err(error) => {
                        // The client reconnects with the number of its last entry, and then gets the error.
                        tracing::info!(session = %session.id(), %error, "a stream ends");
                        None
                    }
                },
                event = hear(heard) => match event {
                    Some(event) if heard_types.contains(&kind(&event)) => {
                        let kind = kind(&event);
                        return Some(FeedItem::Heard { kind, data: told(session, event).await });
                    }
                    Some(_) => {}
                    None => *heard = None,
                },
            }
        }
    }
}

/// Whether a caller would still be let in with the same rights.
fn is_let_in(caller: &Authorized<ReadJournal>, state: &State) -> bool {
    let is_known = |token: Hash| state.tokens.actor(token, &state.team, caller.app.now()).is_some();
    let is_same = |name: &AgentName| {
        let is_manager = state.team.manager().is_some_and(|manager| manager.name == *name);
        state.team.agent(name).is_ok() && is_manager == caller.in_charge
    };
    // User tokens of the server do not change while it runs.
    caller.token.is_none_or(is_known) && caller.agent().is_none_or(is_same)
}

/// The next of what is not stored. What arrived too fast is skipped.
async fn hear(heard: &mut Option<Listener>) -> Option<Ephemeral> {
    match heard {
        Some(heard) => heard.next().await,
        None => std::future::pending().await,
    }
}

/// The type of what was heard.
fn kind(event: &Ephemeral) -> &'static str {
    match event {
        Ephemeral::Delta(_) => DELTA,
        Ephemeral::Browser { kind, .. } => kind,
    }
}

/// What was heard, as this viewer is told of it: without secrets. What cannot be searched for them is left out.
async fn told(session: &Session, event: Ephemeral) -> Value {
    match event {
        // It has none: they were hidden as it came. It is made of names and texts.
        Ephemeral::Delta(delta) => value_of(&delta),
        Ephemeral::Browser { data, .. } => match session.mask().await {
            Ok(mask) => {
                let mut data = (*data).clone();
                mask.mask_json(&mut data);
                data
            }
            Err(_) => Value::Null,
        },
    }
}
