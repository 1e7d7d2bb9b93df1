//! `POST /v1/sessions/{session}/directives`

use callboard_core::{
    command::{Answer as Executed, Command},
    directive::Directed,
    id::Seq,
};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{answer::Answer, body::Asked, caller::On, problem::Problem, rights::Direct, shape};

/// What a directive led to.
#[derive(Serialize, ToSchema)]
pub(crate) struct DirectiveAnswer {
    #[serde(flatten)]
    #[schema(value_type = DirectedShape)]
    directed: Directed,
    #[schema(value_type = u64)]
    head: Seq,
}

/// How the updates of a directive came out, in order, and what else it led to.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is read by the document alone")]
struct DirectedShape {
    outcomes: Vec<shape::directive::OutcomeShape>,
    form: Option<shape::form::FormRequestShape>,
    #[schema(required = false)]
    unparsed: Vec<String>,
}

/// Apply a manager's directive
#[utoipa::path(post, path = "/v1/sessions/{session}/directives", tag = "directives", operation_id = "give_directive",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<shape::directive::DirectiveShape>,
    responses((status = OK, description = "How it came out", body = DirectiveAnswer)))]
pub(crate) async fn give(on: On<Direct>, asked: Asked<Map<String, Value>>) -> Result<Answer<DirectiveAnswer>, Problem> {
    let receipt = on.execute(asked.terms, Command::Direct(Value::Object(asked.body))).await?;
    let directed = if let Executed::Directed(directed) = receipt.answer { directed } else { Directed::default() };
    Ok(Answer::ok(DirectiveAnswer { directed, head: receipt.head }).at(receipt.head))
}
