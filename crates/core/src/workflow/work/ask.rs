//! What nodes ask models.

use std::sync::Arc;

use serde_json::Value;

use super::read::Open;
use crate::{error::Fault, json, reader::Reader};

/// How many faults of an answer a model is told.
const TOLD: usize = 5;

/// The type `model`: a model is asked, and its answer is checked.
#[derive(Clone, Debug, PartialEq)]
pub struct AskModel {
    /// The question.
    pub prompt: Arc<str>,
    /// What the model is told before it.
    pub instructions: Option<Arc<str>>,
    /// The JSON Schema of the answer.
    pub schema: Value,
    /// The model: `openai:NAME` or `anthropic:NAME`. If absent: the manager's, or the default one.
    pub model: Option<Arc<str>>,
}

impl Reader<Open> {
    pub(super) fn ask_model(&mut self, config: &Value, at: &str) -> Option<AskModel> {
        let known = ["prompt", "instructions", "schema", "model"];
        let object = self.object(config, at, "the configuration of `model`", &known, &[])?;
        let prompt = self.required(&object, "prompt", Self::said);
        let instructions = self.optional(&object, "instructions", Self::said);
        let model = self.optional(&object, "model", Self::said);
        let schema = self.required(&object, "schema", |reader, schema, at| {
            let problem = match schema {
                Value::Object(_) => jsonschema::validator_for(schema).err().map(|error| error.to_string()),
                _ => Some("use an object".to_owned()),
            };
            match problem {
                Some(problem) => {
                    reader.fault(at, format!("it is no JSON Schema: {problem}"));
                    None
                }
                None => Some(schema.clone()),
            }
        });
        Some(AskModel { prompt: prompt?, instructions, schema: schema?, model })
    }
}

impl AskModel {
    /// The answer in what a model said, or what is wrong with it.
    ///
    /// # Errors
    /// It is no JSON, or not what the schema asks for.
    pub fn answer(&self, said: &str) -> Result<Value, Vec<Fault>> {
        let fault = |problem: String| vec![Fault { pointer: String::new(), problem }];
        let value = json::value_in(said).ok_or_else(|| fault("the answer is no JSON: give JSON alone".to_owned()))?;
        let validator = jsonschema::validator_for(&self.schema).map_err(|error| fault(error.to_string()))?;
        let faults = |value: &Value| json::faults_of(value, &validator, TOLD);
        let wrong = faults(&value);
        if wrong.is_empty() {
            return Ok(value);
        }
        // Models that must give every field give null for those that they mean to leave out.
        let said = json::without_nulls(value);
        if faults(&said).is_empty() { Ok(said) } else { Err(wrong) }
    }
}
