//! What executing one node does.

use std::{collections::BTreeSet, sync::Arc};

use callboard_core::{
    error::{Error as Refusal, Fault},
    id::{NodeId, VariableName},
    json::pointer_token,
    state::State,
    workflow::{
        Node, Values,
        expression::{evaluate, is_true},
        work::{BrowserAction, BrowserQuery, Goal, Iterate, Route, Routes, Work, read_by},
    },
};
use callboard_engine::{Browsers, Error as Engine};
use serde_json::{Map, Value, json};

use super::Executor;
use crate::Error;

/// What came of a node.
#[derive(Default)]
pub(super) struct Done {
    pub(super) result: Value,
    /// The variables that it sets.
    pub(super) variables: Map<String, Value>,
    /// Where to go on, if not at the next node.
    pub(super) goal: Option<Goal>,
    /// What it repeats, if anything.
    pub(super) repeat: Option<Repeat>,
}

/// What a node repeats.
pub(super) struct Repeat {
    pub(super) over: Vec<Value>,
    pub(super) last: NodeId,
    pub(super) collect: Option<Arc<str>>,
}

impl Done {
    /// A result whose fields are variables of the node. One that is no object is the variable `result`.
    pub(super) fn of(result: Value) -> Self {
        let variables = match &result {
            Value::Object(fields) => fields.clone(),
            value => Map::from_iter([("result".to_owned(), value.clone())]),
        };
        Self { result, variables, ..Self::default() }
    }
}

/// What is done, or why the node failed. The outer error ends the execution.
pub(super) type Worked<T> = Result<Result<T, Refusal>, Error>;

/// What the engine answered: a refusal is a failure of the node.
pub(super) fn worked<T>(answered: Result<T, Engine>) -> Worked<T> {
    match answered {
        Ok(done) => Ok(Ok(done)),
        Err(Engine::Refused(refusal)) => Ok(Err(refusal)),
        Err(error) => Err(error.into()),
    }
}

/// Gives a failure of the node back at once.
macro_rules! done {
    ($worked:expr) => {
        match $worked {
            Ok(done) => done,
            Err(refusal) => return Ok(Err(refusal)),
        }
    };
}
pub(super) use done;

impl Executor {
    /// Does what a node does.
    pub(super) async fn work(&self, node: &Node) -> Worked<Done> {
        let state = self.session.state().await?;
        let reads = done!(node.reads(&state.variables));
        let values = done!(self.values(&state, reads).await?);
        match done!(node.work(&values)) {
            Work::BrowserAction(BrowserAction { tab_name, steps }) => {
                let acted = worked(done!(self.browsers()).act(&self.session, tab_name.as_deref(), &steps).await)?;
                Ok(acted.map(|shown| Done::of(shown.into())))
            }
            Work::BrowserQuery(query) => self.query(query, values).await,
            Work::Transform(set) => computed(move || transform(&set, &values)).await,
            Work::Model(ask) => Ok(self.ask(&ask, &state).await?.map(Done::of)),
            Work::Route(route) => computed(move || go(&route, &values)).await,
            Work::Iterate(Iterate { over, last, collect }) => {
                Ok(Ok(Done { repeat: Some(Repeat { over, last, collect }), ..Done::default() }))
            }
        }
    }

    /// The value of an expression as of now. `pointer` is where it stands.
    pub(super) async fn compute(&self, expression: &str, pointer: &'static str) -> Worked<Value> {
        let state = self.session.state().await?;
        let reads = read_by(expression, &state.variables).collect();
        let values = done!(self.values(&state, reads).await?);
        let expression = expression.to_owned();
        computed(move || {
            evaluate(&expression, &values, &Map::new()).map_err(|problem| Refusal::invalid(pointer, problem))
        })
        .await
    }

    fn browsers(&self) -> Result<&Arc<dyn Browsers>, Refusal> {
        self.browsers.as_ref().ok_or_else(|| {
            let what =
                "sessions have no browser here: browsers live in a server, so start `callboard serve` and name it";
            Refusal::Outside { code: "no_browser", what: what.to_owned() }
        })
    }

    /// The values of variables.
    async fn values(&self, state: &State, names: BTreeSet<VariableName>) -> Worked<Values> {
        let mut values = Values::new();
        for name in names {
            let Some(variable) = state.variables.get(&name) else { continue };
            let text = done!(worked(self.session.value_of(variable).await)?);
            let unreadable = |error: serde_json::Error| Refusal::invalid("", format!("{name} cannot be read: {error}"));
            let value = done!(serde_json::from_str(&text).map_err(unreadable));
            values.insert(name, value);
        }
        Ok(Ok(values))
    }

    async fn query(&self, query: BrowserQuery, values: Values) -> Worked<Done> {
        let BrowserQuery { tab_name, fields, expect } = query;
        let read = done!(worked(done!(self.browsers()).extract(&self.session, tab_name.as_deref(), &fields).await)?);
        let Some(expect) = expect else { return Ok(Ok(Done::of(read.into()))) };
        let known = read.clone();
        let holds = computed(move || {
            let value = evaluate(&expect, &values, &known);
            let value = value.map_err(|problem| Refusal::invalid("/config/expect", problem))?;
            if is_true(&value) {
                return Ok(());
            }
            let shown: String = Value::from(known).to_string().chars().take(500).collect();
            let what = format!("the page is not as expected: `{expect}` is not true of what was read: {shown}");
            Err(Refusal::Outside { code: "not_as_expected", what })
        });
        done!(holds.await?);
        Ok(Ok(Done::of(read.into())))
    }
}

/// Computes something where nothing waits for it.
async fn computed<T: Send + 'static>(compute: impl FnOnce() -> Result<T, Refusal> + Send + 'static) -> Worked<T> {
    match tokio::task::spawn_blocking(compute).await {
        Ok(computed) => Ok(computed),
        Err(_) => Err(Engine::Closed.into()),
    }
}

/// Computes the values of a node. Each expression may name those before it.
fn transform(set: &[(Arc<str>, Arc<str>)], values: &Values) -> Result<Done, Refusal> {
    let mut result = Map::new();
    for (name, expression) in set {
        let wrong = |problem: String| {
            let pointer = format!("/config/set/{}", pointer_token(name));
            Refusal::Invalid(vec![Fault { pointer, problem }])
        };
        let value = evaluate(expression, values, &result).map_err(wrong)?;
        result.insert(name.to_string(), value);
    }
    Ok(Done::of(result.into()))
}

/// Finds where to go on.
fn go(route: &Route, values: &Values) -> Result<Done, Refusal> {
    let goal = match &route.by {
        Routes::Value(value, cases) => Route::goal_of(value, cases),
        Routes::When(routes) => {
            let mut found = None;
            for (at, (when, goal)) in routes.iter().enumerate() {
                let wrong = |problem| Refusal::invalid(format!("/config/routes/{at}/when"), problem);
                if is_true(&evaluate(when, values, &Map::new()).map_err(wrong)?) {
                    found = Some(*goal);
                    break;
                }
            }
            found
        }
    };
    let goal = goal.or(route.otherwise);
    let result = json!({"to": goal.map_or_else(|| "next".to_owned(), Goal::to_word)});
    Ok(Done { result, goal, ..Done::default() })
}
