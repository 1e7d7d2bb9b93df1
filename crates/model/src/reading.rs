//! Reading an answer, as a whole or as server-sent events.

use std::ops::ControlFlow;

use eventsource_stream::{EventStreamError, Eventsource};
use futures::StreamExt;

use crate::http::{Http, HttpAnswer};
use crate::{ModelError, OnDelta, ToolCall};

/// Puts an answer together from its pieces.
pub(crate) trait Assembly: Send {
    /// Adds the next piece, or the whole answer, and passes its text on. A `Break` says that nothing follows.
    fn take(&mut self, data: &str, on_delta: &mut OnDelta<'_>) -> Result<ControlFlow<()>, ReadFault>;

    /// Whether the endpoint has said that the answer is complete.
    fn is_finished(&self) -> bool;

    /// Whether it has no content yet.
    fn is_empty(&self) -> bool;

    /// How many characters of text it has.
    fn received_chars(&self) -> usize;
}

/// What is wrong with a piece of an answer.
pub(crate) enum ReadFault {
    /// It does not follow the protocol.
    NotUnderstood(serde_json::Error),
    /// It is an error with this HTTP status.
    Refused(u16),
}

impl Http {
    /// Reads `answer` to its end.
    pub(crate) async fn read(
        &self,
        answer: HttpAnswer<'_>,
        assembly: &mut impl Assembly,
        on_delta: &mut OnDelta<'_>,
    ) -> Result<(), ModelError> {
        if answer.is_stream() {
            return self.read_stream(answer, assembly, on_delta).await;
        }
        let text = answer.text().await?;
        // The answer ends with its text.
        let _ = assembly.take(&text, on_delta).map_err(|fault| self.fault(fault, &text))?;
        if assembly.is_empty() { Err(self.not_understood("there is no message in it", &text)) } else { Ok(()) }
    }

    async fn read_stream(
        &self,
        answer: HttpAnswer<'_>,
        assembly: &mut impl Assembly,
        on_delta: &mut OnDelta<'_>,
    ) -> Result<(), ModelError> {
        let mut events = std::pin::pin!(answer.pieces().eventsource());
        while let Some(event) = events.next().await {
            let data = match event {
                Ok(event) => event.data,
                // The text is complete; only the usage may be missing.
                Err(_) if assembly.is_finished() => break,
                Err(EventStreamError::Transport(ModelError::CutOff { .. })) => break,
                Err(EventStreamError::Transport(error)) => return Err(error),
                Err(error) => return Err(self.not_understood(&error.to_string(), "")),
            };
            if assembly.take(&data, on_delta).map_err(|fault| self.fault(fault, &data))?.is_break() {
                break;
            }
        }
        if assembly.is_finished() { Ok(()) } else { Err(self.cut_off(assembly.received_chars())) }
    }

    fn fault(&self, fault: ReadFault, data: &str) -> ModelError {
        match fault {
            ReadFault::NotUnderstood(error) => self.not_understood(&error.to_string(), data),
            ReadFault::Refused(status) => self.refused(status, data, None),
        }
    }
}

/// Adds what servers may leave out of calls: ids and empty arguments.
pub(crate) fn complete(mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
    for (number, call) in calls.iter_mut().enumerate() {
        if call.id.is_empty() {
            call.id = format!("call_{}", number + 1);
        }
        if call.arguments.trim().is_empty() {
            "{}".clone_into(&mut call.arguments);
        }
    }
    calls
}
