//! Ids of calls in the form that a provider takes. Those that sessions hold come from anywhere: they may be long, have any
//! characters, and stand for one call after another.

use std::collections::BTreeMap;

use callboard_core::entry::Hash;

use crate::{provider::Provider, tool_names::cleaned};

/// Which ids a provider takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdForm {
    /// Letters, digits, `_` and `-`, at most so many.
    Plain(usize),
    /// Nine letters and digits.
    Nine,
}

/// The ids of calls so far.
pub(super) struct CallIds {
    form: IdForm,
    /// How often each was wanted.
    taken: BTreeMap<String, u64>,
    /// What the calls were given whose results come next.
    open: Vec<(String, String)>,
}

/// The most characters that OpenAI takes.
const OPENAI: usize = 40;

impl IdForm {
    /// That of Anthropic's API, which says nothing of their length.
    pub(super) const ANTHROPIC: Self = Self::Plain(usize::MAX);

    /// That of chat completions at a provider.
    pub(super) fn of(provider: Provider) -> Self {
        match provider {
            Provider::Mistral => Self::Nine,
            _ => Self::Plain(OPENAI),
        }
    }

    /// An id in this form, the same for the same id.
    pub(super) fn fit(self, id: &str) -> String {
        match self {
            Self::Nine if id.len() == 9 && id.chars().all(|character| character.is_ascii_alphanumeric()) => {
                id.to_owned()
            }
            Self::Nine => format!("{:.9}", Hash::of(id.as_bytes()).to_string()),
            Self::Plain(_) if id.is_empty() => "call".to_owned(),
            Self::Plain(longest) => cleaned(id, longest),
        }
    }

    /// The id of another call for which `id`, which is in this form, was wanted too.
    fn again(self, id: &str, times: u64) -> String {
        let end = format!("-{times}");
        match self {
            Self::Nine => self.fit(&format!("{id}{end}")),
            Self::Plain(longest) => id.chars().take(longest.saturating_sub(end.len())).collect::<String>() + &end,
        }
    }
}

impl CallIds {
    /// None so far.
    pub(super) fn new(form: IdForm) -> Self {
        Self { form, taken: BTreeMap::new(), open: Vec::new() }
    }

    /// The id of a call for which one in the right form is wanted: no call before it has it.
    pub(super) fn call(&mut self, wanted: &str) -> String {
        let mut id = wanted.to_owned();
        while self.taken.contains_key(&id) {
            let times = self.taken.entry(wanted.to_owned()).or_default();
            *times += 1;
            id = self.form.again(wanted, *times);
        }
        self.taken.insert(id.clone(), 1);
        self.open.push((wanted.to_owned(), id.clone()));
        id
    }

    /// The id that the call has whose result this is.
    pub(super) fn result(&mut self, wanted: &str) -> Option<String> {
        let at = self.open.iter().position(|(id, _)| id == wanted)?;
        Some(self.open.remove(at).1)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Provider,
        call_ids::{CallIds, IdForm},
    };

    #[test]
    fn every_call_has_an_id_of_its_own_in_the_form_that_is_taken() {
        let long = "x".repeat(60);
        for (form, longest) in [(IdForm::of(Provider::OpenAi), 40), (IdForm::of(Provider::Mistral), 9)] {
            let mut ids = CallIds::new(form);
            let wanted = ["a b", "a b", "", &long, &long, "call_1", "call_1", "call_1-1"].map(|id| form.fit(id));
            let given: Vec<_> = wanted.iter().map(|id| ids.call(id)).collect();
            for (at, id) in given.iter().enumerate() {
                assert!(!id.is_empty() && id.len() <= longest && !given[..at].contains(id), "{given:?}");
            }
            let results: Vec<_> = wanted.iter().map(|id| ids.result(id).unwrap()).collect();
            assert_eq!(results, given);
        }
        assert_eq!(IdForm::Nine.fit("abcDEF123"), "abcDEF123");
        assert_eq!(IdForm::Nine.fit("call_1").len(), 9);
    }
}
