//! Asking a model for a node: its answer is checked, and where it is wrong it is asked once more with the reasons.

use callboard_core::{
    conversation::thoughts::split_thoughts, error::Error as Refusal, state::State, workflow::work::AskModel,
};
use callboard_model::{ChatRequest, ModelName};
use serde_json::{Value, json};

use super::{
    Executor,
    node::{Worked, done, worked},
};
use crate::turn::structured;

/// How often a model is asked for one answer.
const TRIES: usize = 2;

impl Executor {
    /// The answer of a model.
    pub(super) async fn ask(&self, ask: &AskModel, state: &State) -> Worked<Value> {
        let of_manager = || state.team.manager().and_then(|manager| manager.model.clone());
        let named =
            ask.model.as_ref().map(ToString::to_string).or_else(of_manager).or_else(|| self.settings.model.clone());
        let Some(named) = named else {
            let problem = "no model is named: name one here, give the manager one, or set CALLBOARD_MODEL";
            return Ok(Err(Refusal::invalid("/config/model", problem)));
        };
        let model: ModelName = match named.parse() {
            Ok(model) => model,
            Err(error) => {
                let error: callboard_model::ModelError = error;
                return Ok(Err(Refusal::invalid("/config/model", error.to_string())));
            }
        };
        // A secret goes to no model, also where it comes from a page.
        let mask = done!(worked(self.session.mask_of_input().await)?);
        let hidden = |text: &str| mask.mask(text).unwrap_or_else(|| text.to_owned());
        let instructions = format!(
            "{}Answer with JSON alone. It has to match this JSON Schema:\n{}",
            ask.instructions.as_ref().map(|text| format!("{text}\n\n")).unwrap_or_default(),
            ask.schema
        );
        let mut request = ChatRequest::instructed(model.clone(), &hidden(&instructions));
        request.messages.push(json!({"role": "user", "content": hidden(&ask.prompt)}));
        request.response_schema = Some(structured(&model, "answer", ask.schema.clone()));
        let mut why = String::new();
        for _ in 0..TRIES {
            let answer = match self.models.chat(&request, &mut |_| {}).await {
                Ok(answer) => answer,
                Err(error) => {
                    return Ok(Err(Refusal::Outside { code: "model_failed", what: format!("{model}: {error}") }));
                }
            };
            let faults = match ask.answer(split_thoughts(&answer.text).1) {
                Ok(value) => return Ok(Ok(value)),
                Err(faults) => faults,
            };
            why = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            // An empty text is no message.
            let said = if answer.text.trim().is_empty() { "(nothing)".to_owned() } else { hidden(&answer.text) };
            let correction = format!("This is not what was asked for: {why}\nAnswer again, with JSON alone.");
            request.messages.push(json!({"role": "assistant", "content": said}));
            request.messages.push(json!({"role": "user", "content": hidden(&correction)}));
        }
        let what = format!("the answer of {model} does not match the schema, also when asked again: {why}");
        Ok(Err(Refusal::Outside { code: "answer_not_valid", what }))
    }
}
