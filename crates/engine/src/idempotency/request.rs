//! Requests that carry a key: answered once, and given the same answer again.

use callboard_core::{
    command::{Answer, Command},
    entry::Actor,
    error::Error as Refusal,
    id::Seq,
    idempotency::{self, Request},
    view::View,
    viewer::Viewer,
};

use crate::{error::Error, live::job::Receipt, session::Session, sizes::sizes};

impl Session {
    /// Executes a command for a request that carries a key, unless the same request was executed before: then its
    /// answer is given again, whatever the head is now, also after a restart and whoever executed it.
    pub async fn execute_once(
        &self,
        by: impl Into<Actor>,
        expected: Option<Seq>,
        request: Request,
        command: Command,
    ) -> Result<Receipt, Error> {
        let by = by.into();
        if let Some(receipt) = self.answered(&by, &request).await? {
            return Ok(receipt);
        }
        let keyed = Command::Keyed(request.clone(), Box::new(command));
        match self.execute_at(by.clone(), expected, keyed).await {
            Ok(receipt) => Ok(unwrapped(receipt)),
            // What stands in its way may be what the same request did a moment ago.
            Err(error @ (Error::Refused(_) | Error::Stale { .. })) => match self.answered(&by, &request).await? {
                Some(receipt) => Ok(receipt),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    async fn answered(&self, by: &Actor, request: &Request) -> Result<Option<Receipt>, Error> {
        let Some(seq) = self.live.store.find(self.id(), &request.claim(by)).await? else { return Ok(None) };
        let there = self.entry(seq).await?.ok_or_else(|| Refusal::not_found("entry", seq))?;
        let answer = idempotency::facts::again(request, &there)?;
        Ok(Some(unwrapped(Receipt { answer, head: seq })))
    }
}

fn unwrapped(receipt: Receipt) -> Receipt {
    match receipt.answer {
        Answer::Again { answer, head } => Receipt { answer: *answer, head },
        _ => receipt,
    }
}

impl Session {
    /// Looks at the session as it was after the entry `seq`, through the eyes of `viewer`: what a change that was
    /// executed once is answered with, however often it is asked for.
    pub async fn view_at<T>(
        &self,
        viewer: &Viewer,
        seq: Seq,
        look: impl FnOnce(View<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Error> {
        let state = self.state_at(seq).await?;
        Ok(look(View::new(&state, viewer, sizes())?)?)
    }
}
