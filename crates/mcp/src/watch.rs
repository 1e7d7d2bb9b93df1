//! What happens in a session, as clients that subscribe are told of it.

use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use callboard_core::id::SessionId;
use eventsource_stream::{EventStream, Eventsource as _};
use futures::StreamExt as _;
use rmcp::{
    RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{Peer, SubscriptionSink},
};
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};

use crate::{
    Pieces,
    call::{ApiCall, Caller, Refusal},
    place::{Place, Resource},
};

/// How long changes are collected before a client is told of them, so that each resource is named once.
const COLLECTING: Duration = Duration::from_millis(100);
/// How long to wait before a stream that broke is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// The type of the event that tells an agent that entries which it sees say something else now.
const REWRITTEN: &str = "entries.changed";

/// Whom to tell.
pub(crate) enum Listener {
    /// A client of an earlier protocol, which subscribes resource by resource.
    Peer(Peer<RoleServer>),
    /// A request that listens.
    Sink(SubscriptionSink),
}

/// What a client is to be told.
#[derive(Debug, Default)]
struct News {
    changed: BTreeSet<String>,
    resources: bool,
    prompts: bool,
    tools: bool,
}

/// Tells a client what changes in a session, until it is gone. `subscribed` says which resources it wants to know of.
pub(crate) async fn watch(caller: &Caller, session: &str, listener: &Listener, subscribed: impl Fn() -> Vec<Resource>) {
    let Ok(head) = head(caller, session).await else { return };
    let mut events = Events { caller, session, after: head, open: None };
    let Ok(mut known) = known(caller, session).await else { return };
    // A client is told that it is listened for before this began: what changed in between is not known, so all may have.
    let is_new = matches!(listener, Listener::Sink(_));
    let changed = subscribed().into_iter().filter(|resource| resource.session == session);
    let changed = changed.map(|resource| resource.address()).collect();
    if listener.tell(News { changed, resources: is_new, prompts: is_new, tools: is_new }).await.is_err() {
        return;
    }
    loop {
        let mut news = News::default();
        let Ok(event) = events.next().await else { return };
        news.read(&event, session, &mut known, &subscribed);
        let told_at = Instant::now() + COLLECTING;
        loop {
            tokio::select! {
                () = sleep_until(told_at) => break,
                event = events.next() => match event {
                    Ok(event) => news.read(&event, session, &mut known, &subscribed),
                    Err(_) => break,
                },
            }
        }
        if listener.tell(news).await.is_err() {
            return;
        }
    }
}

/// The number of the newest entry.
async fn head(caller: &Caller, session: &str) -> Result<String, Refusal> {
    let known = caller.ask(ApiCall::get(session, &[])).await?;
    Ok(known.get("head").map(Value::to_string).unwrap_or_default())
}

/// The addresses of what there is to read.
async fn known(caller: &Caller, session: &str) -> Result<HashSet<String>, Refusal> {
    let mut caller = caller.clone();
    caller.scope.session = SessionId::try_from(session.to_owned()).ok();
    Ok(caller.resources().await?.resources.into_iter().map(|resource| resource.uri).collect())
}

impl News {
    fn read(
        &mut self,
        (kind, data): &(String, Value),
        session: &str,
        known: &mut HashSet<String>,
        subscribed: &impl Fn() -> Vec<Resource>,
    ) {
        let changed = subscribed().into_iter().filter(|resource| resource.session == session);
        let changed = changed.filter(|resource| resource.place.is_changed_by(kind, data));
        self.changed.extend(changed.map(|resource| resource.address()));
        if let Some(place) = Place::of_entry(kind, data) {
            let address = place.address(session);
            let is_gone = kind.ends_with(".deleted") || kind.ends_with(".removed");
            self.resources |= if is_gone { known.remove(&address) } else { known.insert(address) };
        }
        self.prompts |= kind == "agent.added" || kind == "agent.removed";
        self.tools |= kind == "session.updated" || kind.starts_with("agent.");
    }
}

impl Listener {
    async fn tell(&self, news: News) -> Result<(), ()> {
        for address in news.changed {
            match self {
                Self::Peer(peer) => {
                    let told = ResourceUpdatedNotificationParam::new(address);
                    peer.notify_resource_updated(told).await.map_err(drop)?;
                }
                Self::Sink(sink) => drop(sink.notify_resource_updated(address).await),
            }
        }
        // What a request did not ask for is not sent to it.
        match self {
            Self::Peer(peer) => {
                if news.resources {
                    peer.notify_resource_list_changed().await.map_err(drop)?;
                }
                if news.prompts {
                    peer.notify_prompt_list_changed().await.map_err(drop)?;
                }
                if news.tools {
                    peer.notify_tool_list_changed().await.map_err(drop)?;
                }
            }
            Self::Sink(sink) => {
                if news.resources {
                    drop(sink.notify_resource_list_changed().await);
                }
                if news.prompts {
                    drop(sink.notify_prompt_list_changed().await);
                }
                if news.tools {
                    drop(sink.notify_tool_list_changed().await);
                }
            }
        }
        Ok(())
    }
}

/// The events of a session from now on, across broken connections.
struct Events<'a> {
    caller: &'a Caller,
    session: &'a str,
    /// The number of the last entry that came.
    after: String,
    open: Option<EventStream<Pieces>>,
}

impl Events<'_> {
    /// The type and the data of the next event. Fails where the session cannot be followed any more. Dropping the future loses
    /// nothing.
    async fn next(&mut self) -> Result<(String, Value), Refusal> {
        loop {
            let Some(open) = &mut self.open else {
                match self.connect().await {
                    Ok(open) => self.open = Some(open),
                    Err(refusal) if refusal.status.is_client_error() => return Err(refusal),
                    Err(_) => sleep(AGAIN).await,
                }
                continue;
            };
            match open.next().await {
                // What is not stored has no number. Nearly all of it changes nothing that can be read.
                Some(Ok(event)) if event.id.is_empty() && event.event != REWRITTEN => {}
                Some(Ok(event)) => {
                    if !event.id.is_empty() {
                        self.after = event.id;
                    }
                    let entry: Value = serde_json::from_str(&event.data).unwrap_or_default();
                    return Ok((event.event, entry.get("data").cloned().unwrap_or_default()));
                }
                Some(Err(_)) | None => {
                    self.open = None;
                    sleep(AGAIN).await;
                }
            }
        }
    }

    async fn connect(&mut self) -> Result<EventStream<Pieces>, Refusal> {
        let call = ApiCall::get(self.session, &["events"]).query("after", &self.after);
        Ok(self.caller.begin(call).await?.eventsource())
    }
}
