//! `POST /v1/sessions/{session}/threads/{thread}/messages`

use callboard_core::{
    command::{Answer as Executed, Command, Receipt},
    conversation::NewMessage,
    id::{Seq, ThreadId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{answer::Answer, body::Asked, caller::Adding, params::Name, problem::Problem, rights::AddMessages, shape};

/// Messages that are to be added.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMessages {
    messages: Vec<NewMessage>,
}

/// Where the messages are.
#[derive(Serialize, ToSchema)]
pub(crate) struct Added {
    #[schema(value_type = Vec<AddedMessage>)]
    messages: Vec<Receipt>,
    #[schema(value_type = u64)]
    head: Seq,
}

/// Where a message is.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is read by the document alone")]
struct AddedMessage {
    message_id: String,
    seq: u64,
}

/// Add messages, all or none. One that was added before, under the same id and with the same content, is not added again
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    operation_id = "add_messages",
    params(("session" = String, Path, description = "The session"),
        ("thread" = String, Path, description = "The thread")),
    request_body = shape::message::NewMessagesShape,
    responses((status = OK, description = "Where they are", body = Added)))]
pub(crate) async fn add(
    adding: Adding<AddMessages>,
    Name(thread): Name<ThreadId>,
    asked: Asked<NewMessages>,
) -> Result<Answer<Added>, Problem> {
    let receipt = adding.execute(asked.terms, Command::AddMessages(thread, asked.body.messages)).await?;
    let messages = if let Executed::Messages(messages) = receipt.answer { messages } else { Vec::new() };
    Ok(Answer::ok(Added { messages, head: receipt.head }).at(receipt.head))
}
