//! Requests that carry a key: answered once, and given the same answer again.

use callboard_core::{
    command::{Command, KeptAnswer},
    entry::Actor,
    error::Error as Refusal,
    id::Seq,
    idempotency::{self, Keyed, Request},
    view::View,
    viewer::Viewer,
};

use crate::{error::Error, live::job::Receipt, session::Session, sizes::sizes};

impl Session {
    /// Executes a command for a request that carries a key, unless the same request was executed before: then its
    /// answer is given again, whatever the head is now, also after a restart and whoever executed it.
    pub async fn execute_once<C: Command<Answer: KeptAnswer>>(
        &self,
        by: impl Into<Actor>,
        expected: Option<Seq>,
        mut request: Request,
        command: C,
    ) -> Result<Receipt<C::Answer>, Error> {
        let by = by.into();
        request.fingerprint = self.live.keyed(request.fingerprint).await?;
        if let Some(receipt) = self.answered(&by, &request).await? {
            return Ok(receipt);
        }
        let keyed = Keyed { request: request.clone(), command };
        match self.execute_at(by.clone(), expected, keyed).await {
            Ok(Receipt { answer, head }) => Ok(Receipt { head: answer.before.unwrap_or(head), answer: answer.answer }),
            // What stands in its way may be what the same request did a moment ago.
            Err(error @ (Error::Refused(_) | Error::Stale { .. })) => match self.answered(&by, &request).await? {
                Some(receipt) => Ok(receipt),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    async fn answered<A: KeptAnswer>(&self, by: &Actor, request: &Request) -> Result<Option<Receipt<A>>, Error> {
        let Some(seq) = self.live.store.find(self.id(), &request.claim(by)).await? else { return Ok(None) };
        let there = self.entry(seq).await?.ok_or_else(|| Refusal::not_found("entry", seq))?;
        let (answer, head) = idempotency::facts::again(request, &there)?;
        Ok(Some(Receipt { answer, head }))
    }

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
