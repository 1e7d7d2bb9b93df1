//! Forms.

use callboard_api as api;
use callboard_core::{form::SubmitForm, id::SetName, view::View};

use super::{Answer, Authorized, CallError, WriteOptions, context_set::Seen, rights::AnswerForm};

impl Authorized<AnswerForm> {
    pub(crate) async fn answer_form(
        &self,
        name: SetName,
        body: api::FormAnswers,
        options: WriteOptions,
    ) -> Result<Answer<api::ContextSet>, CallError> {
        let receipt = self.execute(options, SubmitForm { form: name.clone(), answers: body.answers }).await?;
        let look = |view: View<'_>| Ok(Seen::of(view.set(&name)?, &view));
        let seen = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        Ok(Answer::ok(seen.whole(&self.session).await?).at(receipt.head))
    }
}
