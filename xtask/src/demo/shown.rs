//! What the team of the demo was shown: read from what was sent to the model, and drawn for people.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use serde_json::Value;

use super::callboard::Callboard;

/// How wide a budget is drawn.
const WIDTH: u64 = 48;

/// How the parts of a prompt are drawn, by their names.
const MARKS: &[(&str, char)] =
    &[("instructions", '█'), ("team", '█'), ("duties", '█'), ("context_sets", '▓'), ("history", '▒'), ("task", '░')];

/// What the marks mean.
pub(super) const LEGEND: &str = "█ instructions and team, ▓ context sets, ▒ history, ░ task, ▪ the rest";

/// What there was to see, and what was seen.
pub(super) struct Shown {
    agents: Vec<String>,
    sets: Vec<Set>,
    turns: Vec<Turn>,
    /// The answers of agents, in order: who, and what.
    answers: Vec<(String, String)>,
}

struct Set {
    name: String,
    content: String,
}

/// Who was shown which context sets in the turns so far.
#[derive(Default)]
pub(super) struct SeenSoFar {
    by_set: BTreeMap<String, BTreeSet<String>>,
}

struct Turn {
    /// Its entry in the journal.
    entry: u64,
    number: u64,
    agent: String,
    tokens: u64,
    budget: u64,
    parts: Vec<(String, u64)>,
    /// All that was sent, as one text.
    sent: String,
    is_answered: bool,
}

impl Shown {
    pub(super) fn read(callboard: &Callboard) -> anyhow::Result<Self> {
        let (agents, sets) = (agents(callboard)?, Set::all(callboard)?);
        let mut turns = Vec::new();
        let mut listed = list(&callboard.json(&["turns"])?, "turns");
        listed.sort_by_key(|turn| number(turn, "turn"));
        for turn in listed {
            let of_run = turn.get("turn_of_run").and_then(Value::as_u64).context("a turn has no number")?;
            let is_answered = turn.get("answered") == Some(&Value::Bool(true));
            turns.push(Turn::read(callboard, number(&turn, "turn"), of_run, text(&turn, "agent"), is_answered)?);
        }
        let mut answers = Vec::new();
        for agent in &agents {
            let thread = format!("agent:{agent}");
            // The manager has no thread of its own.
            let Ok(messages) = callboard.json(&["messages", &thread]) else { continue };
            let own = |message: &&Value| text(message, "agent") == *agent;
            let messages = list(&messages, "messages");
            answers.extend(messages.iter().filter(own).map(|message| (String::clone(agent), text(message, "content"))));
        }
        Ok(Self { agents, sets, turns, answers })
    }

    /// Who saw which context set.
    pub(super) fn table(&self) {
        println!("\nWho saw what, in the prompts that were sent:\n");
        let lines = table(&self.sets, &self.agents, |agent, set| self.saw(agent, &set.content));
        lines.iter().for_each(|line| println!("{line}"));
    }

    /// That a set was kept from an agent: none of what was sent to it has its content, nor `word`.
    pub(super) fn kept(&self, (agent, set, word): (&str, &str, &str)) -> anyhow::Result<()> {
        let to_agent: Vec<_> = self.turns.iter().filter(|turn| turn.agent == agent).collect();
        let leaks = to_agent.iter().any(|turn| turn.sent.contains(word));
        anyhow::ensure!(!leaks, "{agent} was shown the word {word:?}, which only the set {set} has");
        let shown = match to_agent.len() {
            0 => "no prompt was sent to it this time".to_owned(),
            1 => format!("1 prompt was sent to it, and it does not have the word {word:?}"),
            prompts => format!("{prompts} prompts were sent to it, and none has the word {word:?}"),
        };
        println!("\nThe set {set} was kept from {agent}: {shown}.");
        Ok(())
    }

    /// What became of the turn in which the process was killed.
    pub(super) fn killed(&self, turn: Option<u64>) {
        let Some(number) = turn else { return };
        let again = self.turns.iter().filter(|turn| turn.number == number);
        if again.clone().count() == 1 && again.clone().all(|turn| turn.is_answered) {
            println!(
                "Turn {number} was cut off by kill -9 and asked again with the same prompt: it is there once, and nothing is lost."
            );
        }
    }

    /// The last answer of an agent, whole.
    pub(super) fn result(&self, agent: &str) {
        if let Some((_, answer)) = self.answers.iter().rfind(|(by, _)| by == agent) {
            println!("\nThe result:\n");
            answer.trim().lines().for_each(|line| println!("    {line}"));
        }
    }

    /// The beginning of the first answer of an agent, without the mark of a list, which a command would take for an option.
    pub(super) fn first_words(&self, agent: &str) -> Option<String> {
        let (_, answer) = self.answers.iter().find(|(by, _)| by == agent)?;
        let mut lines = answer.lines().map(|line| line.trim().trim_start_matches(['-', ' ']));
        let line = lines.find(|line| !line.is_empty())?;
        let begin: String = line.chars().take(40).collect();
        // Not in the middle of a word.
        let end = begin.rfind(' ').filter(|_| begin.len() < line.len()).unwrap_or(begin.len());
        Some(begin.get(..end).unwrap_or_default().trim_end().to_owned())
    }

    /// The last turn, by its entry in the journal.
    pub(super) fn last_turn(&self) -> Option<u64> {
        self.turns.last().map(|turn| turn.entry)
    }

    fn saw(&self, agent: &str, content: &str) -> bool {
        self.turns.iter().any(|turn| turn.agent == agent && turn.shows(content))
    }
}

impl SeenSoFar {
    /// Shows a turn that was answered: how full its prompt was, and of what; and who was shown which sets so far.
    pub(super) fn show(&mut self, callboard: &Callboard, entry: u64, number: u64, agent: &str) -> anyhow::Result<()> {
        let turn = Turn::read(callboard, entry, number, agent.to_owned(), true)?;
        let Turn { tokens, budget, .. } = turn;
        println!("  turn {number:>2}  {agent:<8} {} {tokens} of {budget} tokens", turn.bar());
        let (sets, agents) = (Set::all(callboard)?, agents(callboard)?);
        self.add(&turn, &sets);
        self.table(&sets, &agents).iter().for_each(|line| println!("{line}"));
        Ok(())
    }

    /// Notes which sets a turn shows.
    fn add(&mut self, turn: &Turn, sets: &[Set]) {
        for set in sets.iter().filter(|set| turn.shows(&set.content)) {
            self.by_set.entry(set.name.clone()).or_default().insert(turn.agent.clone());
        }
    }

    /// The lines of the table so far; none where there are no sets.
    fn table(&self, sets: &[Set], agents: &[String]) -> Vec<String> {
        if sets.is_empty() {
            return Vec::new();
        }
        table(sets, agents, |agent, set| self.by_set.get(&set.name).is_some_and(|seen| seen.contains(agent)))
    }
}

/// The lines of a table of sets by agents.
fn table(sets: &[Set], agents: &[String], was_shown: impl Fn(&str, &Set) -> bool) -> Vec<String> {
    let wide = sets.iter().map(|set| set.name.chars().count()).max().unwrap_or(0);
    let row = |name: &str, cells: String| format!("  {name:wide$}  {cells}").trim_end().to_owned();
    let head = agents.iter().map(|agent| format!("{agent:<9}")).collect();
    let mut lines = vec![row("", head)];
    for set in sets {
        let cell = |agent: &String| format!("{:<9}", if was_shown(agent, set) { "yes" } else { "–" });
        lines.push(row(&set.name, agents.iter().map(cell).collect()));
    }
    lines
}

/// The names of the agents.
fn agents(callboard: &Callboard) -> anyhow::Result<Vec<String>> {
    Ok(list(&callboard.json(&["session", "show"])?, "agents").iter().map(|agent| text(agent, "name")).collect())
}

impl Set {
    /// All but forms, which are the user's own.
    fn all(callboard: &Callboard) -> anyhow::Result<Vec<Self>> {
        let mut sets = Vec::new();
        for set in list(&callboard.json(&["set", "list"])?, "context_sets") {
            if set.get("form").is_none_or(Value::is_null) {
                let name = text(&set, "name");
                let content = text(&callboard.json(&["set", "show", &name])?, "content");
                sets.push(Self { name, content });
            }
        }
        Ok(sets)
    }
}

impl Turn {
    /// Reads what was sent in the turn of this entry.
    fn read(callboard: &Callboard, entry: u64, number: u64, agent: String, is_answered: bool) -> anyhow::Result<Self> {
        let sent = callboard.json(&["turns", "show", &entry.to_string(), "--prompt"])?;
        let sent = sent.get("prompt").unwrap_or(&sent);
        let parts = list(sent, "parts").iter().map(|part| (text(part, "name"), self::number(part, "tokens"))).collect();
        let (tokens, budget) = (self::number(sent, "tokens"), self::number(sent, "budget"));
        Ok(Self { entry, number, agent, tokens, budget, parts, sent: said(sent), is_answered })
    }

    /// Whether it shows a text, by its first line.
    fn shows(&self, content: &str) -> bool {
        let line = content.lines().next().unwrap_or_default().trim();
        !line.is_empty() && self.sent.contains(line)
    }

    /// Its parts, each as wide as its share of the budget.
    fn bar(&self) -> String {
        let (mut bar, mut before, mut drawn) = (String::new(), 0, 0);
        for (name, tokens) in &self.parts {
            before += tokens;
            let mark = MARKS.iter().find(|(known, _)| known == name).map_or('▪', |(_, mark)| *mark);
            let end = (before * WIDTH).div_ceil(self.budget.max(1)).min(WIDTH);
            bar.extend((drawn..end).map(|_| mark));
            drawn = end.max(drawn);
        }
        bar.extend((drawn..WIDTH).map(|_| '·'));
        bar
    }
}

/// All texts of a prompt, in any format.
fn said(prompt: &Value) -> String {
    fn gather(value: &Value, all: &mut String) {
        match value {
            Value::String(text) => {
                all.push_str(text);
                all.push('\n');
            }
            Value::Array(values) => values.iter().for_each(|value| gather(value, all)),
            Value::Object(fields) => fields.values().for_each(|value| gather(value, all)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut all = String::new();
    ["text", "system", "messages"]
        .into_iter()
        .filter_map(|name| prompt.get(name))
        .for_each(|value| gather(value, &mut all));
    all
}

fn list(value: &Value, name: &str) -> Vec<Value> {
    value.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn turn(agent: &str, sent: &str) -> Turn {
        let parts = vec![("instructions".to_owned(), 250), ("history".to_owned(), 250), ("files".to_owned(), 10)];
        let (agent, sent) = (agent.to_owned(), sent.to_owned());
        Turn { entry: 4, number: 1, agent, tokens: 510, budget: 1000, parts, sent, is_answered: true }
    }

    #[test]
    fn a_bar_shows_each_part_by_its_share() {
        let bar = turn("ada", "").bar();
        assert_eq!(bar.chars().count(), 48);
        assert_eq!(bar, format!("{}{}▪{}", "█".repeat(12), "▒".repeat(12), "·".repeat(23)));
    }

    #[test]
    fn what_was_sent_says_who_saw_what() {
        let prompt =
            json!({"messages": [{"role": "user", "content": "the boathouse"}], "system": [{"text": "Be kind."}]});
        let set = Set { name: "Surprise".to_owned(), content: "the boathouse\n".to_owned() };
        let turns = vec![turn("ada", "Be kind."), turn("writer", &said(&prompt))];
        let shown = Shown { agents: Vec::new(), sets: vec![set], turns, answers: Vec::new() };
        assert!(shown.saw("writer", &shown.sets[0].content) && !shown.saw("ada", &shown.sets[0].content));
        assert!(shown.kept(("ada", "Surprise", "boathouse")).is_ok());
        assert!(shown.kept(("writer", "Surprise", "boathouse")).is_err());
    }

    #[test]
    fn after_each_turn_a_table_says_who_was_shown_what_so_far() {
        let set = |name: &str, content: &str| Set { name: name.to_owned(), content: content.to_owned() };
        let sets = [set("Tastes", "Raspberry cake."), set("Surprise", "the boathouse")];
        let agents = ["ada", "planner", "writer"].map(str::to_owned);
        let mut seen = SeenSoFar::default();
        assert_eq!(seen.table(&[], &agents), Vec::<String>::new());
        for turn in [
            turn("planner", "the boathouse\nRaspberry cake."),
            turn("ada", "Be kind."),
            turn("writer", "the boathouse"),
        ] {
            seen.add(&turn, &sets);
        }
        let lines = seen.table(&sets, &agents);
        assert_eq!(
            lines,
            [
                "            ada      planner  writer",
                "  Tastes    –        yes      –",
                "  Surprise  –        yes      yes",
            ]
        );
    }

    #[test]
    fn the_first_words_of_an_agent_and_the_last_turn_are_named() {
        let answers = [
            ("ada", "Raspberry cake.\nAnd swing."),
            ("ada", "No."),
            ("planner", "---\n - In the boathouse."),
            ("lead", "I love raspberry cake, swing music and the game of boules."),
        ];
        let answers = answers.map(|(agent, answer)| (agent.to_owned(), answer.to_owned())).to_vec();
        let shown = Shown { agents: Vec::new(), sets: Vec::new(), turns: vec![turn("ada", "")], answers };
        assert_eq!(shown.first_words("ada").as_deref(), Some("Raspberry cake."));
        assert_eq!(shown.first_words("planner").as_deref(), Some("In the boathouse."));
        assert_eq!(shown.first_words("lead").as_deref(), Some("I love raspberry cake, swing music and"));
        assert_eq!((shown.first_words("writer"), shown.last_turn()), (None, Some(4)));
    }
}
