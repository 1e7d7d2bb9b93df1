//! Facts: what every type of entry must say of itself.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    audience::Audience,
    entry::{Draft, Entry, Header},
    error::Error,
    id::Seq,
    input::HideSecrets,
    json::{text_of, value_of},
    recall::{Recallable, Source},
    rights::Share,
    sentence::Statement,
    state::State,
    time::Timestamp,
    view::View,
};

/// Something that can happen in a session. What it carries is the `data` of its entry; the rest is here, in one place
/// for each type: its subject, its audience, what it changes, and what each viewer sees of it.
pub trait Fact: Serialize + DeserializeOwned {
    /// `noun.verb_past`.
    const TYPE: &'static str;

    /// What an entry of the type says in one plain sentence.
    const SENTENCE: Sentence;

    /// The version of what it carries.
    const VERSION: u16 = 1;

    /// What readers must know of the type, whatever one entry says.
    const DESCRIPTION: Description;

    /// What kind of thing is found where something of it is found again; see [`recallable`](Self::recallable). Each kind is that
    /// of one type.
    const SOURCE: Option<Source> = None;

    /// For whom it is besides the user, where that is the same for all of the type.
    const MEANT_FOR: MeantFor = MeantFor::Nobody;

    /// What it is about, for instance `set:Brief`.
    fn subject(&self) -> String;

    /// Which agents may see it, if it follows `before`.
    fn audience(&self, before: &State) -> Audience {
        match Self::MEANT_FOR {
            MeantFor::Nobody => Audience::None,
            MeantFor::Manager => before.team.managers(),
            MeantFor::Shared(what) => before.audience_of(what),
            MeantFor::All => Audience::All,
        }
    }

    /// The time that its author gave it.
    fn time(&self) -> Option<Timestamp> {
        None
    }

    /// The keys that it claims, each unique in its session, if it follows `before`.
    fn keys(&self, _before: &State) -> Vec<String> {
        Vec::new()
    }

    /// Applies it to the state. Total: what was once decided always applies.
    fn apply(self, state: &mut State, header: &Header);

    /// What of it can be found again later.
    fn recallable(&self) -> Option<Recallable> {
        None
    }

    /// From which entry on the viewer may find what entries with this subject and audience say; `None` where it may find none of
    /// them. What was said before was hidden from the viewer since, is replaced, or is gone.
    fn recalls_from(_view: &View<'_>, _subject: &str, _audience: &Audience) -> Option<Seq> {
        None
    }

    /// What an agent in its audience sees of it, given what the agent may see now; `None` if it sees nothing.
    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if Self::MEANT_FOR.has(view) && view.was_meant(header) { Seen::fact(&self) } else { None }
    }

    /// Puts what says nothing in the place of all words in the data of an entry. What is left is valid, and the state that it
    /// leads to holds none of the words.
    fn erase(data: &mut Value) {
        erase_words(&Self::DESCRIPTION, data);
    }

    /// Who may see now what an entry with this subject is about; `None` where that is gone, or is for no agent to see by
    /// itself.
    fn visible_to(_view: &View<'_>, _subject: &str) -> Option<Audience> {
        None
    }
}

/// Says in a sentence what an entry says. What its reader may not see is not in it.
pub type Sentence = fn(&Statement<'_>) -> String;

/// For whom a fact is, besides the user.
#[derive(Clone, Copy, Debug)]
pub enum MeantFor {
    /// Nobody.
    Nobody,
    /// The manager.
    Manager,
    /// The manager, and all agents where the session shares this.
    Shared(Share),
    /// All agents.
    All,
}

impl MeantFor {
    /// Whether the agent that looks is one of those now.
    pub(crate) fn has(self, view: &View<'_>) -> bool {
        match self {
            Self::Nobody => false,
            Self::Manager => view.is_in_charge(),
            Self::Shared(what) => view.may_see(what),
            Self::All => true,
        }
    }
}

/// What readers must know of a type of fact.
pub struct Description {
    /// Where in its data somebody's own words stand. Whatever counts, searches, masks or erases words goes by it.
    pub texts: &'static [TextField],
    /// The type that it is shown as to a viewer who may no longer see what it is about; `None` where such a viewer gets
    /// nothing.
    pub gone_as: Option<&'static str>,
    /// What becomes of what earlier entries about the same thing say.
    pub earlier: Earlier,
    /// Which words of earlier entries it says again by its nature. Erasing an entry finds the copies of its words by it, and by
    /// [what single entries say](Entry::copied_from).
    pub repeats: Repeats,
}

impl Description {
    /// Of a fact that has words in these fields alone, repeats none, and leaves what earlier entries say as it is.
    pub const fn of(texts: &'static [TextField]) -> Self {
        Self { texts, gone_as: None, earlier: Earlier::Stands, repeats: Repeats::Nothing }
    }

    /// The fields of words. What is sealed is none.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static TextField> {
        self.texts.iter().filter(|field| field.kind != TextKind::Sealed)
    }

    /// Changes what somebody's own words are in the data of an entry.
    pub fn change_words(&self, data: &mut Value, mut change: impl FnMut(&mut Value, &TextField)) {
        for field in self.words() {
            field.values_mut(data).into_iter().for_each(|value| change(value, field));
        }
    }
}

/// Where words stand in the data of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextField {
    /// The names of fields from the outermost on, with dots between them; `*` is each element of a list.
    pub path: &'static str,
    /// What stands there.
    pub kind: TextKind,
}

/// What stands in a field that holds somebody's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// A text, which stands beside the journal where it is long.
    Text,
    /// JSON of any shape. What looks like a long text in it is not one.
    Json,
    /// The text of JSON, which stands beside the journal where it is long.
    JsonText,
    /// The hash of a sealed value, which stands beside the journal.
    Sealed,
}

/// A field that holds a text.
pub const fn text(path: &'static str) -> TextField {
    TextField { path, kind: TextKind::Text }
}

/// A field that holds JSON that somebody brought.
pub const fn json(path: &'static str) -> TextField {
    TextField { path, kind: TextKind::Json }
}

/// A field that holds the text of JSON that somebody brought.
pub const fn json_text(path: &'static str) -> TextField {
    TextField { path, kind: TextKind::JsonText }
}

/// A field that holds the hash of a sealed value.
pub const fn sealed(path: &'static str) -> TextField {
    TextField { path, kind: TextKind::Sealed }
}

impl TextField {
    /// What stands in this field in the data of an entry; several values where it is in a list.
    pub fn values<'a>(&self, data: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![data];
        for name in self.path.split('.') {
            found = match name {
                "*" => found.into_iter().filter_map(Value::as_array).flatten().collect(),
                name => found.into_iter().filter_map(|value| value.get(name)).collect(),
            };
        }
        found
    }

    /// The key under which it stands.
    pub fn key(&self) -> &'static str {
        self.path.rsplit('.').find(|name| *name != "*").unwrap_or_default()
    }

    /// The same, to be changed.
    pub(crate) fn values_mut<'a>(&self, data: &'a mut Value) -> Vec<&'a mut Value> {
        let mut found = vec![data];
        for name in self.path.split('.') {
            found = match name {
                "*" => found.into_iter().filter_map(Value::as_array_mut).flatten().collect(),
                name => found.into_iter().filter_map(|value| value.get_mut(name)).collect(),
            };
        }
        found
    }
}

/// What stands in the place of a text that was erased.
pub const ERASED: &str = "[erased]";

/// Erases the words in the data of an entry: a text becomes [`ERASED`], a list or an object empty, and any other JSON null.
/// What is sealed is no text: it goes with the secret.
pub(crate) fn erase_words(description: &Description, data: &mut Value) {
    description.change_words(data, |value, field| *value = erased_value(field.kind, value));
}

/// What stands in the place of a value that is erased.
pub(crate) fn erased_value(kind: TextKind, value: &Value) -> Value {
    match (kind, value) {
        (_, Value::Null) => Value::Null,
        (TextKind::Text | TextKind::JsonText, _) | (_, Value::String(_)) => ERASED.into(),
        (_, Value::Array(_)) => Value::Array(Vec::new()),
        (_, Value::Object(_)) => Value::Object(serde_json::Map::new()),
        _ => Value::Null,
    }
}

/// Erases JSON that stands in the field `short`, or where it is long as a text in the field `long`.
pub(crate) fn erase_json(data: &mut Value, short: &str, long: &str) {
    if let Some(fields) = data.as_object_mut() {
        fields.remove(long);
        fields.insert(short.to_owned(), ERASED.into());
    }
}

/// What becomes of what earlier entries say about the thing that an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// It still holds.
    Stands,
    /// This entry says the whole anew.
    Replaced,
    /// The thing is gone.
    Deleted,
}

/// Which words of earlier entries all entries of a type say again because Callboard itself puts them there. What people and
/// models write is theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// None: its words are new, or the entry says [where they are from](Entry::copied_from).
    Nothing,
    /// Those of the thing that it is about, as far as they did not change: it says the whole thing anew.
    Unchanged,
    /// Those of the messages that it covers, in its own words.
    Covered,
    /// The answer to a request, and the hash of the request.
    Answer,
}

/// An entry as a viewer sees it: its type and its data. A thing that the viewer lost sight of looks deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The type.
    pub kind: &'static str,
    /// The data.
    pub data: Value,
}

impl Seen {
    /// A fact that is seen as it is given here.
    pub fn fact<F: Fact>(fact: &F) -> Option<Self> {
        Some(Self { kind: F::TYPE, data: value_of(fact) })
    }
}

/// The draft of the entry that says `fact`, where it follows on `before`.
pub fn draft<F: Fact>(fact: &F, before: &State) -> Draft {
    Draft {
        v: F::VERSION,
        kind: F::TYPE.into(),
        subject: fact.subject().into(),
        audience: fact.audience(before),
        time: fact.time(),
        keys: fact.keys(before).into_iter().map(Arc::from).collect(),
        data: text_of(fact).into(),
    }
}

/// The fact with known secrets hidden in its words. It is refused where it could not be read then: it is never given with a
/// secret in it.
pub(crate) fn hide_secrets<F: Fact>(fact: F, secrets: &dyn HideSecrets) -> Result<F, Error> {
    let refused = |_| Error::Sealed {
        what: format!("this would say a secret again in an entry {}, where it cannot be hidden", F::TYPE),
        hint: "write anew what the entry is about, without the secret",
    };
    let mut data = serde_json::to_value(&fact).map_err(refused)?;
    if hide_words(&F::DESCRIPTION, &mut data, secrets) {
        return serde_json::from_value(data).map_err(refused);
    }
    Ok(fact)
}

/// Hides known secrets in the words in the data of an entry. A reference to a long text stays as it is, but for its beginning.
/// Says whether there were any.
pub(crate) fn hide_words(description: &Description, data: &mut Value, secrets: &dyn HideSecrets) -> bool {
    let mut any = false;
    description.change_words(data, |value, field| {
        let is_reference = field.kind != TextKind::Json && value.is_object();
        let words = if is_reference { value.get_mut("beginning") } else { Some(value) };
        any |= words.is_some_and(|words| secrets.hide(field.key(), words));
    });
    any
}

/// Whether the words of an entry whose words `erase` takes away were erased, not only some of what stands in them.
pub(crate) fn is_erased(entry: &Entry, erase: fn(&mut Value)) -> bool {
    let has_no_words = || {
        serde_json::from_str(&entry.json()).is_ok_and(|data: Value| {
            let mut without = data.clone();
            erase(&mut without);
            data == without
        })
    };
    entry.erasure().is_some() && has_no_words()
}

/// Reads the data of an entry as the fact of its type.
pub fn read<F: Fact>(entry: &Entry) -> Result<F, Error> {
    let Header { seq, v, kind, .. } = &entry.header;
    let damaged =
        |error: serde_json::Error| Error::Damaged { seq: *seq, kind: kind.to_string(), detail: error.to_string() };
    if *v > F::VERSION {
        return Err(Error::WrittenByNewer { seq: *seq, kind: kind.to_string(), v: *v });
    }
    serde_json::from_str(&entry.json()).map_err(damaged)
}

#[cfg(test)]
mod tests;
