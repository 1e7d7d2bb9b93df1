//! Profiles: how the parts of a prompt share its budget.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Allowed, Amount, LayoutName, LayoutPart, LayoutText, PartName, Shares, layout, part_name};
use crate::{
    count::{Factor, Tokens},
    error::Error,
    input::InputVisitor,
};

/// How the parts of a prompt share its budget. Parts that are not named here have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The most tokens of a prompt whose request names no budget. If absent: the model's window less room for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 1))]
    pub budget: Option<Tokens>,
    /// How many tokens of the model's window are kept for its answer, and the most that an answer in a run may have. If absent: 4,096
    /// or an eighth of the window, whichever is less, are kept, and the model's own limit holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 0))]
    pub answer_tokens: Option<Tokens>,
    /// Whether prompts show passages that recall finds for the task. If absent: in the layout `director`, and in a
    /// layout of the session that lists `recall`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<bool>,
    /// The parts that differ from their defaults.
    #[serde(deserialize_with = "shares", skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = schema::ProfileParts))]
    pub parts: BTreeMap<PartName, Shares>,
    /// The layout of prompts that name none. If absent: the session's own, or `team`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutName>,
    /// The session's own layout: its parts in order. Prompts that name no layout use it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layout_parts: Vec<LayoutPart>,
    /// Whether the parts that change often, such as the plan, the workflow, the variables, the browser's tabs and context
    /// sets that changed lately, come after the conversation. A provider's cache then keeps more of the prompt from one
    /// turn to the next.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changing_parts_last: bool,
    /// How many pictures, sounds and PDFs of a conversation, the newest, models are given; the others are named. If absent: 4, and
    /// none for models of which Callboard does not know whether they take any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 0, maximum = 100))]
    pub media: Option<u8>,
}

/// The most pictures that a profile lets models see: providers refuse more.
const MOST_MEDIA: u8 = 100;

/// The most tokens that are kept for an answer where a profile does not say how many.
const ANSWER_TOKENS: Tokens = Tokens(4096);

/// Reads the shares of parts that share the budget.
fn shares<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<PartName, Shares>, D::Error> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    struct Sharing(PartName);

    impl<'de> Deserialize<'de> for Sharing {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            part_name::read(deserializer, PartName::SHARING).map(Self)
        }
    }

    let shares = BTreeMap::<Sharing, Shares>::deserialize(deserializer)?;
    Ok(shares.into_iter().map(|(Sharing(part), shares)| (part, shares)).collect())
}

impl Profile {
    /// How many tokens of a model's window are kept for its answer.
    pub fn room_for_answer(&self, window: Tokens) -> Tokens {
        self.answer_tokens.unwrap_or(ANSWER_TOKENS.min(Tokens(window.0 / 8)))
    }

    /// The most tokens of a prompt for a model with this window, where its request names no budget.
    pub fn budget_in(&self, window: Tokens) -> Tokens {
        self.budget.unwrap_or_else(|| window.minus(self.room_for_answer(window)))
    }

    /// Refuses a budget of nothing, a part whose minimum is above its maximum in every budget, and a layout that makes no prompt.
    pub(crate) fn check(&self, pointer: &str) -> Result<(), Error> {
        for (part, shares) in &self.parts {
            let above = match (shares.min, shares.max) {
                (Some(Amount::Tokens(min)), Some(Amount::Tokens(max))) => min > max,
                (Some(Amount::Percent(min)), Some(Amount::Percent(max))) => min > max,
                _ => false,
            };
            if above {
                let pointer = format!("{pointer}/parts/{}/min", part.as_str());
                return Err(Error::contradiction(pointer, "the minimum is above the maximum"));
            }
        }
        if self.budget == Some(Tokens(0)) {
            return Err(Error::invalid(format!("{pointer}/budget"), "no prompt has 0 tokens: give 1 or more"));
        }
        if self.media.is_some_and(|media| media > MOST_MEDIA) {
            return Err(Error::invalid(format!("{pointer}/media"), "give a number from 0 to 100"));
        }
        if self.layout.is_some() && !self.layout_parts.is_empty() {
            let problem = "the session lists parts of its own in `layout_parts`: name a layout or list parts, not both";
            return Err(Error::contradiction(format!("{pointer}/layout"), problem));
        }
        layout::check(&self.layout_parts, &format!("{pointer}/layout_parts"))
    }

    /// See [`Command::input`](crate::command::Command::input).
    pub(crate) fn input(&mut self, visitor: &mut dyn InputVisitor) {
        for (at, part) in self.layout_parts.iter_mut().enumerate() {
            if let LayoutPart::Text(LayoutText { name, text }) = part {
                visitor.name(format_args!("/prompt/layout_parts/{at}/name"), name);
                visitor.text(text);
            }
        }
    }

    /// What `part` gets of the budget, in tokens of the vocabulary; `default` says what is not said here.
    pub fn allowed(&self, part: PartName, default: Shares, budget: Tokens, factor: Factor) -> Allowed {
        let of = |amount: Amount| match amount {
            Amount::Tokens(tokens) => factor.fitting(tokens).min(budget),
            Amount::Percent(_) => amount.of(budget),
        };
        let said = self.parts.get(&part).copied().unwrap_or_default();
        let max = said.max.or(default.max).map_or(budget, of);
        let min = said.min.or(default.min).map_or(Tokens(0), of).min(max);
        let default_priority = default.priority.unwrap_or_default();
        Allowed { min, max, priority: said.priority.unwrap_or(default_priority), default_priority }
    }
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
mod schema {
    use std::borrow::Cow;

    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{
            ObjectBuilder, Ref, RefOr, Schema,
            schema::{AdditionalProperties, Type},
        },
    };

    use super::{Amount, PartName, Shares};
    use crate::{same_schema, schema};

    same_schema! {
        Amount as ShareOf;
    }

    /// The parts that differ from their defaults.
    pub(super) struct ProfileParts;

    impl PartialSchema for ProfileParts {
        fn schema() -> RefOr<Schema> {
            let no_others = AdditionalProperties::<Schema>::FreeForm(false);
            let parts = ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(no_others));
            let parts = parts.description(Some("The parts that differ from their defaults."));
            let shares = || Ref::from_schema_name(Shares::name());
            let sharing = PartName::SHARING.iter();
            RefOr::T(Schema::Object(sharing.fold(parts, |parts, name| parts.property(name.as_str(), shares())).into()))
        }
    }

    impl ToSchema for ProfileParts {
        fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
            schemas.push((Shares::name().into(), Shares::schema()));
            Shares::schemas(schemas);
        }
    }

    impl PartialSchema for PartName {
        fn schema() -> RefOr<Schema> {
            let names = || PartName::ALL.iter().map(|name| name.as_str());
            schema::text("The name of a part of prompts that every session has.", |schema| {
                schema.enum_values(Some(names()))
            })
        }
    }

    impl ToSchema for PartName {
        fn name() -> Cow<'static, str> {
            "PartName".into()
        }
    }

    #[derive(ToSchema)]
    #[serde(untagged)]
    enum ShareOf {
        Tokens(u64),
        Percent(Percent),
    }

    #[derive(ToSchema)]
    #[schema(pattern = "^(100|[0-9]{1,2})%$")]
    struct Percent(String);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_room_in_the_window() {
        let budget = |json: &str, window| serde_json::from_str::<Profile>(json).unwrap().budget_in(Tokens(window)).0;
        assert_eq!([128_000, 32_768, 8000].map(|window| budget("{}", window)), [123_904, 28_672, 7000]);
        assert_eq!(budget(r#"{"answer_tokens": 10000}"#, 128_000), 118_000);
        assert_eq!(budget(r#"{"answer_tokens": 10000, "budget": 128000}"#, 128_000), 128_000);
    }

    #[test]
    fn parts_of_a_layout_are_names_or_texts_and_what_is_neither_says_which_there_are() {
        let read =
            |parts: serde_json::Value| serde_json::from_value::<Profile>(serde_json::json!({"layout_parts": parts}));
        let parts = serde_json::json!(["task", {"name": "house rules", "text": "Be brief."}]);
        assert_eq!(serde_json::json!(read(parts.clone()).unwrap().layout_parts), parts);
        let refused = |part: serde_json::Value| read(serde_json::json!([part])).unwrap_err().to_string();
        let unknown = refused("tsk".into());
        assert!(unknown.starts_with("unknown variant `tsk`, expected one of `instructions`, `team`"), "{unknown}");
        assert_eq!(refused(serde_json::json!({"name": "a"})), "missing field `text`");
        assert_eq!(
            refused(7.into()),
            "invalid type: integer `7`, expected the name of a part, or an object with `name` and `text`"
        );
    }

    #[test]
    fn shares_are_read_as_people_write_them() {
        let profile = |json: &str| serde_json::from_str::<Profile>(json);
        let read = profile(r#"{"parts": {"history": {"min": 1000, "max": "50%", "priority": 5}}}"#).unwrap();
        let allowed =
            read.parts.keys().map(|part| read.allowed(*part, Shares::default(), Tokens(10_000), Factor::ONE)).next();
        let expected = Allowed { min: Tokens(1000), max: Tokens(5000), priority: 5, default_priority: 0 };
        assert_eq!(allowed, Some(expected));
        assert_eq!(serde_json::to_string(&read).unwrap().replace(' ', "").len(), 59);
        for wrong in [r#"{"parts": {"sets": {}}}"#, r#"{"parts": {"task": {"min": "101%"}}}"#, r#"{"part": {}}"#] {
            assert!(profile(wrong).is_err(), "{wrong}");
        }
    }
}
