//! Servers that ask models for programs, outside of runs. Each has a record that expires unless it is renewed: so others know which of
//! its turns will have no answer.

use callboard_core::{
    entry::{Actor, Head},
    error::ConflictKind,
    id::Seq,
    idempotency::record::{self, Begun},
    run::own::AnswerTurn,
    state::State,
};
use serde_json::Value;

use crate::{board::Board, error::Error, record::append_to, session::Session, upkeep::expiry};

/// Why a turn has no answer whose server died.
const INTERRUPTED: &str = "interrupted: the server that asked the model is gone, or has given it up";

/// Why a turn has no answer in a copy of its session.
const ASKED_ELSEWHERE: &str = "interrupted: the model was asked in the session that this one was copied from";

impl Board {
    /// Notes that the server with this name asks models, for as long as a lease lasts from now on.
    pub async fn note_asker(&self, name: &str) -> Result<(), Error> {
        let (store, settings, record) = (self.store(), self.settings(), record::place_of_asker(name)?);
        let lasts = i64::try_from(settings.lease.lasts.as_secs()).unwrap_or(i64::MAX).max(1);
        let until = Some(expiry::now(&**store, &*settings.clock).await?.plus_seconds(lasts));
        if store.touch(&record, until).await?.is_some() {
            return Ok(());
        }
        let begun = Begun::without_request(name, Value::Null)?;
        match append_to(store, settings, &record, Head::default(), &Actor::System, &begun, until).await {
            // The same server has just noted it.
            Err(error) if error.is_conflict() => Ok(()),
            noted => noted.map(drop),
        }
    }

    /// Whether the server with this name is there and asks models.
    pub async fn is_asking(&self, name: &str) -> Result<bool, Error> {
        Ok(self.store().row(&record::place_of_asker(name)?).await?.is_some())
    }

    /// Ends the turns that other servers than `busy` began in a session with this state, where those servers are gone. `busy` is the
    /// caller, unless it answers no request: what it began is left, too.
    pub async fn end_left_turns(&self, session: &Session, state: &State, busy: Option<&str>) -> Result<(), Error> {
        let others: Vec<_> = state.runs.asking().filter(|(_, asker)| Some(&***asker) != busy).collect();
        for (turn, asker) in others {
            if !self.is_asking(asker).await? {
                end(session, turn, INTERRUPTED).await?;
            }
        }
        Ok(())
    }
}

/// Ends the turns of a fork or an import that were open in `state`, as it was copied: their servers answer in the session that they were
/// begun in. Where that fails, they are ended once these servers are gone.
pub(crate) async fn end_copied_turns(copy: &Session, state: &State) {
    let copied: Vec<Seq> = state.runs.asking().map(|(turn, _)| turn).collect();
    for turn in copied {
        if let Err(error) = end(copy, turn, ASKED_ELSEWHERE).await {
            tracing::warn!(session = %copy.id(), %error, "a turn that was copied could not be ended");
        }
    }
}

/// Notes that a turn has no answer and why, unless somebody has just noted what came of it.
async fn end(session: &Session, turn: Seq, why: &str) -> Result<(), Error> {
    match session.execute(Actor::System, AnswerTurn::failed(turn, why.to_owned())).await {
        Err(error) if error.is(ConflictKind::TurnAnswered) => Ok(()),
        ended => ended.map(drop),
    }
}
