//! Why something is refused: what, where, and what to do about it.

use std::fmt;

use crate::{
    count::Tokens,
    id::{BadName, Seq},
};

/// Why a command, a question or a journal is refused. Nothing has changed when one is given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Something that was given is not valid.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Fault>),
    /// Each thing that was given is valid, and it contradicts another one or what is there.
    #[error("{}", .faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Contradiction {
        /// Which contradiction it is.
        kind: ConflictKind,
        /// What contradicts, and what it contradicts.
        faults: Vec<Fault>,
    },
    /// There is no such thing, or none that the viewer may see.
    #[error("there is no {what}{}", named(name))]
    NotFound {
        /// The kind of thing.
        what: &'static str,
        /// Its name; empty where there can only be one.
        name: String,
    },
    /// There is no such entry.
    #[error("there is no entry {seq}: use 1 to {head}")]
    NoEntry {
        /// What was asked for.
        seq: Seq,
        /// The last entry.
        head: Seq,
    },
    /// The caller has no right to do this, whatever it names.
    #[error("{who} may not {what}: {hint}")]
    Forbidden {
        /// Who asked.
        who: String,
        /// What was asked for.
        what: &'static str,
        /// What would do.
        hint: &'static str,
    },
    /// It cannot be done in the state that the session is in.
    #[error("{what}: {hint}")]
    Conflict {
        /// Which conflict it is.
        kind: ConflictKind,
        /// What stands in its way.
        what: String,
        /// What would do.
        hint: &'static str,
    },
    /// There is no orchestration state where there are no steps.
    #[error("the team has no steps, so there is no orchestration state: give the session steps")]
    NoSteps,
    /// It holds secrets that cannot be sealed or opened now.
    #[error("{what}: {hint}")]
    Sealed {
        /// What holds them.
        what: String,
        /// What would do.
        hint: &'static str,
    },
    /// Something outside of the journal, such as a browser, did not do what was asked of it.
    #[error("{what}")]
    Outside {
        /// The stable word for what went wrong.
        code: &'static str,
        /// What went wrong, and what would do.
        what: String,
    },
    /// A text is larger than a journal takes.
    #[error("{what} has {size_bytes} bytes, and {max_bytes} is the most: split it")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size.
        size_bytes: usize,
        /// The largest size that is taken.
        max_bytes: usize,
    },
    /// What must be in a prompt does not fit its budget.
    #[error("the prompt needs at least {needed} tokens and its budget is {budget}: {}; raise the budget or shorten a part{}", list(.parts), in_bytes(.is_in_bytes))]
    BudgetExceeded {
        /// The budget.
        budget: Tokens,
        /// What the parts need together at the least.
        needed: Tokens,
        /// Each part with what it needs at the least.
        parts: Vec<(String, Tokens)>,
        /// Whether each byte counts as a token, since the name of the model is not known.
        is_in_bytes: bool,
    },
    /// An entry has a type or a version that this program does not know.
    #[error("entry {seq} is a {kind} of version {v}, which is newer than this program: use the version that wrote it")]
    WrittenByNewer {
        /// The entry.
        seq: Seq,
        /// Its type.
        kind: String,
        /// Its version.
        v: u16,
    },
    /// An entry does not say what entries of its type say.
    #[error("entry {seq} ({kind}) is damaged: {detail}")]
    Damaged {
        /// The entry.
        seq: Seq,
        /// Its type.
        kind: String,
        /// What is wrong.
        detail: String,
    },
}

/// Lists the conflicts, each with its stable code. The first line of its documentation is its title.
macro_rules! conflicts {
    ($(#[doc = $title:literal] $(#[$doc:meta])* $kind:ident = $code:literal,)*) => {
        /// What a request or a command contradicts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ConflictKind {
            $(#[doc = $title] $(#[$doc])* $kind,)*
        }

        impl ConflictKind {
            /// The stable code, for programs.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$kind => $code,)*
                }
            }

            /// The conflict with this code.
            pub fn of(code: &str) -> Option<Self> {
                match code {
                    $($code => Some(Self::$kind),)*
                    _ => None,
                }
            }

            /// What it is, for people: a sentence without its full stop.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$kind => $title.trim().trim_end_matches('.'),)*
                }
            }
        }
    };
}

conflicts! {
    /// Two parts of the input exclude each other.
    Contradiction = "contradiction",
    /// A named agent is not in the team.
    NoAgent = "no_agent",
    /// The team has no manager.
    NoManager = "no_manager",
    /// The id of a new session is in use.
    SessionExists = "session_exists",
    /// The turn has another answer already.
    TurnAnswered = "turn_answered",
    /// The manager's turn waits for its answer.
    TurnOpen = "turn_open",
    /// The turn belongs to a run.
    TurnOfRun = "turn_of_run",
    /// The id of a new message is in use in its thread.
    MessageExists = "message_exists",
    /// The thread was compressed, or is seen by others, since a summary was begun.
    CompressedMeanwhile = "compressed_meanwhile",
    /// The compression is not the newest one that stands.
    NotNewest = "not_newest",
    /// More would be pinned than half of what a thread is compressed to.
    PinsTooLarge = "pins_too_large",
    /// The entry holds no words that could be erased.
    NothingToErase = "nothing_to_erase",
    /// The answer to the request was erased.
    AnswerErased = "answer_erased",
    /// An idempotency key was used for another request.
    IdempotencyKeyReused = "idempotency_key_reused",
    /// The plan has another version by now.
    StalePlan = "stale_plan",
    /// The workflow has another version by now.
    StaleWorkflow = "stale_workflow",
    /// The workflow is being executed.
    ExecutionUnfinished = "execution_unfinished",
    /// The execution has ended.
    ExecutionEnded = "execution_ended",
    /// Other nodes refer to the node.
    NodeInUse = "node_in_use",
    /// The entry to continue from does not exist yet.
    BeyondHead = "beyond_head",
    /// The form was answered before.
    FormAnswered = "form_answered",
    /// A named step does not exist.
    NoStep = "no_step",
    /// An index lies beyond the end of a sequence.
    BeyondSequence = "beyond_sequence",
    /// Another tool is due.
    ToolOutOfTurn = "tool_out_of_turn",
    /// The tool that is due is not among the given tools.
    DueToolMissing = "due_tool_missing",
    /// Another run has not ended.
    RunUnfinished = "run_unfinished",
    /// The run has ended.
    RunEnded = "run_ended",
    /// Another server drives the run.
    RunTakenOver = "run_taken_over",
    /// The manager cannot see the thread `main`.
    MainHidden = "main_hidden",
    /// No turn of the run is due.
    TurnNotDue = "turn_not_due",
    /// The turn waits for no answer.
    TurnNotPending = "turn_not_pending",
    /// The run waits for no tool.
    NoToolAwaited = "no_tool_awaited",
    /// The secrets in a variable are not there any more.
    SecretGone = "secret_gone",
    /// The key of the session's secrets was replaced.
    KeyReplaced = "key_replaced",
    /// The secrets of the session changed meanwhile.
    SecretsChanged = "secrets_changed",
    /// Another secret has the same value.
    ValueIsSecret = "value_is_secret",
    /// No tool call with this id waits for a result.
    NoToolCall = "no_tool_call",
}

impl Error {
    /// The same, where what is wrong is within `pointer`.
    #[must_use]
    pub fn within(mut self, pointer: &str) -> Self {
        if let Self::Invalid(faults) | Self::Contradiction { faults, .. } = &mut self {
            let is_within = |fault: &Fault| {
                let rest = fault.pointer.strip_prefix(pointer);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            for fault in faults.iter_mut().filter(|fault| !is_within(fault)) {
                fault.pointer.insert_str(0, pointer);
            }
        }
        self
    }

    /// The stable word for the kind of refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid",
            Self::NotFound { .. } | Self::NoEntry { .. } => "not_found",
            Self::Forbidden { .. } => "forbidden",
            Self::Conflict { kind, .. } | Self::Contradiction { kind, .. } => kind.code(),
            Self::NoSteps => "no_orchestration",
            Self::Sealed { .. } => "sealed",
            Self::Outside { code, .. } => code,
            Self::TooLarge { .. } => "too_large",
            Self::BudgetExceeded { .. } => "budget_exceeded",
            Self::WrittenByNewer { .. } => "written_by_newer",
            Self::Damaged { .. } => "damaged",
        }
    }

    /// One thing that is not valid.
    pub fn invalid(pointer: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid(vec![Fault { pointer: pointer.into(), problem: problem.into() }])
    }

    /// One thing that contradicts another that was given.
    pub fn contradiction(pointer: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::contradicting(ConflictKind::Contradiction, pointer, problem)
    }

    /// What cannot be done in the state that the session is in: what stands in its way, and what would do.
    pub fn conflict(kind: ConflictKind, what: impl Into<String>, hint: &'static str) -> Self {
        Self::Conflict { kind, what: what.into(), hint }
    }

    /// One thing that cannot be done in the state that the session is in; `kind` says why.
    pub fn contradicting(kind: ConflictKind, pointer: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Contradiction { kind, faults: vec![Fault { pointer: pointer.into(), problem: problem.into() }] }
    }

    /// Refuses what has faults: as invalid where anything is wrong by itself, as a contradiction where things exclude
    /// each other.
    pub(crate) fn of(invalid: Vec<Fault>, contradictions: Vec<Fault>) -> Result<(), Self> {
        match (invalid.is_empty(), contradictions.is_empty()) {
            (true, true) => Ok(()),
            (true, false) => Err(Self::Contradiction { kind: ConflictKind::Contradiction, faults: contradictions }),
            (false, _) => Err(Self::Invalid(invalid.into_iter().chain(contradictions).collect())),
        }
    }

    /// An entry to read on from that is not there yet.
    pub fn beyond_head(after: Seq, head: Seq) -> Self {
        Self::Conflict {
            kind: ConflictKind::BeyondHead,
            what: format!("/after: there is no entry {after} yet: the head is {head}"),
            hint: "continue from an existing entry; if you have seen later ones, the session was deleted and created again",
        }
    }

    /// A thing that is not there.
    pub fn not_found(what: &'static str, name: impl fmt::Display) -> Self {
        Self::NotFound { what, name: name.to_string() }
    }
}

/// The name of a thing behind what it is.
fn named(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" {name:?}") }
}

impl From<BadName> for Error {
    fn from(error: BadName) -> Self {
        Self::invalid("", error.to_string())
    }
}

/// One thing that is wrong with what was given.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fault {
    /// Where, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What is wrong, and what would do.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.problem)
        } else {
            write!(f, "{}: {}", self.pointer, self.problem)
        }
    }
}

fn in_bytes(is_so: &bool) -> &'static str {
    if *is_so { "; the name of the model is not known, so each byte counts as a token" } else { "" }
}

fn list(parts: &[(String, Tokens)]) -> String {
    parts.iter().map(|(name, tokens)| format!("{name} {tokens}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_within_another_is_told_from_one_that_only_begins_like_it() {
        for (given, meant) in [
            ("", "/arguments"),
            ("/arguments", "/arguments"),
            ("/arguments/limit", "/arguments/limit"),
            ("/argumentsOfTheTool", "/arguments/argumentsOfTheTool"),
            ("/limit", "/arguments/limit"),
        ] {
            let error = Error::invalid(given, "wrong").within("/arguments");
            assert_eq!(error, Error::invalid(meant, "wrong"), "{given}");
        }
    }
}
