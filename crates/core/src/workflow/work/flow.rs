//! Nodes that say which nodes are executed next.

use std::sync::Arc;

use serde_json::Value;

use super::read::Open;
use crate::{id::NodeId, reader::Reader};

/// The word for the end of the workflow as a place to go on at.
const END: &str = "end";

/// The type `route`: it says where to go on, by the first condition that holds, or by a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// What decides.
    pub by: Routes,
    /// Where to go on otherwise. If absent: at the next node.
    pub otherwise: Option<Goal>,
}

/// What decides where to go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Routes {
    /// The first of these expressions that is true.
    When(Vec<(Arc<str>, Goal)>),
    /// This value, as a text.
    Value(Value, Vec<(Arc<str>, Goal)>),
}

/// Where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// At this node.
    Node(NodeId),
    /// Nowhere: the workflow is done.
    End,
}

/// The type `iterate`: the nodes right behind it are repeated, once for each element of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Iterate {
    /// The list.
    pub over: Vec<Value>,
    /// The last node that is repeated.
    pub last: NodeId,
    /// An expression whose value is kept after each round.
    pub collect: Option<Arc<str>>,
}

impl Goal {
    /// The word for it.
    pub fn to_word(self) -> String {
        match self {
            Self::Node(id) => id.to_string(),
            Self::End => END.to_owned(),
        }
    }
}

impl Reader<Open> {
    pub(super) fn route(&mut self, config: &Value, at: &str) -> Option<Route> {
        let known = ["routes", "value", "cases", "else"];
        let object = self.object(config, at, "the configuration of `route`", &known, &[])?;
        let routes = self.optional(&object, "routes", |reader, value, at| {
            reader.list(value, at, |reader, value, at| {
                let route = reader.object(value, at, "a route", &["when", "to"], &[])?;
                let when = reader.required(&route, "when", Self::text);
                let to = reader.required(&route, "to", Self::goal);
                Some((when?, to?))
            })
        });
        let cases = self.optional(&object, "cases", |reader, value, at| reader.named(value, at, Self::goal));
        let value = config.get("value");
        let otherwise = self.optional(&object, "else", Self::goal);
        let has_cases = object.get("cases").is_some();
        let by = match (object.get("routes").is_some(), has_cases) {
            (true, false) if value.is_none() => Routes::When(routes?),
            (false, true) if value.is_some() => Routes::Value(value?.clone(), cases?),
            _ => {
                let problem = "give `routes` with a condition each, or a `value` and its `cases`";
                self.fault(object.at(if has_cases { "value" } else { "routes" }), problem.to_owned());
                return None;
            }
        };
        Some(Route { by, otherwise })
    }

    fn goal(&mut self, value: &Value, at: &str) -> Option<Goal> {
        match value.as_str() {
            Some(END) => Some(Goal::End),
            _ => self.node(value, at).map(Goal::Node),
        }
    }

    pub(super) fn iterate(&mut self, config: &Value, at: &str) -> Option<Iterate> {
        let known = ["over", "last", "start", "count", "collect"];
        let object = self.object(config, at, "the configuration of `iterate`", &known, &[])?;
        let over = self.required(&object, "over", |reader, value, at| match value {
            Value::Array(all) => Some(all.clone()),
            value if reader.is_open(value) => Some(Vec::new()),
            value => {
                let is = match value {
                    Value::Object(_) => "an object",
                    Value::String(_) => "a text",
                    Value::Number(_) => "a number",
                    Value::Bool(_) => "true or false",
                    Value::Null | Value::Array(_) => "null",
                };
                reader.fault(at, format!("use a list, or a template that stands for one: this is {is}"));
                None
            }
        });
        let last = self.required(&object, "last", Self::node);
        let start = self.optional(&object, "start", Self::count).unwrap_or_default();
        let count = self.optional(&object, "count", Self::count);
        let collect = self.optional(&object, "collect", Self::text);
        let (start, count) = (index(start), count.map_or(usize::MAX, index));
        let over = over?.into_iter().skip(start).take(count).collect();
        Some(Iterate { over, last: last?, collect })
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Route {
    /// Where a value leads.
    pub fn goal_of(value: &Value, cases: &[(Arc<str>, Goal)]) -> Option<Goal> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        cases.iter().find(|(case, _)| **case == *text).map(|(_, goal)| *goal)
    }
}
