//! What can happen to variables, and who sees it: the user and the manager, and all agents where the session shares
//! variables.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Origin, Variable, Variables, display};
use crate::{
    audience::Audience,
    entry::{Actor, Hash, Header},
    error::Error,
    fact::{
        Description, ERASED, Earlier, Fact, MeantFor, Sentence, erase_json, erase_words, json, json_text, sealed, text,
    },
    id::{NodeId, Seq, VariableName},
    recall::{Recallable, Source},
    rights::Share,
    state::State,
    text::Text,
    view::View,
};

/// What an entry about all variables is about.
const ALL: &str = "variables";

/// What the subjects of variables begin with.
const VARIABLE: &str = "variable:";

impl<'a> View<'a> {
    /// The variables by name; none where the viewer may not see them.
    pub fn variables(&self) -> impl Iterator<Item = &'a Variable> {
        let variables = self.may_see(Share::Variables).then(|| self.state.variables.iter());
        variables.into_iter().flatten()
    }

    /// The variable with this name. To who may not see variables, there is none.
    pub fn variable(&self, name: &VariableName) -> Result<&'a Variable, Error> {
        let variable = self.state.variables.get(name).filter(|_| self.may_see(Share::Variables));
        variable.ok_or_else(|| Error::not_found("variable", name))
    }

    /// Whether the value of a variable may have words of a web page: it is no number or the like, and the variable belongs to
    /// a node that was executed.
    pub fn may_quote_page(&self, variable: &Variable) -> bool {
        let node = variable.name.node().and_then(|number| self.state.workflow.get(NodeId(number)));
        let has_words = variable.display.starts_with(['"', '[', '{']);
        has_words && node.is_some_and(|node| node.result.is_some())
    }
}

/// A variable was set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Set {
    /// Its name.
    pub name: VariableName,
    /// Its value, with `[hidden]` in the place of each secret; absent where it is long.
    #[serde(default, deserialize_with = "crate::json::given", skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The JSON text of a long value, which stands beside the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_value: Option<Text>,
    /// The value in one line.
    pub(super) display: Arc<str>,
    /// Whether something in the value is a secret.
    pub(super) secret: bool,
    /// See [`Variable::marked`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) marked: Option<bool>,
    /// See [`Variable::origins`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) origins: Vec<Origin>,
    /// The hash under which the secrets are stored beside the journal, sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<Hash>,
    /// Why it was set.
    pub(super) reason: Arc<str>,
}

/// A variable was cleared, or all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cleared {
    /// The name of the one; absent where all of them were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<VariableName>,
    /// Why.
    pub(super) reason: Arc<str>,
}

fn subject(name: Option<&VariableName>) -> String {
    name.map_or_else(|| ALL.to_owned(), |name| format!("{VARIABLE}{name}"))
}

impl Fact for Set {
    const TYPE: &'static str = "variable.set";

    const SENTENCE: Sentence = |it| format!("{} set {} to {}", it.by, it.name(), it.text("display"));

    const DESCRIPTION: Description = Description {
        earlier: Earlier::Replaced,
        ..Description::of(&[json("value"), json_text("long_value"), text("display"), text("reason"), sealed("sealed")])
    };

    const SOURCE: Option<Source> = Some(Source::Variable);

    const MEANT_FOR: MeantFor = MeantFor::Shared(Share::Variables);

    fn subject(&self) -> String {
        subject(Some(&self.name))
    }

    fn erase(data: &mut Value) {
        erase_words(&Self::DESCRIPTION, data);
        erase_json(data, "value", "long_value");
        if let Some(shown) = data.get_mut("display") {
            *shown = display(&ERASED.into()).into();
        }
    }

    fn apply(self, state: &mut State, header: &Header) {
        let Self { name, display, secret, marked, origins, sealed, .. } = self;
        match sealed {
            Some(sealed) => state.secrets.learn(&name.as_str().into(), sealed, header.seq),
            None if marked == Some(false) && header.by == Actor::User => {
                state.secrets.forget(name.as_str(), header.seq)
            }
            None => {}
        }
        let variable = Variable { name, display, secret, marked, origins, updated_at: header.at, seq: header.seq };
        state.variables.0.insert_mut(variable.name.clone(), Arc::new(variable));
    }

    fn recallable(&self) -> Option<Recallable> {
        let value: Text = match (&self.long_value, &self.value) {
            (Some(long), _) => long.clone(),
            (None, Some(Value::String(text))) => text.as_str().into(),
            (None, value) => value.as_ref().unwrap_or(&Value::Null).to_string().as_str().into(),
        };
        let name = format!("{} = ", self.name);
        (!self.secret).then(|| Recallable::new(Source::Variable, vec![name.as_str().into(), value]))?
    }

    /// Only the value that it has now, also where that is older than the session's sharing it.
    fn recalls_from(view: &View<'_>, subject: &str, _: &Audience) -> Option<Seq> {
        let name = subject.strip_prefix(VARIABLE)?.parse().ok()?;
        Some(view.variable(&name).ok()?.seq)
    }

    fn visible_to(view: &View<'_>, subject: &str) -> Option<Audience> {
        let name = subject.strip_prefix(VARIABLE)?.parse().ok()?;
        view.variable(&name).ok().map(|_| view.state.audience_of(Share::Variables))
    }
}

impl Fact for Cleared {
    const TYPE: &'static str = "variable.cleared";

    const SENTENCE: Sentence = |it| match &*it.name() {
        "" => format!("{} cleared all variables{}", it.by, it.about("reason")),
        name => format!("{} cleared {name}{}", it.by, it.about("reason")),
    };

    const DESCRIPTION: Description = Description { earlier: Earlier::Deleted, ..Description::of(&[text("reason")]) };

    const MEANT_FOR: MeantFor = MeantFor::Shared(Share::Variables);

    fn subject(&self) -> String {
        subject(self.name.as_ref())
    }

    fn apply(self, state: &mut State, header: &Header) {
        match &self.name {
            Some(name) => drop(state.variables.0.remove_mut(name)),
            None => state.variables = Variables::default(),
        }
        // What an agent clears stays masked: else a model could clear a secret to see it.
        if header.by == Actor::User {
            state.secrets.forget_each(self.name.as_ref().map(VariableName::as_str), header.seq);
        }
    }
}
