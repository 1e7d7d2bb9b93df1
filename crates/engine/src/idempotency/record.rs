//! Requests with a key that work outside of one journal, such as making a session: each has a record of its own.

use callboard_core::{
    entry::{Actor, Entry, Head},
    error::Error as Refusal,
    fact::{self, Fact},
    id::{Seq, SessionId},
    idempotency::{
        Request,
        record::{self, Begun, Settled},
    },
};
use callboard_store::{Order, Query};
use serde_json::Value;

use crate::{board::Board, error::Error, record::append_to, seal::masking::check_name, upkeep::expiry};

/// How long a record is kept, in seconds.
const REMEMBERED_SECONDS: i64 = 24 * 60 * 60;

/// How far a request with a key has come.
#[derive(Clone, Debug)]
pub enum KeyedRequest {
    /// It was answered with this.
    Answered(Value),
    /// It was begun, now or before, and has to be done.
    Begun(Claim),
}

/// A request that its holder does now, and then [settles](Board::settle).
#[derive(Clone, Debug)]
pub struct Claim {
    /// Whether this is the first try.
    pub is_fresh: bool,
    begun: Box<Begun>,
    record: SessionId,
    by: Actor,
    head: Head,
}

impl Claim {
    /// What the newest try was to make.
    pub fn intent(&self) -> &Value {
        &self.begun.intent
    }
}

impl Board {
    /// Begins a request with a key, or continues one that was begun before. Another request under the same key is
    /// refused. Keys belong to `scope`: a session, or the whole board.
    pub async fn begin(
        &self,
        by: Actor,
        request: &Request,
        scope: Option<&SessionId>,
        intent: Value,
    ) -> Result<KeyedRequest, Error> {
        let mut request = request.clone();
        if let Some(live) = scope.and_then(|session| self.alive(session)) {
            request.fingerprint = live.keyed(request.fingerprint).await?;
            if let Ok(known) = live.known_secrets(&*live.known()?).await {
                check_name(&known.masks.names, "/Idempotency-Key", request.key.as_str())?;
            }
        }
        let request = &request;
        let record = record::place(request, &by, scope)?;
        let begun = Begun::new(request, by.clone(), intent);
        match self.note(&record, Head::default(), &by, &begun).await {
            Ok(head) => {
                return Ok(KeyedRequest::Begun(Claim { is_fresh: true, begun: Box::new(begun), record, by, head }));
            }
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error),
        }
        // An answer stands behind the try that gave it.
        let newest = self.newest(&record, 2).await?;
        let last = newest.first().ok_or_else(|| Refusal::not_found("record", &record))?;
        let settled = (*last.header.kind == *Settled::TYPE).then(|| fact::read::<Settled>(last)).transpose()?;
        let tried = newest.get(usize::from(settled.is_some())).ok_or_else(|| Refusal::not_found("record", &record))?;
        let begun: Begun = fact::read(tried)?;
        begun.check(request)?;
        Ok(match settled {
            Some(settled) => KeyedRequest::Answered(settled.answer),
            None => {
                let (begun, head) = (Box::new(begun), last.head());
                KeyedRequest::Begun(Claim { is_fresh: false, begun, record, by, head })
            }
        })
    }

    /// Begins a request anew, with another intent. `None` where somebody else has begun or answered it meanwhile.
    pub async fn begin_anew(&self, claim: Claim, intent: Value) -> Result<Option<Claim>, Error> {
        let Claim { mut begun, record, by, head, .. } = claim;
        begun.intent = intent;
        match self.note(&record, head, &by, &*begun).await {
            Ok(head) => Ok(Some(Claim { is_fresh: false, begun, record, by, head })),
            Err(error) if error.is_conflict() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Records the answer to a request, and gives the answer that holds: another try may have settled it meanwhile.
    pub async fn settle(&self, claim: &Claim, answer: Value) -> Result<Value, Error> {
        let settled = Settled { answer };
        match self.note(&claim.record, claim.head, &claim.by, &settled).await {
            Ok(_) => Ok(settled.answer),
            Err(error) if error.is_conflict() => {
                let newest = self.newest(&claim.record, 1).await?;
                let there = newest.first().filter(|entry| *entry.header.kind == *Settled::TYPE);
                let there = there.map(fact::read::<Settled>).transpose()?;
                Ok(there.map_or(settled.answer, |there| there.answer))
            }
            Err(error) => Err(error),
        }
    }

    /// The newest entries of a record, the newest first.
    async fn newest(&self, record: &SessionId, limit: usize) -> Result<Vec<Entry>, Error> {
        Ok(self.store().read(record, Query::all(Seq(1)..Seq(u64::MAX), Order::Backward, limit)).await?)
    }

    async fn note(&self, record: &SessionId, expected: Head, by: &Actor, fact: &impl Fact) -> Result<Head, Error> {
        let now = expiry::now(&**self.store(), &*self.settings().clock).await?;
        append_to(self.store(), self.settings(), record, expected, by, fact, Some(now.plus_seconds(REMEMBERED_SECONDS)))
            .await
    }
}
