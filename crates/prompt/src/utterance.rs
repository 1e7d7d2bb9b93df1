//! What was said, made ready to be written in any format.

use std::sync::Arc;

use serde_json::{Map, Value};

use callboard_core::{
    compression::Compressed,
    conversation::{
        Content, Message, Role, Speaker, ToolCall, part_type,
        pdf::Pdf,
        reasoning::{self, Thinker},
    },
    count::Tokens,
    directive::Received,
    entry::Hash,
    id::{AgentName, Seq},
    prompt::Style,
    run::Runs,
    text::Values,
};

use crate::{
    fetch::{self, Reads},
    history_key::HistoryKey,
    media::Medium,
    provider::{is_blank, model_name},
    replaced::{PlanPlace, is_done, is_updated, updates_plan},
    said::Said,
    tail::TailItem,
};

/// What is said together: a call with its results, or one thing alone.
pub(super) type Group = Vec<Utterance>;

/// One thing that was said, as the reader of a prompt gets to know it.
#[derive(Clone, Debug)]
pub(super) struct Utterance {
    /// The entry that holds it.
    pub(super) seq: Seq,
    /// Its size, as its entry has it.
    pub(super) size: Tokens,
    /// Whether it is the reader's own.
    pub(super) mine: bool,
    /// Which one it is of those that its speaker said, from 1; none where they are not numbered.
    pub(super) number: Option<u64>,
    pub(super) speaker: Speaker,
    /// The name that came with what the user says.
    pub(super) author: Option<Arc<str>>,
    /// Whether it was in one object of a provider with what was said before it.
    pub(super) is_joined: bool,
    /// Whether a client at a base URL gave it as the result of a call of the reader's.
    pub(super) is_of_client: bool,
    /// What the reader thought before it said this.
    pub(super) reasoning: Arc<[Map<String, Value>]>,
    /// Whether the reader gets that back: it is in the middle of a loop of tool calls.
    pub(super) is_in_loop: bool,
    /// The pictures, audio and PDFs in its text that the provider takes, in their order.
    pub(super) media: Vec<Medium>,
    /// How often a note was put in the place of something that it says.
    pub(super) replaced: usize,
    /// Whether something of it was shortened or left out.
    pub(super) shortened: bool,
    /// Whether the store has lost its text.
    pub(super) is_damaged: bool,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Somebody said something.
    Said {
        from: From,
        /// The worker that the reader or the user said it to, where the manager's own thread does not show it.
        to: Option<AgentName>,
        text: Arc<str>,
        calls: Vec<ToolCall>,
        expected: Option<Arc<str>>,
        /// Where it stands, or how to get it.
        place: String,
    },
    /// A tool gave a result.
    Result {
        call: Option<String>,
        /// The agent that says it; none where the user or Callboard does.
        by: Option<AgentName>,
        text: Arc<str>,
        place: String,
    },
    /// An answer was held against what was expected.
    Verdict { valid: Option<bool>, reason: Arc<str> },
    /// What came of a directive.
    Outcomes(Arc<str>),
    /// Something is left out here.
    LeftOut(String),
    /// What a summary says of what was said before.
    Summary { through: Seq, text: Arc<str>, place: String },
}

/// Who said something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum From {
    User,
    /// An agent, or a model that nobody named.
    Agent(Option<AgentName>),
    System,
}

/// Who reads what is said, where and how.
pub(super) struct Reader<'a> {
    pub(super) key: &'a HistoryKey,
    /// What is known of the models of those who spoke.
    pub(super) runs: &'a Runs,
}

impl Reader<'_> {
    /// Whether it said this, and nobody else may have. Only then it knows what was thought before.
    fn owns(&self, message: &Message) -> bool {
        message
            .agent
            .as_ref()
            .map_or(self.key.is_alone() && message.role == Role::Ai, |agent| *agent == self.key.reader)
    }

    /// Whether its model is the one that thought before a message of its own.
    fn thinker(&self, seq: Seq, message: &Message) -> Thinker {
        let model_of = |agent| self.runs.model_of(agent, &message.thread_id, seq);
        match (message.agent.as_ref().and_then(model_of), &self.key.model) {
            (Some(thinker), Some(reader)) if model_name(thinker) == model_name(reader) => Thinker::Reader,
            (Some(_), Some(_)) => Thinker::Other,
            (None, _) | (_, None) => Thinker::Unknown,
        }
    }

    /// What it thought before it said a message, as far as its model may get that back.
    fn reasoning(&self, seq: Seq, message: &Message) -> Arc<[Map<String, Value>]> {
        match self.owns(message) {
            true => reasoning::for_reader(&message.reasoning, self.thinker(seq, message)).into(),
            false => Arc::default(),
        }
    }
}

impl Utterance {
    /// What an item says to `reader` in `thread`; nothing where a directive led to nothing that is worth a word. A text
    /// that is not at hand has to be read first.
    pub(super) fn of(item: &TailItem, reader: &Reader<'_>, values: &Values) -> Result<Option<Self>, Hash> {
        let seq = item.header.seq;
        let aside = |kind| Some(Self { seq, ..Self::note(kind) });
        Ok(match &item.said {
            Said::Message(message) if message.role == Role::System && reader.key.style == Style::Labelled => None,
            Said::Message(message) => Some(said(seq, message, reader, values)?),
            Said::Checked(checked) => aside(Kind::Verdict { valid: checked.valid, reason: checked.reason.clone() }),
            Said::Summary(compressed) => Some(Self { seq, ..summary(seq, compressed, reader.key.reads, values)? }),
            Said::Directive(received) => outcomes(received).and_then(|text| aside(Kind::Outcomes(text.into()))),
            Said::Form(name) => {
                let told = "the user has answered it; the answer is in the context set of that name";
                aside(Kind::Outcomes(format!("- form {name}: {told}").into()))
            }
        })
    }

    /// Something that no entry says.
    pub(super) fn note(kind: Kind) -> Self {
        Self {
            seq: Seq::ZERO,
            size: Tokens(0),
            mine: false,
            number: None,
            speaker: Speaker::Other,
            author: None,
            is_joined: false,
            is_of_client: false,
            reasoning: Arc::default(),
            is_in_loop: false,
            media: Vec::new(),
            replaced: 0,
            shortened: matches!(kind, Kind::LeftOut(_)),
            is_damaged: false,
            kind,
        }
    }

    /// Puts a note in the place of what a result says.
    pub(super) fn replace_with_note(&mut self, what: &str) {
        if let Kind::Result { text, place, .. } = &mut self.kind {
            *text = format!("[{what}; {place}]").into();
            self.media.clear();
            self.replaced += 1;
            self.shortened = true;
        }
    }

    /// Leaves out of its calls the plan that another part of the prompt shows.
    pub(super) fn leave_out_plan(&mut self, place: PlanPlace, is_meant: impl Fn(&ToolCall) -> bool) {
        if let Kind::Said { calls, .. } = &mut self.kind {
            for call in calls.iter_mut().filter(|call| is_meant(call)) {
                let had_plan = place.leave_out_of(call);
                self.replaced += usize::from(had_plan);
                self.shortened |= had_plan;
            }
        }
    }

    /// Whether it is the result of an update of the plan that was done.
    pub(super) fn is_plan_updated(&self) -> bool {
        matches!(&self.kind, Kind::Result { text, .. } if is_updated(text))
    }

    /// Whether it is the result of a call that was done.
    pub(super) fn is_done(&self) -> bool {
        matches!(&self.kind, Kind::Result { text, .. } if is_done(text))
    }

    /// Whether it makes a call that updates the plan.
    pub(super) fn updates_plan(&self) -> bool {
        self.calls().iter().any(updates_plan)
    }

    /// The text that can be shortened, and where the whole of it stands or how to get it.
    pub(super) fn long_text(&mut self) -> Option<(&mut Arc<str>, &str)> {
        match &mut self.kind {
            Kind::Said { text, place, .. } | Kind::Result { text, place, .. } | Kind::Summary { text, place, .. } => {
                Some((text, place))
            }
            Kind::Verdict { .. } | Kind::Outcomes(_) | Kind::LeftOut(_) => None,
        }
    }

    /// Names the pictures and the audio that it shows.
    pub(super) fn hide_media(&mut self) {
        self.shortened |= self.shown_media() > 0;
        self.media.iter_mut().for_each(|medium| medium.is_shown = false);
    }

    /// How many of these it shows.
    pub(super) fn shown_media(&self) -> usize {
        self.media.iter().filter(|medium| medium.is_shown).count()
    }

    /// About how many bytes of memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let of_kind = match &self.kind {
            Kind::Said { text, calls, expected, place, .. } => {
                let of_calls: usize = calls.iter().map(|call| 128 + 2 * call.arguments_text().len()).sum();
                text.len() + place.len() + of_calls + expected.as_deref().map_or(0, str::len)
            }
            Kind::Result { text, place, .. } | Kind::Summary { text, place, .. } => text.len() + place.len(),
            Kind::Verdict { reason: text, .. } | Kind::Outcomes(text) => text.len(),
            Kind::LeftOut(words) => words.len(),
        };
        let of_reasoning = reasoning::size_bytes(&self.reasoning);
        let of_media: usize = self.media.iter().map(Medium::bytes).sum();
        size_of::<Self>() + of_kind + of_reasoning + of_media
    }

    /// Whether it is what the user says to the reader, which has no mark of the speaker.
    pub(super) fn is_bare(&self) -> bool {
        matches!(self.kind, Kind::Said { from: From::User, to: None, .. })
    }

    /// Whether it is an empty answer of the reader's own.
    pub(super) fn is_silent(&self) -> bool {
        let says_nothing = |text: &str| self.calls().is_empty() && is_blank(text);
        self.mine && matches!(&self.kind, Kind::Said { text, .. } if says_nothing(text))
    }

    /// Whether its provider ran a tool of its own for it.
    pub(super) fn has_server_use(&self) -> bool {
        reasoning::has_server_use(&self.reasoning)
    }

    /// Whether the reader said it. A result that is its own is not said by it.
    pub(super) fn is_own_words(&self) -> bool {
        self.mine && matches!(self.kind, Kind::Said { .. })
    }

    /// Whether the user said it in one message with the result of a call.
    pub(super) fn is_beside_result(&self) -> bool {
        self.is_joined && matches!(self.kind, Kind::Said { from: From::User, .. })
    }

    /// Whether somebody else said it to the reader, and not in one message with the result of a call.
    pub(super) fn is_asked(&self) -> bool {
        !self.mine && matches!(self.kind, Kind::Said { to: None, .. }) && !self.is_beside_result()
    }

    /// The calls that it makes.
    pub(super) fn calls(&self) -> &[ToolCall] {
        match &self.kind {
            Kind::Said { calls, .. } => calls,
            _ => &[],
        }
    }

    /// Makes it the result of this call.
    pub(super) fn answer(&mut self, id: &str) {
        if let Kind::Result { call: Some(call), .. } = &mut self.kind
            && call != id
        {
            id.clone_into(call);
        }
    }

    /// The call that it is the result of.
    pub(super) fn result_of(&self) -> Option<&str> {
        match &self.kind {
            Kind::Result { call, .. } => call.as_deref(),
            _ => None,
        }
    }

    /// The agent that says it, where it is a result and an agent does.
    pub(super) fn result_by(&self) -> Option<&AgentName> {
        match &self.kind {
            Kind::Result { by, .. } => by.as_ref(),
            _ => None,
        }
    }
}

/// The agent that says a result whose call is not in `group`, where it is not the reader itself.
pub(super) fn teller<'a>(group: &[Utterance], result: &'a Utterance, reader: &AgentName) -> Option<&'a AgentName> {
    let calls = group.first().map(Utterance::calls).unwrap_or_default();
    let is_loose = calls.iter().all(|call| Some(call.id.as_str()) != result.result_of());
    result.result_by().filter(|by| is_loose && *by != reader)
}

/// Which other agent made the call that a result answers, and the call, where it is in `group`.
pub(super) fn caller<'a>(group: &'a [Utterance], result: &Utterance) -> Option<(&'a AgentName, &'a ToolCall)> {
    let calling = group.first().filter(|first| !first.mine)?;
    let call = calling.calls().iter().find(|call| Some(call.id.as_str()) == result.result_of())?;
    match &calling.kind {
        Kind::Said { from: From::Agent(Some(name)), .. } => Some((name, call)),
        _ => None,
    }
}

/// What stands for what was said before, with how the originals can be read, and what it does not hold of what is named
/// later.
fn summary(seq: Seq, compressed: &Compressed, reads: Reads, values: &Values) -> Result<Utterance, Hash> {
    let Compressed { thread, through, messages, identifiers, more_identifiers, open_calls, more_open_calls, .. } =
        compressed;
    let mut text = format!(
        "[summary of {messages} messages of thread {thread}, up to entry {through}{}]\n{}",
        reads.messages("fetch the originals, the older messages of the thread,"),
        compressed.summary.whole(values)?.trim_end()
    );
    if !open_calls.is_empty() {
        text += "\n[calls that wait for results:]";
        text.extend(open_calls.iter().map(|call| format!("\n- {} ({})", call.name, call.id)));
    }
    if *more_open_calls > 0 {
        text += &format!("\n[and {more_open_calls} more calls that wait]");
    }
    if !identifiers.is_empty() {
        text += "\n[also named there:]";
        text.extend(identifiers.iter().map(|one| format!("\n- {one}")));
    }
    if *more_identifiers > 0 {
        text += &format!("\n[and {more_identifiers} more names that are used later]");
    }
    let place = fetch::entry(seq);
    let is_damaged = compressed.summary.is_damaged(values);
    let kind = Kind::Summary { through: *through, text: text.into(), place };
    Ok(Utterance { is_damaged, shortened: is_damaged, ..Utterance::note(kind) })
}

/// What others are told of a message in which a model refuses to answer, before what it says.
const REFUSED: &str = "[the model refused]";

fn said(seq: Seq, message: &Message, reader: &Reader<'_>, values: &Values) -> Result<Utterance, Hash> {
    let Reader { key, .. } = reader;
    let place = key.reads.message(message);
    // For others, what the program of an agent tells it comes from that agent.
    let agent = message.said_by(Some(&key.reader));
    // What a model said that nobody named is the reader's own: programs that keep one agent's talk need not name it.
    let nameless = message.role == Role::Ai && agent.is_none();
    let mine = nameless || agent == Some(&key.reader);
    let takes_media = key.media > 0
        && match message.role {
            Role::User => !mine,
            Role::Tool => true,
            Role::Ai | Role::System => false,
        };
    let mut media = Vec::new();
    let named = |part: &Map<String, Value>| {
        let name = Pdf::of(part).and_then(|pdf| pdf.shown_name());
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        let line = format!("[{}{name} not shown; {place}]", part_type(part));
        if takes_media {
            media.extend(Medium::of(part, &line, key.format, key.provider, key.media));
        }
        line
    };
    let refusal = message.refusal();
    let text: Arc<str> = match refusal.filter(|_| message.content.is_blank()) {
        Some(refusal) => refusal.into(),
        None if message.role == Role::Ai => message.content.in_own_text(values)?,
        None => message.content.in_text_with(values, named)?,
    };
    let text = match refusal {
        Some(_) if !mine => format!("{REFUSED}\n{text}").trim_end().into(),
        _ => text,
    };
    let kind = if message.role == Role::Tool {
        Kind::Result { call: message.tool_call_id.clone(), by: message.agent.clone(), text, place }
    } else {
        let from = match (message.role, agent) {
            (_, Some(agent)) => From::Agent(Some(agent.clone())),
            (Role::System, None) => From::System,
            (Role::Ai, None) => From::Agent(None),
            (Role::User | Role::Tool, None) => From::User,
        };
        let elsewhere = (mine || from == From::User) && message.thread_id != key.thread;
        let to = || message.thread_id.as_str().strip_prefix("agent:").and_then(|name| name.parse::<AgentName>().ok());
        let to = if elsewhere { to().filter(|to| *to != key.reader) } else { None };
        Kind::Said {
            from,
            to,
            text,
            calls: message.tool_calls.clone(),
            expected: message.expected_output.clone(),
            place,
        }
    };
    let speaker = message.speaker(key.manager.as_ref());
    let reasoning = reader.reasoning(seq, message);
    let size = message.tokens;
    let author = message.author_name().filter(|_| message.role == Role::User);
    let is_joined = message.as_given.as_ref().is_some_and(|given| given.joined);
    let by_client = message.agent.as_ref().is_none_or(|agent| *agent == key.reader);
    let is_of_client = by_client && message.role == Role::Tool && message.is_in_chat_of(&key.reader);
    let is_damaged = matches!(&message.content, Content::Text(text) if text.is_damaged(values));
    let said = Utterance { seq, size, mine, speaker, author, is_joined, reasoning, media, ..Utterance::note(kind) };
    Ok(Utterance { is_of_client, is_damaged, shortened: is_damaged, ..said })
}

/// What the manager is told of a directive of its own: how its updates came out and what was wrong, not what it wrote.
fn outcomes(received: &Received) -> Option<String> {
    let set = |set: &callboard_core::context_set::SetOutcome| {
        let outcome = serde_json::to_value(set.outcome).ok();
        let outcome = outcome.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().replace('_', " ");
        let reason = set.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("- context set {}: {outcome}{reason}", set.name)
    };
    let mut lines: Vec<_> = received.outcomes.iter().map(set).collect();
    lines.extend(received.faults.iter().map(|fault| format!("- left out: {fault}")));
    lines.extend(received.unparsed.iter().map(|line| format!("- not understood: {line}")));
    if lines.is_empty() { None } else { Some(lines.join("\n")) }
}
