//! Follows a session: every entry once, as it comes, across broken connections.

use std::{io, time::Duration};

use bytes::Bytes;
use callboard_api as api;
use callboard_engine::core::{
    browser::{CHANGED, NOTICED},
    id::Seq,
};
use callboard_server::Pieces;
use eventsource_stream::{EventStream, Eventsource as _};
use futures::{StreamExt as _, stream};
use serde::Deserialize;
use tokio::time::timeout;

use super::{OnSession, Retry, remote::UNREACHABLE};
use crate::{failure::Failure, output::Output};

/// A stream without even a keep-alive for this long counts as broken, and so does a server that does not begin one.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A session that is followed.
pub(crate) struct Follow<'a> {
    session: &'a OnSession<'a>,
    types: Vec<String>,
    /// The last entry that came.
    after: Seq,
    open: Option<EventStream<Pieces>>,
    retry: Retry,
}

/// What a stream delivers.
pub(crate) enum Followed {
    /// An entry.
    Entry(api::Entry),
    /// A piece of a model's answer.
    Piece(api::Delta),
}

impl<'a> Follow<'a> {
    /// Follows a session from the entry behind `after`.
    pub(crate) async fn start(
        session: &'a OnSession<'a>,
        types: Vec<String>,
        after: Seq,
        output: Output,
    ) -> Result<Self, Failure> {
        let mut follow = Self { session, types, after, open: None, retry: Retry::new(output) };
        follow.open = Some(follow.connect().await?);
        Ok(follow)
    }

    /// The next item. Cancel-safe: dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Followed, Failure> {
        loop {
            let Some(open) = &mut self.open else {
                match self.connect().await {
                    Ok(open) => self.open = Some(open),
                    // A server that is gone is given some time to come back.
                    Err(failure) => self.retry.wait(failure).await?,
                }
                continue;
            };
            match open.next().await {
                Some(Ok(event)) => {
                    self.retry.reset();
                    if event.event == api::DELTA {
                        return read(&event.data).map(Followed::Piece);
                    }
                    // They are not stored, and bear the number of the entry before them.
                    if [CHANGED, NOTICED, api::REWRITTEN].contains(&event.event.as_str()) {
                        continue;
                    }
                    let entry: api::Entry = read(&event.data)?;
                    self.after = entry.seq;
                    return Ok(Followed::Entry(entry));
                }
                // The connection broke, or the session is gone: connecting again tells which.
                Some(Err(_)) | None => self.open = None,
            }
        }
    }

    async fn connect(&self) -> Result<EventStream<Pieces>, Failure> {
        let types = (!self.types.is_empty()).then(|| self.types.join(","));
        let call = self.session.get(&["events"]).query("after", self.after).maybe("types", types);
        let silent = || Failure::failed(UNREACHABLE, "the server accepts connections and does not answer");
        let reply = timeout(IDLE_TIMEOUT, call.begin()).await.unwrap_or_else(|_| Err(silent()))?;
        if !reply.is_stream() {
            return Err(reply.no_callboard());
        }
        Ok(with_idle_timeout(reply.pieces()).eventsource())
    }
}

/// The same pieces; the stream ends if none comes for too long.
fn with_idle_timeout(pieces: Pieces) -> Pieces {
    let next = async |mut pieces: Pieces| -> Option<(io::Result<Bytes>, Pieces)> {
        match timeout(IDLE_TIMEOUT, pieces.next()).await {
            Ok(piece) => Some((piece?, pieces)),
            Err(_) => None,
        }
    };
    stream::unfold(pieces, next).boxed()
}

fn read<'de, T: Deserialize<'de>>(data: &'de str) -> Result<T, Failure> {
    serde_json::from_str(data)
        .map_err(|error| Failure::failed("not_understood", format!("cannot read an event of the stream: {error}")))
}
