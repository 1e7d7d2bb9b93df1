//! Forms: the questions of a team reach a person through a client that can ask.

use std::sync::Arc;

use callboard_core::context_set::form::{Field, ValueType};
use rmcp::{
    RoleServer,
    model::{
        CallToolResponse, CallToolResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        InputRequest, InputRequiredResult, InputResponses, ProtocolVersion, Tool, ToolAnnotations,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};

use crate::{
    call::{ApiCall, Caller, Refusal, object},
    resources::items,
};

/// The tool that has a person asked.
pub(crate) const ANSWER_FORMS: &str = "answer_forms";
/// How often a person is asked the same where what they answer is refused.
const TRIES: usize = 3;

/// A form that nobody has answered yet.
struct Open {
    name: String,
    text: String,
    fields: Vec<Field>,
}

pub(crate) fn tool() -> Tool {
    let description = "Have the person for whom you work asked the open questions of the team. Each form is shown to them, \
        and what they answer is handed in.";
    let schema = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let output = json!({"type": "object", "required": ["forms"], "properties": {
        "forms": {"type": "array", "items": {"type": "object", "required": ["name", "outcome"], "properties": {
            "name": {"type": "string"}, "outcome": {"type": "string"}}}}}});
    let annotations = ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(false);
    Tool::new(ANSWER_FORMS, description, Arc::new(object(schema)))
        .with_annotations(annotations)
        .with_raw_output_schema(Arc::new(object(output)))
}

impl Caller {
    /// Has the person asked each open form of the session, and hands in what they answer. `answered` is what they answered to
    /// the forms for which an earlier answer of this tool asked.
    pub(crate) async fn answer_forms(
        &self,
        session: &str,
        answered: Option<InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Refusal> {
        if let Some((agent, _)) = self.asker(session).await?.agent {
            return Err(Refusal::forbidden(format!(
                "only the user answers forms, and this connection works as the agent {agent}: use one that does not"
            )));
        }
        let can_ask = context.client_capabilities().is_some_and(|client| client.elicitation.is_some());
        if !can_ask {
            return Err(Refusal::invalid(
                "this client cannot ask people: have them answer with `callboard form answer` or on the page",
            ));
        }
        let open = self.open_forms(session).await?;
        let asks_by_itself = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let mut outcomes = Vec::new();
        if asks_by_itself {
            let Some(mut answered) = answered else {
                if open.is_empty() {
                    return Ok(result(outcomes).into());
                }
                let asked = open.iter().map(|form| (form.name.clone(), InputRequest::Elicitation(form.asked(None))));
                return Ok(InputRequiredResult::from_input_requests(asked.collect()).into());
            };
            for form in &open {
                let given = answered.remove(&form.name).and_then(|given| serde_json::from_value(given).ok());
                if let Some(given) = given {
                    let outcome = self.hand_in(session, form, given).await.unwrap_or_else(|why| why.text());
                    outcomes.push((form.name.clone(), outcome));
                }
            }
        } else {
            for form in &open {
                outcomes.push((form.name.clone(), self.ask_person(session, form, context).await));
            }
        }
        Ok(result(outcomes).into())
    }

    /// Asks one form of a client of an earlier protocol, which is asked while its call goes on.
    async fn ask_person(&self, session: &str, form: &Open, context: &RequestContext<RoleServer>) -> String {
        let mut refused = None;
        for _ in 0..TRIES {
            match context.peer.create_elicitation(form.asked(refused.as_deref()).params).await {
                Ok(given) => match self.hand_in(session, form, given).await {
                    Ok(outcome) => return outcome,
                    Err(why) => refused = Some(why.text()),
                },
                Err(error) => return format!("the client did not ask: {error}"),
            }
        }
        refused.unwrap_or_default()
    }

    /// Hands in what a person answered. What came of it.
    async fn hand_in(&self, session: &str, form: &Open, given: ElicitResult) -> Result<String, Refusal> {
        if given.action != ElicitationAction::Accept {
            return Ok("the person did not answer".to_owned());
        }
        let answers = form.answers(given.content.unwrap_or_default());
        self.ask(ApiCall::post(session, &["forms", &form.name], json!({"answers": answers}))).await?;
        Ok("answered".to_owned())
    }

    async fn open_forms(&self, session: &str) -> Result<Vec<Open>, Refusal> {
        let list = self.ask(ApiCall::get(session, &["context-sets"])).await?;
        let open = |set: &Value| {
            let form = set.get("form")?;
            let is_open = form.get("answered") == Some(&json!(false)) && set.get("enabled") != Some(&json!(false));
            let fields = serde_json::from_value(form.get("fields")?.clone()).ok()?;
            let text = |name: &str| set.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            is_open.then(|| Open { name: text("name"), text: text("content"), fields })
        };
        Ok(items(&list, "context_sets").filter_map(open).collect())
    }
}

fn result(outcomes: Vec<(String, String)>) -> CallToolResult {
    let forms: Vec<_> = outcomes.into_iter().map(|(name, outcome)| json!({"name": name, "outcome": outcome})).collect();
    CallToolResult::structured(json!({"forms": forms}))
}

impl Open {
    /// The request that asks it. `refused` is why the last answer was refused.
    fn asked(&self, refused: Option<&str>) -> ElicitRequest {
        let properties: Map<_, _> = self.fields.iter().map(|field| (field.key.clone(), schema(field))).collect();
        let required: Vec<_> = self.fields.iter().filter(|field| field.required).map(|field| &field.key).collect();
        let message = [Some(self.name.as_str()), Some(self.text.as_str()).filter(|text| !text.is_empty()), refused];
        let message = message.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let asked = json!({"type": "object", "properties": properties, "required": required});
        // All that `schema` makes is such a schema.
        let requested_schema =
            serde_json::from_value(asked).unwrap_or_else(|_| rmcp::model::ElicitationSchema::new(Default::default()));
        ElicitRequest::new(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
    }

    /// What a person answered, as the form takes it: a list is asked for as a text.
    fn answers(&self, given: Value) -> Map<String, Value> {
        let mut answers = object(given);
        for field in self.fields.iter().filter(|field| field.value_type == ValueType::Array) {
            if let Some(Value::String(text)) = answers.get(&field.key) {
                let list: Vec<_> = text.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
                let list = json!(list);
                answers.insert(field.key.clone(), list);
            }
        }
        // A field that was left empty has no answer.
        answers.retain(|_, answer| *answer != json!(""));
        answers
    }
}

/// A field, as clients can ask for it: they know texts, numbers, switches and choices.
fn schema(field: &Field) -> Value {
    let mut schema = match field.value_type {
        ValueType::Number => json!({"type": "number"}),
        ValueType::Boolean => json!({"type": "boolean"}),
        ValueType::Enum => json!({"type": "string", "enum": field.enum_values}),
        ValueType::String | ValueType::Date | ValueType::EnumOrCustom | ValueType::Array | ValueType::File => {
            json!({"type": "string"})
        }
    };
    let more = match field.value_type {
        ValueType::EnumOrCustom => Some(format!("one of {}, or anything else", field.enum_values.join(", "))),
        ValueType::Array => Some("several, separated by commas".to_owned()),
        ValueType::Date => Some("a day, such as 2026-05-01, or a time".to_owned()),
        _ => None,
    };
    let told: Vec<_> = field.description.iter().cloned().chain(more).collect();
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("title".to_owned(), json!(field.label));
        if !told.is_empty() {
            schema.insert("description".to_owned(), json!(told.join("; ")));
        }
    }
    schema
}
