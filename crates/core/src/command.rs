//! Commands: changes that somebody asks for, and how one is decided.
//!
//! Each change is a type of its noun, which says what it is answered with and how it is decided. Nothing here knows
//! which changes there are.

pub use crate::decision::{DecisionBuilder, DecisionContext, ErasedData, Lookups, Undecided};

use std::{fmt::Debug, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    entry::{Actor, Entry},
    error::Error,
    id::Seq,
    input::InputVisitor,
    rights::Right,
    state::State,
    text::Values,
};

/// A change that somebody asks for. It is checked against the state and answered, item by item where it has items.
pub trait Command: Clone + Debug + Send + Sync + 'static {
    /// What it is answered with.
    type Answer: Send + Sync + 'static;

    /// Who may ask for it. It is checked before anything is looked up.
    const RIGHT: Right;

    /// Whether it makes the session. Every other command needs one that is there.
    const CREATES_SESSION: bool = false;

    /// Whether it erases what older entries say. Such a command is decided by itself, since the state has to be folded anew.
    const ERASES: bool = false;

    /// Whether it is refused where its words cannot be searched for secrets. Otherwise they are left out.
    const NEEDS_WORDS: bool = true;

    /// Whether it can be done in a collection. It takes documents alone.
    const IN_COLLECTIONS: bool = false;

    /// Records what the command leads to and says how it is answered. Where it is refused, nothing that was recorded
    /// counts.
    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Self::Answer, Undecided>;

    /// Decides it as a part of another decision, with the rights of whoever decides that.
    fn perform(&self, decision: &mut DecisionBuilder<'_>) -> Result<Self::Answer, Undecided> {
        decision.allow(Self::RIGHT)?;
        self.decide(decision)
    }

    /// Shows `visitor` all that somebody brought with it. Whatever is left out here is never searched for secrets.
    fn input(&mut self, visitor: &mut dyn InputVisitor);

    /// The texts whose tokens it counts. The engine counts long ones in advance, outside of the session's queue.
    fn texts(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// Older entries that deciding it looks at, so that they can be read all at once before.
    fn entries(&self) -> Vec<Seq> {
        Vec::new()
    }

    /// How many items it has. One with many is decided where nothing else waits for it.
    fn items(&self) -> usize {
        1
    }
}

/// An answer that is kept in the journal, so that a request that carries a key can be given it again.
pub trait KeptAnswer: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// What it is called in the journal.
    const NAME: &'static str;

    /// The answer as the journal has it: its name, with what it says where it says anything.
    fn keep(&self) -> Value {
        match serde_json::to_value(self) {
            Ok(said) if !said.is_null() => json!({Self::NAME: said}),
            _ => Self::NAME.into(),
        }
    }

    /// The answer that was kept as `kept`; `None` where that is an answer of another type.
    fn read(kept: &Value) -> Option<Self> {
        let said = match kept {
            Value::String(name) if name == Self::NAME => Value::Null,
            kept => kept.get(Self::NAME)?.clone(),
        };
        serde_json::from_value(said).ok()
    }
}

/// It is done, and there is no more to say.
impl KeptAnswer for () {
    const NAME: &'static str = "done";
}

/// The entries that a command leads to, to be appended whole or not at all.
#[derive(Clone, Debug)]
pub struct Decision<A> {
    /// The entries, numbered on from the state's head. None where nothing changes.
    pub entries: Vec<Entry>,
    /// The long texts that they speak of.
    pub values: Values,
    /// The answer, once they are appended.
    pub answer: A,
    /// What it takes away from older entries. Where it does, the state is that of before: it has to be folded anew.
    pub erased: ErasedData,
    /// The state after them.
    pub state: State,
}

/// Says which entries `command` leads to, if any, and how it is answered. Changes nothing.
pub fn decide<C: Command>(
    state: &State,
    command: &C,
    context: DecisionContext<'_>,
) -> Result<Decision<C::Answer>, Undecided> {
    if !C::CREATES_SESSION && state.session.id.is_none() {
        return Err(Error::not_found("session", "here").into());
    }
    if let Actor::Agent(name) = context.by {
        state.team.agent(name)?;
    }
    if !C::IN_COLLECTIONS && !state.session.kind.is_session() {
        let (who, what) = (context.by.called().to_owned(), "do this in a collection");
        return Err(Error::Forbidden { who, what, hint: "a collection takes documents alone" }.into());
    }
    let mut decision = DecisionBuilder::new(state, context);
    let answer = command.perform(&mut decision)?;
    decision.is_sound()?;
    decision.hide_earlier()?;
    let DecisionBuilder { state, entries, values, erased, .. } = decision;
    Ok(Decision { entries, values, answer, erased, state })
}
