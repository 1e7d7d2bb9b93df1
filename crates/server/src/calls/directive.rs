//! Directives.

use callboard_api as api;
use callboard_core::directive::{self, schema as directive_schema};
use serde_json::{Map, Value};

use super::{
    Answer, Authorized, CallError, WriteOptions,
    rights::{Direct, ReadSchema},
};

impl Authorized<Direct> {
    pub(crate) async fn give_directive(
        &self,
        body: Map<String, Value>,
        options: WriteOptions,
    ) -> Result<Answer<api::DirectiveAnswer>, CallError> {
        let receipt = self.execute(options, directive::Direct(Value::Object(body))).await?;
        Ok(Answer::ok(api::DirectiveAnswer { directed: receipt.answer, head: receipt.head }).at(receipt.head))
    }
}

impl Authorized<ReadSchema> {
    pub(crate) async fn directive_schema(&self, query: api::SchemaQuery) -> Result<Answer<Value>, CallError> {
        let state = self.session.state().await?;
        Ok(Answer::ok(query.meant_for.form(directive_schema::schema(&state.team))))
    }
}
