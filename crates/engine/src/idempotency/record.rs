//! Keyed requests that are done outside of a journal: each has a record of its own, in the same store.

use callboard_core::{
    entry::{Actor, Entry, Head},
    error::Error as Refusal,
    fact::{self, Fact},
    id::{Seq, SessionId},
    idempotency::{
        Request,
        record::{self, Begun, Settled},
    },
    session::Ttl,
};
use callboard_store::{Append, Work};
use serde_json::Value;

use crate::{board::Board, error::Error, journal::read, live::append::append_surely, upkeep::expiry};

/// For how long such a request is remembered, in seconds.
const REMEMBERED_SECONDS: i64 = 24 * 60 * 60;

/// How far a keyed request has come.
#[derive(Clone, Debug)]
pub enum Once {
    /// It was answered, with this.
    Answered(Value),
    /// It was begun, now or before, and is to be done.
    Begun(Claim),
}

/// The right and the duty to do a request.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Whether nobody had begun it before.
    pub is_fresh: bool,
    /// What was meant when it was first begun.
    pub intent: Value,
    place: SessionId,
    by: Actor,
    head: Head,
}

impl Board {
    /// Begins a keyed request, or takes it up where somebody began it before. Another one under its key is refused.
    /// Its key is one of those of `scope`, the session that it works on where it has one.
    pub async fn begin(
        &self,
        by: Actor,
        request: &Request,
        scope: Option<&SessionId>,
        intent: Value,
    ) -> Result<Once, Error> {
        let place = record::place(request, &by, scope)?;
        let begun = Begun::new(request, by.clone(), intent);
        match self.note(&place, Head::default(), &by, &begun).await {
            Ok(head) => return Ok(Once::Begun(Claim { is_fresh: true, intent: begun.intent, place, by, head })),
            Err(Error::Store { source }) if matches!(&*source, callboard_store::Error::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
        let entries = read(&**self.store(), &place, Seq::ZERO, Seq(2), 2).await?;
        let first = entries.first().ok_or_else(|| Refusal::not_found("record", &place))?;
        let begun: Begun = fact::read(first)?;
        begun.check(request)?;
        Ok(match entries.get(1) {
            Some(settled) => Once::Answered(fact::read::<Settled>(settled)?.answer),
            None => Once::Begun(Claim { is_fresh: false, intent: begun.intent, place, by, head: first.head() }),
        })
    }

    /// Records the answer to a request, and says which one was recorded: it may have been answered meanwhile.
    pub async fn settle(&self, claim: &Claim, answer: Value) -> Result<Value, Error> {
        let settled = Settled { answer };
        match self.note(&claim.place, claim.head, &claim.by, &settled).await {
            Ok(_) => Ok(settled.answer),
            Err(Error::Store { source }) if matches!(&*source, callboard_store::Error::Conflict { .. }) => {
                let entries = read(&**self.store(), &claim.place, Seq(1), Seq(2), 1).await?;
                let there = entries.first().map(fact::read::<Settled>).transpose()?;
                Ok(there.map_or(settled.answer, |there| there.answer))
            }
            Err(error) => Err(error),
        }
    }

    /// An id that nobody is likely to have.
    pub fn new_id(&self) -> SessionId {
        let random = u32::try_from(self.settings().random.next() % (1 << 31)).unwrap_or_default();
        SessionId::generate(self.settings().clock.now(), random)
    }

    /// How long a session lives without being used, where it does not say so itself.
    pub fn default_ttl(&self) -> Ttl {
        self.settings().ttl
    }

    async fn note(&self, place: &SessionId, expected: Head, by: &Actor, fact: &impl Fact) -> Result<Head, Error> {
        let (at, nonce) = (self.settings().clock.now(), self.settings().nonce());
        let entry = Entry::seal(expected, at, by.clone(), nonce, record::draft(fact));
        let head = entry.head();
        let now = expiry::now(&**self.store(), &*self.settings().clock).await?;
        let expires_at = Some(now.plus_seconds(REMEMBERED_SECONDS));
        let (session, entries, values) = (place.clone(), vec![entry], Vec::new());
        let append = Append { session, expected, entries, values, expires_at, work: Work::AsBefore };
        append_surely(&**self.store(), append).await?;
        Ok(head)
    }
}
