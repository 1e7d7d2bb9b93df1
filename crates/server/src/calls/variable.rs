//! Variables.

use callboard_api as api;
use callboard_core::{
    error::Error as Refusal,
    id::VariableName,
    variable::{ClearVariable, ClearVariables, SetVariable},
    view::View,
};
use serde_json::value::RawValue;

use super::{
    Answer, Authorized, CallError, WriteOptions,
    cursor::{self, After},
    rights::{Rank, ReadVariables, RestoreSecrets, SetVariables},
};

impl Authorized<ReadVariables> {
    /// List variables
    pub(crate) async fn list_variables(&self, query: api::PageAtQuery) -> Result<Answer<api::VariableList>, CallError> {
        let after = After::read(query.cursor.as_deref())?;
        let limit = query.limit.unwrap_or(usize::MAX);
        let look = |view: View<'_>| {
            let variables = view.variables().filter(|variable| after.is_before(variable.name.as_str()));
            Ok(variables.take(limit.saturating_add(1)).map(api::Variable::of).collect::<Vec<_>>())
        };
        let mut variables = self.look_at(query.at, look).await?;
        let next_cursor = cursor::cut(&mut variables, limit, |variable| variable.name.as_str());
        Ok(Answer::ok(api::VariableList { variables, next_cursor }))
    }

    /// Read a variable
    pub(crate) async fn read_variable(
        &self,
        name: VariableName,
        query: api::RevealQuery,
    ) -> Result<Answer<api::VariableValue>, CallError> {
        if query.reveal && self.rank != Rank::User {
            return Err(self.forbidden("see the values of secrets"));
        }
        if query.reveal && query.at.is_some() {
            let problem = "secrets are shown as they are now: leave `at` or `reveal` out";
            return Err(Refusal::invalid("/at", problem).into());
        }
        let variable = self.look_at(query.at, |view| view.variable(&name).cloned()).await?;
        let mut value = self.session.value_of(&variable).await?;
        if query.reveal && variable.secret {
            value = self.session.reveal(self.actor.clone(), &name).await?.to_string().into();
        }
        let unreadable = |error: serde_json::Error| CallError::new("damaged", format!("the value of {name}: {error}"));
        let value = RawValue::from_string(value.to_string()).map_err(unreadable)?;
        let api::Variable { name, secret, updated_at, .. } = api::Variable::of(&variable);
        Ok(Answer::ok(api::VariableValue { name, value, secret, updated_at }))
    }
}

impl Authorized<RestoreSecrets> {
    /// Puts a secret back where it was hidden.
    pub(crate) async fn restore_secret(
        &self,
        body: api::RestoreSecret,
        options: WriteOptions,
    ) -> Result<Answer<api::RestoredSecret>, CallError> {
        let api::RestoreSecret { name, reason } = body;
        let restoring = self.session.restoring(&name, &reason).await?;
        let receipt = self.execute(options, restoring).await?;
        let entries = receipt.answer.entries;
        Ok(Answer::ok(api::RestoredSecret { name, entries, head: receipt.head }).at(receipt.head))
    }
}

impl Authorized<SetVariables> {
    /// Set a variable
    pub(crate) async fn put_variable(
        &self,
        name: VariableName,
        body: api::PutVariable,
        options: WriteOptions,
    ) -> Result<Answer<api::VariableAfter>, CallError> {
        let api::PutVariable { value, reason, secret, origins } = body;
        let receipt =
            self.execute(options, SetVariable::new(name.clone(), value, secret, reason)?.typed_into(origins)).await?;
        let look = |view: View<'_>| Ok(api::Variable::of(view.variable(&name)?));
        let variable = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        let mut after = api::VariableAfter { variable, rewritten: None, forks: Vec::new(), searched: None };
        // An agent is not told how much of what is hidden from it says something.
        if after.variable.secret && self.rank == Rank::User {
            let rewritten = self.session.rewritten_by(receipt.head).await?;
            if let Some(first) = rewritten.first() {
                after.forks = self.app.board.holders(&self.session, *first).await?;
            }
            after.rewritten = Some(rewritten.len());
            after.searched = (!self.session.is_looked_for(&name).await?).then_some(false);
        }
        Ok(Answer::ok(after).at(receipt.head))
    }

    /// Clear a variable
    pub(crate) async fn clear_variable(
        &self,
        name: VariableName,
        query: api::ReasonQuery,
        options: WriteOptions,
    ) -> Result<(), CallError> {
        self.execute(options, ClearVariable { name, reason: query.reason }).await?;
        Ok(())
    }

    /// Clear all variables
    pub(crate) async fn clear_variables(
        &self,
        query: api::ReasonQuery,
        options: WriteOptions,
    ) -> Result<(), CallError> {
        self.execute(options, ClearVariables { reason: query.reason }).await?;
        Ok(())
    }
}
