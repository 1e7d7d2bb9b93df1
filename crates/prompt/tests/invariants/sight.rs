//! Who may see what: a model that knows only what was said and done, and the rules as the specification has them. It
//! knows nothing of audiences that entries are stamped with, of projections or of prompts.

use std::collections::{BTreeMap, BTreeSet};

use callboard_core::entry::Entry;
use serde_json::Value;

use crate::story::AGENTS;

/// Who may see a thing at some time.
#[derive(Clone, Debug, PartialEq)]
enum Who {
    All,
    Only(BTreeSet<String>),
}

impl Who {
    fn said(audience: &Value) -> Self {
        match audience {
            Value::String(word) if word == "all" => Self::All,
            Value::String(word) if word == "none" => Self::Only(BTreeSet::new()),
            Value::String(name) => Self::Only([name.clone()].into()),
            names => Self::Only(serde_json::from_value(names.clone()).unwrap()),
        }
    }

    fn has(&self, agent: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(agent),
        }
    }
}

/// A set or a thread, from its making to its end.
#[derive(Clone, Debug, Default)]
struct Thing {
    /// Who might see it, since when.
    who: Vec<(u64, Option<Who>)>,
    /// The words that were said in it, and when.
    said: Vec<(u64, BTreeSet<String>)>,
}

impl Thing {
    /// Whether `agent` had it in sight at every moment from `seq` on.
    fn always_in_sight(&self, agent: &str, seq: u64) -> bool {
        let at_first = self.who.iter().rposition(|(since, _)| *since <= seq).unwrap_or(0);
        self.who[at_first..].iter().all(|(_, who)| who.as_ref().is_some_and(|who| who.has(agent)))
    }

    fn in_sight(&self, agent: &str) -> bool {
        self.who.last().and_then(|(_, who)| who.as_ref()).is_some_and(|who| who.has(agent))
    }

    fn words(&self, agent: &str) -> BTreeSet<String> {
        let seen = self.said.iter().filter(|(seq, _)| self.always_in_sight(agent, *seq));
        seen.flat_map(|(_, words)| words.clone()).collect()
    }
}

/// What everyone may see.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight {
    roles: BTreeMap<String, String>,
    instructions: BTreeMap<String, BTreeSet<String>>,
    sets: BTreeMap<String, Thing>,
    documents: BTreeMap<String, Thing>,
    threads: BTreeMap<String, Thing>,
    /// Words for those who were the manager then and are it now.
    in_charge: Vec<(String, BTreeSet<String>)>,
    /// Verdicts: the manager then, the thread, since when, the words.
    verdicts: Vec<(String, String, u64, BTreeSet<String>)>,
    /// Why models gave no answer: whose, when, the words.
    failures: Vec<(String, u64, BTreeSet<String>)>,
    /// The names of all sets and documents that there were: whoever is the manager keeps them all in order.
    set_names: BTreeSet<String>,
    /// Whom each file that is there is for, and its words.
    files: BTreeMap<String, (String, BTreeSet<String>)>,
    /// The words of the paths of files, and whom they were for.
    paths: Vec<(String, BTreeSet<String>)>,
    /// Whether workers see variables.
    variables_shared: bool,
    /// The variables that there are: how each is shown.
    variables: BTreeMap<String, String>,
    /// What was said of variables, and who saw them then.
    said_of_variables: Vec<(Who, BTreeSet<String>)>,
    /// Whether workers may see the plan.
    plan_shared: bool,
    /// The words of the versions of the plan, and for whom each was.
    plans: Vec<(Who, BTreeSet<String>)>,
    /// Whether workers may see the workflow.
    workflow_shared: bool,
    /// What the workflow says now: by the subjects of its entries.
    workflow: BTreeMap<String, BTreeSet<String>>,
    /// What was said of the workflow, and for whom it was.
    said_of_workflow: Vec<(Who, BTreeSet<String>)>,
    /// Names that an agent has had in sight.
    named: BTreeMap<String, BTreeSet<String>>,
}

impl Sight {
    /// Takes in what happened.
    pub(crate) fn take(&mut self, entry: &Entry) {
        let (seq, data) = (entry.header.seq.0, serde_json::from_str::<Value>(&entry.data).unwrap());
        let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
        match &*entry.header.kind {
            "agent.added" | "agent.updated" => {
                self.roles.insert(text("name"), text("role"));
                self.instructions.entry(text("name")).or_default().extend(words(&text("instructions")));
            }
            "agent.removed" => drop(self.roles.remove(&text("name"))),
            "context_set.updated" => {
                let waits = data["form"]["answered"] == Value::Bool(false);
                let who = if waits { self.managers() } else { Who::said(&data["visible_to"]) };
                let mut said = data.clone();
                said["name"] = Value::Null;
                self.set_names.extend(words(&text("name")));
                let set = self.sets.entry(text("name")).or_default();
                set.who.push((seq, Some(who)));
                set.said.push((seq, words(&said.to_string())));
            }
            "document.added" => {
                self.set_names.extend(words(&text("name")));
                let document = self.documents.entry(text("name")).or_default();
                document.who.push((seq, Some(Who::said(&data["visible_to"]))));
                document.said.push((seq, words(&data["text"].to_string())));
            }
            "document.removed" => drop(self.documents.remove(&text("name"))),
            "context_set.deleted" => drop(self.sets.remove(&text("name"))),
            "thread.updated" => {
                self.threads.entry(text("name")).or_default().who.push((seq, Some(Who::said(&data["visible_to"]))));
            }
            "message.added" => {
                let name = text("thread_id");
                let who = self.at_first(&name);
                let thread = self.threads.entry(name).or_default();
                if thread.who.is_empty() {
                    thread.who.push((seq, Some(who)));
                }
                let mut said = data.clone();
                said["thread_id"] = Value::Null;
                thread.said.push((seq, words(&said.to_string())));
            }
            "message.checked" => {
                if let Some(manager) = self.manager() {
                    self.verdicts.push((manager, text("thread_id"), seq, words(&text("reason"))));
                }
            }
            "file.added" => {
                self.paths.push((text("for"), words(&text("path"))));
                self.files.insert(text("path"), (text("for"), words(&data.to_string())));
            }
            "file.removed" => drop(self.files.remove(&text("path"))),
            "session.created" | "session.updated" => {
                let share = data["share"].as_array().cloned().unwrap_or_default();
                self.variables_shared = share.iter().any(|shared| shared == "variables");
                self.plan_shared = share.iter().any(|shared| shared == "plan");
                self.workflow_shared = share.iter().any(|shared| shared == "workflow");
            }
            "variable.set" | "variable.cleared" => {
                let who = if self.variables_shared { Who::All } else { self.managers() };
                self.said_of_variables.push((who, words(&data.to_string())));
                match &*entry.header.kind {
                    "variable.set" => drop(self.variables.insert(text("name"), text("display"))),
                    _ if data["name"].is_null() => self.variables.clear(),
                    _ => drop(self.variables.remove(&text("name"))),
                }
            }
            "plan.updated" => {
                let who = if self.plan_shared { Who::All } else { self.managers() };
                self.plans.push((who, words(&data.to_string())));
            }
            "workflow.updated" | "node.created" | "node.updated" | "node.deleted" | "node.result_recorded" => {
                let who = if self.workflow_shared { Who::All } else { self.managers() };
                self.said_of_workflow.push((who, words(&data.to_string())));
                let mut now = data.clone();
                now["reason"] = Value::Null;
                let subject = entry.header.subject.to_string();
                match subject.strip_prefix("node:").filter(|_| &*entry.header.kind == "node.deleted") {
                    Some(id) => {
                        self.workflow.remove(&format!("result:{id}"));
                        self.workflow.remove(&subject);
                    }
                    None => drop(self.workflow.insert(subject, words(&now.to_string()))),
                }
            }
            "directive.received" | "form.answered" => self.for_the_manager(&data),
            "turn.requested" | "turn.answered" => {
                // What else they hold is in a message, which shows it to whoever sees that message.
                self.for_the_manager(&data["due"]["faults"]);
            }
            "turn.failed" => {
                self.failures.push((text("agent"), seq, words(&text("error"))));
            }
            _ => {}
        }
        self.remember_names();
    }

    fn for_the_manager(&mut self, data: &Value) {
        self.in_charge.extend(self.manager().map(|manager| (manager, words(&data.to_string()))));
    }

    fn manager(&self) -> Option<String> {
        self.roles.iter().find(|(_, role)| *role == "manager").map(|(name, _)| name.clone())
    }

    fn managers(&self) -> Who {
        Who::Only(self.manager().into_iter().collect())
    }

    /// Who sees a thread that nobody has said anything of: an agent's own is for it and the manager, others for all.
    fn at_first(&self, thread: &str) -> Who {
        match thread.strip_prefix("agent:").filter(|name| self.roles.contains_key(*name)) {
            Some(name) => Who::Only(self.manager().into_iter().chain([name.to_owned()]).collect()),
            None => Who::All,
        }
    }

    fn remember_names(&mut self) {
        for agent in self.roles.keys() {
            let things = self.sets.iter().chain(&self.documents).chain(&self.threads);
            let names = things.filter(|(_, thing)| thing.in_sight(agent)).flat_map(|(name, _)| words(name));
            self.named.entry(agent.clone()).or_default().extend(names);
        }
    }

    /// The agents there are.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &str> {
        AGENTS.into_iter().filter(|name| self.roles.contains_key(*name))
    }

    /// The words that `agent` may come across anywhere.
    pub(crate) fn may_see(&self, agent: &str) -> BTreeSet<String> {
        let things = self.sets.values().chain(self.documents.values()).chain(self.threads.values());
        let mut words: BTreeSet<_> = things.flat_map(|thing| thing.words(agent)).collect();
        words.extend(self.named.get(agent).into_iter().flatten().cloned());
        words.extend(self.instructions.get(agent).into_iter().flatten().cloned());
        for (manager, thread, seq, reason) in &self.verdicts {
            if manager == agent && self.threads[thread].always_in_sight(agent, *seq) {
                words.extend(reason.clone());
            }
        }
        let is_manager = self.manager().as_deref() == Some(agent);
        let files = self.files.values().chain(&self.paths);
        words.extend(files.flat_map(|(_, words)| words.clone()));
        for (name, display) in self.variables(agent) {
            words.extend([name, display].into_iter().flat_map(self::words));
        }
        if is_manager || self.variables_shared {
            let then = self.said_of_variables.iter().filter(|(who, _)| who.has(agent));
            words.extend(then.flat_map(|(_, words)| words.clone()));
        }
        if is_manager || self.plan_shared {
            // The newest is there for all who may see the plan; earlier ones for those they were for.
            let newest = self.plans.last().map(|(_, words)| words);
            let then = self.plans.iter().filter(|(who, _)| who.has(agent)).map(|(_, words)| words);
            words.extend(newest.into_iter().chain(then).flatten().cloned());
        }
        if is_manager || self.workflow_shared {
            let then = self.said_of_workflow.iter().filter(|(who, _)| who.has(agent)).map(|(_, words)| words);
            words.extend(self.workflow.values().chain(then).flatten().cloned());
        }
        if is_manager {
            words.extend(self.instructions.values().flatten().cloned());
            words.extend(self.set_names.iter().cloned());
            let then = self.in_charge.iter().filter(|(manager, _)| manager == agent);
            words.extend(then.flat_map(|(_, words)| words.clone()));
            let told = self.failures.iter().filter(|(of, seq, _)| {
                let thread = self.threads.get(&format!("agent:{of}"));
                of == agent || thread.is_some_and(|thread| thread.always_in_sight(agent, *seq))
            });
            words.extend(told.flat_map(|(.., words)| words.clone()));
        }
        words
    }

    /// The words of the sets that `agent` sees now, by the names of the sets.
    pub(crate) fn sets(&self, agent: &str) -> BTreeMap<String, BTreeSet<String>> {
        let seen = self.sets.iter().filter(|(_, set)| set.in_sight(agent));
        seen.map(|(name, set)| (name.clone(), set.said.last().unwrap().1.clone())).collect()
    }

    /// The names of the documents that `agent` sees now.
    pub(crate) fn documents(&self, agent: &str) -> Vec<&str> {
        let seen = self.documents.iter().filter(|(_, document)| document.in_sight(agent));
        seen.map(|(name, _)| name.as_str()).collect()
    }

    /// The variables that `agent` sees now: their names, and how they are shown.
    pub(crate) fn variables(&self, agent: &str) -> Vec<(&str, &str)> {
        let may_see = self.variables_shared || self.manager().as_deref() == Some(agent);
        let seen = self.variables.iter().filter(|_| may_see);
        seen.map(|(name, display)| (name.as_str(), display.as_str())).collect()
    }

    /// The words that the nodes of the workflow say now, and what it is called, as far as `agent` may see them.
    pub(crate) fn workflow(&self, agent: &str) -> BTreeSet<String> {
        let may_see = self.workflow_shared || self.manager().as_deref() == Some(agent);
        let said = self.workflow.iter().filter(|(subject, _)| may_see && !subject.starts_with("result:"));
        said.flat_map(|(_, words)| words.clone()).collect()
    }

    /// How many messages `agent` sees of each thread that it sees, and their words.
    pub(crate) fn threads(&self, agent: &str) -> BTreeMap<String, (u64, BTreeSet<String>)> {
        let seen = self.threads.iter().filter(|(_, thread)| thread.in_sight(agent));
        let size =
            |thread: &Thing| thread.said.iter().filter(|(seq, _)| thread.always_in_sight(agent, *seq)).count() as u64;
        seen.map(|(name, thread)| (name.clone(), (size(thread), thread.words(agent)))).collect()
    }
}

/// The marker words in a text: `zq`, a number, `q`.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let word = |(at, _): (usize, &str)| {
        let rest = &text[at + 2..];
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        (digits > 0 && rest[digits..].starts_with('q')).then(|| format!("zq{}q", &rest[..digits]))
    };
    text.match_indices("zq").filter_map(word).collect()
}
