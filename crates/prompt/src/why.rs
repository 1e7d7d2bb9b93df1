//! Why: where a text came from, who was shown it, and what became of it.
//!
//! Everything is in the journal, so the answer is found by reading it through the viewer's own view: the viewer learns
//! nothing that it could not have read itself.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use callboard_core::{
    audience::Audience,
    compression::{Compressed, facts::CompressionUndone},
    entry::Actor,
    event::{self, EventType},
    fact::{Earlier, Fact},
    id::{AgentName, RunId, Seq},
    json::texts_in,
    run::turn_facts::TurnRequested,
    time::Timestamp,
    view::{Projected, View},
};

/// How many characters of a text are shown on each side of what was looked for.
const AROUND: usize = 40;

/// An entry that contains the text, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Finding {
    /// The entry.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub seq: Seq,
    /// When it was decided.
    pub at: Timestamp,
    /// Its author: `user`, `system` or `agent:NAME`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub by: Actor,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// What it is about.
    pub subject: Arc<str>,
    /// The text, with what stands around it.
    pub excerpt: String,
    /// Which agents may see the thing now. Absent if the thing is gone, or has no visibility of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_to: Option<Audience>,
    /// The agents of the team from which it is hidden now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub hidden_from: Vec<AgentName>,
    /// The prompts that showed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
    /// What replaced or removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<Gone>,
}

/// A prompt that showed an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Shown {
    /// The agent that got the prompt.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub agent: AgentName,
    /// The run, if it was a turn of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub run: Option<RunId>,
    /// The number of the turn in its run. Outside of runs it is that of the entry that requested it.
    pub turn: u64,
    /// The entry that requested the turn.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub seq: Seq,
}

/// What replaced or removed a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Gone {
    /// The entry that did so.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub seq: Seq,
    /// Its author: `user`, `system` or `agent:NAME`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub by: Actor,
    /// What happened to it.
    pub how: HowGone,
}

/// What happened to a thing, as the viewer sees it. A thing that was hidden from the viewer counts as deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = GoneWord))]
#[serde(rename_all = "snake_case")]
pub enum HowGone {
    /// Something took its place.
    Replaced,
    /// It is there no more.
    Deleted,
    /// Prompts show a summary in its place; it can be read still.
    Compressed,
}

/// A question that is answered by reading a journal from its start.
#[derive(Debug)]
pub struct Why {
    text: String,
    findings: Vec<Finding>,
}

impl Why {
    /// Asks about `text`, which stands somewhere in an entry as it is written here.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), findings: Vec::new() }
    }

    /// Reads the next entry as the viewer gets it. The text is looked for in `words`, its data, and in the long texts that it
    /// speaks of: both are without secrets, so that nobody finds one out by guessing.
    pub fn read(&mut self, entry: &Projected, words: &Value, long_texts: &[Arc<str>]) {
        self.replace(entry);
        self.compress(entry);
        if &*entry.kind == TurnRequested::TYPE {
            // What it repeats of its task was said elsewhere.
            return self.show(entry);
        }
        let in_words = texts_in(words).into_iter().find_map(|text| excerpt(text, &self.text));
        let in_long = || long_texts.iter().find_map(|text| excerpt(text, &self.text));
        if let Some(excerpt) = in_words.or_else(in_long) {
            self.findings.push(Finding {
                seq: entry.seq,
                at: entry.at,
                by: entry.by.clone(),
                kind: entry.kind.clone(),
                subject: entry.subject.clone(),
                excerpt,
                visible_to: None,
                hidden_from: Vec::new(),
                shown: Vec::new(),
                gone: None,
            });
        }
    }

    /// What was found, the oldest first.
    pub fn finish(self, view: &View<'_>) -> Vec<Finding> {
        let mut findings = self.findings;
        let is_there =
            |finding: &&mut Finding| finding.gone.as_ref().is_none_or(|gone| gone.how == HowGone::Compressed);
        for finding in findings.iter_mut().filter(is_there) {
            finding.visible_to = event::visible_to(view, &finding.kind, &finding.subject);
            let hidden = finding.visible_to.iter().flat_map(|audience| view.state.team.hidden_from(audience));
            finding.hidden_from = hidden.cloned().collect();
        }
        findings
    }

    /// Notes that the content of a thing was replaced, or that it was deleted.
    fn replace(&mut self, entry: &Projected) {
        let how = match EventType::named(&entry.kind).map(|kind| kind.description.earlier) {
            Some(Earlier::Replaced) => HowGone::Replaced,
            Some(Earlier::Deleted) => HowGone::Deleted,
            Some(Earlier::Stands) | None => return,
        };
        let before = |finding: &&mut Finding| finding.subject == entry.subject && finding.gone.is_none();
        for finding in self.findings.iter_mut().filter(before) {
            finding.gone = Some(Gone { seq: entry.seq, by: entry.by.clone(), how });
        }
    }

    /// Notes for which messages a summary stands from now on, or no longer.
    fn compress(&mut self, entry: &Projected) {
        if let Some(undone) = read::<CompressionUndone>(entry) {
            let stands = undone.stands_again;
            for finding in self.findings.iter_mut().filter(|finding| finding.subject == entry.subject) {
                let is_undone = finding.gone.as_ref().is_some_and(|gone| gone.seq == undone.seq);
                if is_undone {
                    let again = stands.as_ref().filter(|head| head.covers(finding.seq)).map(|head| head.seq);
                    finding.gone = again.map(|seq| Gone { seq, by: entry.by.clone(), how: HowGone::Compressed });
                }
            }
        }
        let Some(compressed) = read::<Compressed>(entry) else { return };
        let is_shown = |seq: &Seq| compressed.pins.contains(seq) || compressed.kept.contains(seq);
        let covers = |seq: Seq| (compressed.from..=compressed.through).contains(&seq) && !is_shown(&seq);
        for finding in self.findings.iter_mut().filter(|one| one.subject == entry.subject && covers(one.seq)) {
            finding.gone = Some(Gone { seq: entry.seq, by: entry.by.clone(), how: HowGone::Compressed });
        }
    }

    /// Notes which entries a prompt showed.
    fn show(&mut self, entry: &Projected) {
        let Some(requested) = read::<TurnRequested>(entry) else { return };
        let shows = |seq: Seq| requested.prompt.shows.iter().any(|(first, last)| (*first..=*last).contains(&seq));
        for finding in self.findings.iter_mut().filter(|finding| shows(finding.seq)) {
            finding.shown.push(Shown {
                agent: requested.agent.clone(),
                run: requested.run.clone(),
                turn: requested.turn,
                seq: entry.seq,
            });
        }
    }
}

/// An entry as the fact that it is, where it is one of this type.
fn read<F: Fact>(entry: &Projected) -> Option<F> {
    (*entry.kind == *F::TYPE).then(|| serde_json::from_str(&entry.data).ok()).flatten()
}

/// What is around the first place in a string where `text` stands.
fn excerpt(string: &str, text: &str) -> Option<String> {
    let (before, after) = string.split_once(text)?;
    let skip = before.chars().count().saturating_sub(AROUND);
    let start: String = before.chars().skip(skip).collect();
    let end: String = after.chars().take(AROUND).collect();
    let more = if after.chars().nth(AROUND).is_some() { "…" } else { "" };
    Some(format!("{}{start}{text}{end}{more}", if skip > 0 { "…" } else { "" }))
}
