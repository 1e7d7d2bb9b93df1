//! A session: what can be done with it, and what can be read of it.

use std::{collections::BTreeSet, sync::Arc};

use callboard_core::{
    command::Command,
    conversation::AddMessages,
    entry::{Actor, Entry, Hash},
    error::Error as Refusal,
    id::{Seq, SessionId},
    rights::Share,
    state::State,
    text::{MAX_BYTES, Values},
    time::Timestamp,
    view::View,
    viewer::Viewer,
};
use tokio::sync::broadcast;

use crate::{
    blocking::off_runtime,
    error::Error,
    export::Export,
    journal::{self, read},
    live::{
        job::{Ephemeral, Job, Receipt, Waiting},
        open::OpenSessions,
        past::NEAR,
        session::Live,
    },
    session_info::SessionInfo,
    sizes::sizes,
    texts::damaged,
    upkeep::snapshot,
};

/// How many unstored events wait for a slow listener.
const EPHEMERAL: usize = 1024;

/// A session of a board. Its clones are the same session.
#[derive(Clone)]
pub struct Session {
    pub(crate) live: Arc<Live>,
    /// The board goes on as long as somebody has a session of it: streams rely on its upkeep.
    pub(crate) _board: Arc<OpenSessions>,
}

impl Session {
    /// Its name.
    pub fn id(&self) -> &SessionId {
        &self.live.id
    }

    /// The state as it is in the store now, also where another process wrote it.
    pub async fn state(&self) -> Result<Arc<State>, Error> {
        self.live.current().await
    }

    /// The time of the store.
    pub async fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.live.store.now().await?)
    }

    /// The state as this board saw it last, without a look at the store.
    pub fn known(&self) -> Result<Arc<State>, Error> {
        self.live.known()
    }

    /// The state as of the entry `seq`.
    pub async fn state_at(&self, seq: Seq) -> Result<Arc<State>, Error> {
        let now = self.state().await?;
        if seq == now.head.seq {
            return Ok(now);
        }
        if seq == Seq::ZERO || seq > now.head.seq {
            return Err(Refusal::NoEntry { seq, head: now.head.seq }.into());
        }
        let (store, past) = (&*self.live.store, &self.live.past);
        let from = match past.up_to(seq, &now) {
            Some(near) if seq.0 - near.head.seq.0 <= NEAR => near,
            known => {
                let snapshot = snapshot::kept(store, self.id(), seq).await?;
                known.into_iter().chain(snapshot).max_by_key(|state| state.head.seq).unwrap_or_default()
            }
        };
        let mut collected = past.collect(&now);
        let loaded = snapshot::load_from(from, store, self.id(), seq, |state| collected.take(state)).await?;
        self.live.confirm(&now).await?;
        let loaded = loaded.ok_or_else(|| self.live.gone())?;
        // Where older entries were changed meanwhile, nobody knows which of the states saw that.
        if !collected.is_empty() && self.live.refresh().await?.erased == now.erased {
            past.keep(collected, &now);
        }
        Ok(Arc::new(loaded.state))
    }

    /// The whole current session as lines of JSON.
    pub async fn export(&self) -> Result<Export, Error> {
        Ok(Export::of(self.live.store.clone(), self.id().clone(), &*self.state().await?))
    }

    /// What is known of it.
    pub async fn info(&self) -> Result<SessionInfo, Error> {
        let (state, row) = self.live.current_with_row().await?;
        Ok(SessionInfo::of(self.id().clone(), &state, row))
    }

    /// Executes a command: its entries are durable and published when it is answered.
    pub async fn execute<C: Command>(&self, by: impl Into<Actor>, command: C) -> Result<Receipt<C::Answer>, Error> {
        self.execute_at(by, None, command).await
    }

    /// Executes a command, where the head is `expected`: otherwise it is refused as [`Error::Stale`].
    pub async fn execute_at<C: Command>(
        &self,
        by: impl Into<Actor>,
        expected: Option<Seq>,
        command: C,
    ) -> Result<Receipt<C::Answer>, Error> {
        count_before(&command).await?;
        let (by, before) = (by.into(), self.live.known()?.erased);
        let job = |answer| Job::Execute(Box::new(Waiting { by, command, expected, decided: None, answer }));
        let receipt = self.live.ask(job).await?;
        // Once it is answered, what older entries do not say any more is not in the index either.
        if self.live.known().is_ok_and(|state| state.erased != before) {
            Box::pin(self.forget_changed()).await?;
        }
        Ok(receipt)
    }

    /// Adds one message that is a text, and says where it is.
    pub async fn say(
        &self,
        by: impl Into<Actor>,
        thread: &callboard_core::id::ThreadId,
        message: callboard_core::conversation::NewMessage,
    ) -> Result<Seq, Error> {
        let receipt = self.execute(by, AddMessages { thread: thread.clone(), messages: vec![message] }).await?;
        Ok(receipt.answer.first().map_or(receipt.head, |message| message.seq))
    }

    /// Looks at the session through the eyes of `viewer`.
    pub async fn view<T>(
        &self,
        viewer: &Viewer,
        look: impl FnOnce(View<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Error> {
        let state = self.state().await?;
        Ok(look(View::new(&state, viewer, sizes())?)?)
    }

    /// The entry `seq`, whoever may see it.
    pub async fn entry(&self, seq: Seq) -> Result<Option<Entry>, Error> {
        Ok(journal::entry(&*self.live.store, self.id(), seq).await?)
    }

    /// The entries after `after` up to `through`, at most `limit`, whoever may see them.
    pub(crate) async fn page(&self, after: Seq, through: Seq, limit: usize) -> Result<Vec<Entry>, Error> {
        Ok(read(&*self.live.store, self.id(), after, through, limit).await?)
    }

    /// Waits until `found` finds what it looks for in the state; `None` where the session goes before that.
    pub async fn when<T>(&self, mut found: impl FnMut(&State) -> Option<T>) -> Option<T> {
        let mut states = self.live.published();
        loop {
            let state = states.borrow_and_update().clone().ok()?;
            if let Some(found) = found(&state) {
                return Some(found);
            }
            states.changed().await.ok()?;
        }
    }

    /// Reads the long texts with these hashes.
    pub async fn values(&self, hashes: impl IntoIterator<Item = Hash>) -> Result<Values, Error> {
        let mut values = Values::new();
        for hash in hashes.into_iter().collect::<BTreeSet<_>>() {
            let Some(text) = self.live.store.value(self.id(), hash).await? else {
                // Where the session has gone or the text was erased meanwhile, that is why.
                let erased = self.live.refresh().await?.erased;
                let session = self.id().clone();
                let missing = || Error::damaged("a long text", format!("the one with the hash {hash} is not there"));
                return Err(if erased.is_zero() { missing() } else { Error::Busy { session } });
            };
            values.insert(hash, text);
        }
        Ok(values)
    }

    /// Reads long texts, each of the entry behind it, as of a state with this [`erased`](State::erased). Where the
    /// store has lost one or cannot read it, a note that says so stands in its place.
    pub async fn values_or_notes(
        &self,
        texts: impl IntoIterator<Item = (Hash, Seq)>,
        erased: Seq,
    ) -> Result<Values, Error> {
        let mut values = Values::new();
        for (hash, seq) in texts {
            if let std::collections::btree_map::Entry::Vacant(place) = values.entry(hash) {
                place.insert(self.long_text(hash, erased).await?.unwrap_or_else(|| damaged(seq)));
            }
        }
        Ok(values)
    }

    /// A long text; `None` where the store has lost it or cannot read it, which costs no more than that.
    pub(crate) async fn long_text(&self, hash: Hash, erased: Seq) -> Result<Option<Arc<str>>, Error> {
        match self.live.store.value(self.id(), hash).await {
            Ok(Some(text)) => return Ok(Some(text)),
            Ok(None) | Err(callboard_store::Error::Damaged { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        // Where the session has gone or the text was erased meanwhile, that is why.
        if self.live.refresh().await?.erased != erased {
            return Err(Error::Busy { session: self.id().clone() });
        }
        tracing::error!(session = %self.id(), %hash, "a long text is damaged: run `callboard doctor`");
        Ok(None)
    }

    /// What a set says, whole.
    pub async fn text(&self, text: &callboard_core::text::Text) -> Result<Arc<str>, Error> {
        let values = self.values(text.stored()).await?;
        text.whole(&values).cloned().map_err(|_| self.live.gone())
    }

    /// Lets those who listen hear something that is not kept.
    pub fn tell(&self, event: Ephemeral) {
        if let Some(listeners) = self.live.ephemeral.get() {
            // Sending fails only if nobody listens.
            let _ = listeners.send(event);
        }
    }

    /// Hears what is not kept. Only the user and the manager hear what models answer, and the manager nothing of what is
    /// said in threads that it does not see. Who may see the browser hears of it.
    pub async fn listen(&self, viewer: &Viewer) -> Result<Listener, Error> {
        let events = self.live.ephemeral.get_or_init(|| broadcast::Sender::new(EPHEMERAL)).subscribe();
        self.view(viewer, |view| match view.is_in_charge() || view.may_see(Share::Browser) {
            true => Ok(()),
            false => Err(Refusal::not_found("run", "here")),
        })
        .await?;
        Ok(Listener { session: self.clone(), viewer: viewer.clone(), events })
    }
}

/// What is not kept, as one viewer hears it.
pub struct Listener {
    session: Session,
    viewer: Viewer,
    events: broadcast::Receiver<Ephemeral>,
}

impl Listener {
    /// What comes next. Who is slow misses some of it; `None` once there is nothing more.
    pub async fn next(&mut self) -> Option<Ephemeral> {
        loop {
            match self.events.recv().await {
                Ok(event) if self.hears(&event) => return Some(event),
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    fn hears(&self, event: &Ephemeral) -> bool {
        let Ok(state) = self.session.known() else { return false };
        let hears = |view: View<'_>| match event {
            Ephemeral::Delta(delta) => view.hears(&delta.agent),
            Ephemeral::Browser { .. } => view.may_see(Share::Browser),
        };
        View::new(&state, &self.viewer, sizes()).is_ok_and(hears)
    }
}

/// Counts the long texts of a command where nothing waits for it, so that the session's task finds them counted.
async fn count_before(command: &impl Command) -> Result<(), Error> {
    const LONG: usize = 16 * 1024;
    // One that is too large is refused anyway.
    let counts = |text: &Arc<str>| (LONG..=MAX_BYTES).contains(&text.len());
    let texts: Vec<_> = command.texts().into_iter().filter(counts).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let count = move || texts.iter().map(|text| sizes().count(text)).max();
    off_runtime(count).await.map(drop)
}
