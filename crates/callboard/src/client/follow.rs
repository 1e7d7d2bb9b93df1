//! Following a session: its entries as they come, each once, also where a connection breaks off in between.

use std::{io, time::Duration};

use bytes::Bytes;
use callboard_api as api;
use callboard_engine::core::id::Seq;
use callboard_server::Pieces;
use eventsource_stream::{EventStream, Eventsource as _};
use futures::{StreamExt as _, stream};
use serde::Deserialize;
use tokio::time::timeout;

use super::{OnSession, Patience};
use crate::{cli::Eyes, failure::Failure, output::Output};

/// For how long a stream may say nothing, not even that it is still there.
const SILENCE: Duration = Duration::from_secs(60);

/// A session that is followed.
pub(crate) struct Follow<'a> {
    session: &'a OnSession<'a>,
    eyes: Eyes,
    types: Vec<String>,
    /// The last entry that came.
    after: Seq,
    open: Option<EventStream<Pieces>>,
    patience: Patience,
}

/// What comes.
pub(crate) enum Item {
    /// An entry.
    Entry(api::Entry),
    /// A piece of what a model says.
    Piece(api::Delta),
}

impl<'a> Follow<'a> {
    /// Follows a session behind the entry `after`.
    pub(crate) async fn start(
        session: &'a OnSession<'a>,
        eyes: Eyes,
        types: Vec<String>,
        after: Seq,
        output: Output,
    ) -> Result<Self, Failure> {
        let mut follow = Self { session, eyes, types, after, open: None, patience: Patience::new(output) };
        follow.open = Some(follow.connect().await?);
        Ok(follow)
    }

    /// What comes next. To stop waiting for it loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Item, Failure> {
        loop {
            let Some(open) = &mut self.open else {
                match self.connect().await {
                    Ok(open) => self.open = Some(open),
                    // A server that is not there is given some time to come back.
                    Err(failure) => self.patience.bear(failure).await?,
                }
                continue;
            };
            match open.next().await {
                Some(Ok(event)) => {
                    self.patience.restore();
                    if event.id.is_empty() || event.event == api::DELTA {
                        return read(&event.data).map(Item::Piece);
                    }
                    let entry: api::Entry = read(&event.data)?;
                    self.after = entry.seq;
                    return Ok(Item::Entry(entry));
                }
                // It broke off, or there is no more to follow: the next try tells.
                Some(Err(_)) | None => self.open = None,
            }
        }
    }

    async fn connect(&self) -> Result<EventStream<Pieces>, Failure> {
        let types = (!self.types.is_empty()).then(|| self.types.join(","));
        let call = self.session.get(&["events"]).query("after", self.after).maybe("types", types).eyes(&self.eyes);
        let reply = call.begin().await?;
        if !reply.is_stream() {
            return Err(reply.no_callboard());
        }
        Ok(attentive(reply.pieces()).eventsource())
    }
}

/// The same pieces, which end where none comes for too long.
fn attentive(pieces: Pieces) -> Pieces {
    let next = async |mut pieces: Pieces| -> Option<(io::Result<Bytes>, Pieces)> {
        match timeout(SILENCE, pieces.next()).await {
            Ok(piece) => Some((piece?, pieces)),
            Err(_) => None,
        }
    };
    stream::unfold(pieces, next).boxed()
}

fn read<'de, T: Deserialize<'de>>(data: &'de str) -> Result<T, Failure> {
    serde_json::from_str(data)
        .map_err(|error| Failure::failed("not_understood", format!("what the stream gives is not understood: {error}")))
}
