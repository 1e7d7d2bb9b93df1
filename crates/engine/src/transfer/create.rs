//! New sessions.

use callboard_core::{
    agent::Agent,
    command::{self, Command, Decision, DecisionContext, Lookups, Undecided},
    context_set::PutSet,
    entry::{Actor, Head},
    error::{ConflictKind, Error as Refusal},
    id::{Seq, SessionId},
    sealed::SealedInput,
    session::{NewSession, SessionKind, Settings as SessionSettings},
    state::State,
};
use callboard_store::Append;

use crate::{
    append_surely::append_surely,
    board::Board,
    error::Error,
    journal::journal_kind,
    session::Session,
    sizes::sizes,
    upkeep::{expiry, snapshot::Loaded},
};

/// The contents of a new session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewBoardSession {
    /// Its id; by default a new one.
    pub id: Option<SessionId>,
    /// Its agents.
    pub agents: Vec<Agent>,
    /// The context sets with which it begins, such as those of [another session](Session::sets_for).
    pub sets: Vec<PutSet>,
    /// Its settings; the default time to live is [`Settings::ttl`](crate::Settings::ttl).
    pub settings: Option<SessionSettings>,
}

/// How many generated ids are tried.
const ID_TRIES: u32 = 16;

impl Board {
    /// Creates a session. An id in use is a conflict. Without an id, a free one is chosen.
    pub async fn create(&self, new: NewBoardSession) -> Result<Session, Error> {
        let NewBoardSession { id, agents, sets, settings } = new;
        if let Some(id) = &id {
            check_id(id, SessionKind::Session)?;
        }
        let default = || SessionSettings { ttl_seconds: self.settings().ttl, ..SessionSettings::default() };
        let settings = settings.unwrap_or_else(default);
        let mut in_use = None;
        for id in self.ids(id) {
            let salt = self.settings().random.next();
            let (agents, sets, settings) = (agents.clone(), sets.clone(), settings.clone());
            let new = NewSession { id: id.clone(), agents, sets, settings, salt };
            match self.create_as(id.clone(), &new).await {
                Err(error) if error.is_conflict() => in_use = Some(id),
                made => return made,
            }
        }
        Err(exists(in_use))
    }

    /// The ids to try for a new session: the given one, or some generated ones.
    fn ids(&self, given: Option<SessionId>) -> impl Iterator<Item = SessionId> + Send {
        let tries = if given.is_some() { 1 } else { ID_TRIES };
        (0..tries).map(move |_| given.clone().unwrap_or_else(|| self.new_id()))
    }

    /// A new id for a session.
    pub fn new_id(&self) -> SessionId {
        let random = u32::try_from(self.settings().random.next() % (1 << 31)).unwrap_or_default();
        SessionId::generate(self.settings().clock.now(), random)
    }

    /// Creates the journal `id`, which `new` begins.
    pub(crate) async fn create_as<C: Command>(&self, id: SessionId, new: &C) -> Result<Session, Error> {
        let now = self.settings().clock.now();
        let lookups = Lookups::default();
        let (nonce, salt) = (self.settings().nonce(), Some(self.settings().salt()));
        let (by, count, sealed) = (&Actor::User, sizes(), SealedInput::NOTHING);
        let context = DecisionContext { by, at: now, nonce, salt, count, lookups: &lookups, sealed, hide: None };
        let decided = command::decide(&State::default(), new, context);
        let Decision { entries, values, state, .. } = decided.map_err(|undecided| match undecided {
            Undecided::Refused(error) => Error::from(error),
            Undecided::MissingEntry(_) => Error::Busy { session: id.clone() },
        })?;
        let append = Append {
            values: values.into_iter().collect(),
            expires_at: expiry::lives_until(&state, expiry::now(&**self.store(), &*self.settings().clock).await?),
            ..Append::of(id.clone(), journal_kind(&state), Head::default(), entries)
        };
        append_surely(&**self.store(), append).await?;
        self.keep(id, Loaded { state, snapshot: Seq::ZERO, newest: None }, now).await
    }
}

/// Refuses an id that is not for a journal of this kind.
pub(crate) fn check_id(id: &SessionId, kind: SessionKind) -> Result<(), Error> {
    match (id.as_collection(), kind) {
        (Some(name), SessionKind::Session) => {
            let problem =
                format!("{id} is the journal of a collection: take another id, or make the collection {name}");
            Err(Refusal::invalid("/id", problem).into())
        }
        _ => Ok(()),
    }
}

/// The error that no tried id is free. `id` is the last one.
pub(crate) fn exists(id: Option<SessionId>) -> Error {
    let name = id.map(|id| format!(" {id}")).unwrap_or_default();
    let what = format!("there is a session{name}");
    let hint = "take another id, or leave it out to get a new one";
    Refusal::Conflict { kind: ConflictKind::SessionExists, what, hint }.into()
}
