//! Answering forms.

use std::sync::Arc;

use crate::{
    command::{Command, DecisionBuilder, Undecided},
    context_set::{
        ContextSet,
        facts::{FormAnswered, Updated},
        form::{Form, SubmitForm},
    },
    error::{ConflictKind, Error},
    input::InputVisitor,
    rights::Right,
    text::Text,
};

/// Takes the user's answers to a form: it becomes a set with readable content that its declared audience sees. The
/// run that waits for it goes on; where none does, the manager is told in its history.
impl Command for SubmitForm {
    type Answer = ();

    const RIGHT: Right = Right::user("answer forms");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Self { form: name, answers } = self;
        let Some(held) = decision.state.sets.get(name) else { return Err(Error::not_found("form", name).into()) };
        let set = held.set.clone();
        let Some(form) = &set.form else { return Err(Error::not_found("form", name).into()) };
        if form.answered {
            let what = format!("the form {name} has been answered");
            return Err(Error::conflict(ConflictKind::FormAnswered, what, "change the context set instead").into());
        }
        form.check(answers)?;
        let request = match &set.content {
            Text::Inline(text) => text.clone(),
            Text::Stored(stored) => format!("{}\n[shortened here: it was said whole in main]", stored.beginning).into(),
        };
        let content: Arc<str> = form.readable(&request, answers).into();
        let answered = ContextSet {
            content: Text::keep(&content, "the answers", &mut decision.values)?,
            form: Some(Form { answered: true, answers: answers.clone(), ..form.clone() }),
            tokens: decision.context.count.count(&content),
            ..ContextSet::clone(&set)
        };
        let is_told = decision.state.runs.wait_for_form(name);
        decision.record(Updated(answered));
        if !is_told {
            decision.record(FormAnswered { name: name.clone() });
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/form"), self.form.as_str());
        visitor.named_fields(format_args!("/answers"), &mut self.answers);
    }
}
