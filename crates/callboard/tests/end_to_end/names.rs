//! The names in the documentation are true: every call is in the OpenAPI document, every command and option is in the help,
//! every tool of Callboard's own and every event exists.

use std::{collections::BTreeSet, fs, path::Path};

use callboard_engine::core::tool::OWN_TOOLS;
use serde_json::{Map, Value};

use crate::home::Home;

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// What pages may name.
struct Names {
    home: Home,
    /// Paths of the OpenAPI document, with their methods.
    paths: Map<String, Value>,
    /// What the document says before them: streams over a WebSocket are described there.
    description: String,
    /// Types of entries.
    events: BTreeSet<String>,
}

#[test]
fn the_names_in_the_documentation_exist() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let home = Home::new().over_http();
    let (_, mut document) = home.http().get("/openapi.json");
    let Value::Object(paths) = document["paths"].take() else { panic!("there are no paths") };
    // There is a sample of every type of entry.
    let samples = fs::read_to_string(repository.join("crates/core/tests/samples/v1.jsonl")).unwrap();
    let entries = samples.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let events = entries.filter_map(|entry| Some(entry.pointer("/type")?.as_str()?.to_owned())).collect();
    let description = document["info"]["description"].to_string();
    let names = Names { home, paths, description, events };

    let pages = fs::read_dir(repository.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut wrong = Vec::new();
    let mut tried = 0;
    for page in pages.chain([repository.join("README.md")]).filter(|path| path.extension().is_some_and(|it| it == "md"))
    {
        let text = fs::read_to_string(&page).unwrap();
        for span in spans(&text) {
            let Some(found) = names.fault(span) else { continue };
            tried += 1;
            wrong.extend(found.map(|fault| format!("{}: `{span}`: {fault}", page.file_name().unwrap().display())));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(tried > 200, "only {tried} names were found");
}

impl Names {
    /// What is wrong with a name; `None` where it is none of Callboard's that can be looked up.
    fn fault(&self, span: &str) -> Option<Option<String>> {
        let (first, rest) = span.split_once(' ').unwrap_or((span, ""));
        if METHODS.contains(&first) && rest.starts_with(['/', '…']) {
            return Some(self.call(first, rest));
        }
        let is_command = first == "callboard" && rest.starts_with(|c: char| c.is_ascii_lowercase());
        if is_command && rest != "help" {
            return Some(self.command(rest));
        }
        if let Some(tool) = span.strip_prefix("callboard:").filter(|_| rest.is_empty()) {
            let is_there = OWN_TOOLS.iter().any(|own| own.name == tool) || tool == "read";
            return Some((!is_there).then(|| "there is no such tool".to_owned()));
        }
        let is_event =
            span.split_once('.').is_some_and(|(noun, verb)| is_word(noun) && is_word(verb) && self.is_noun(noun));
        // A piece of an answer is no entry, and secrets of a node without a name are no event.
        (is_event && span != "turn.delta" && span != "node.config")
            .then(|| (!self.events.contains(span)).then(|| "there is no such event".to_owned()))
    }

    fn is_noun(&self, noun: &str) -> bool {
        self.events.iter().any(|event| event.split('.').next() == Some(noun))
    }

    fn call(&self, method: &str, rest: &str) -> Option<String> {
        let target = rest.split(' ').next().unwrap_or(rest).replacen('…', "/v1/sessions/{session}", 1);
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let segments =
            |path: &str| path.split('/').map(|it| if it.starts_with('{') { "{}" } else { it }.to_owned()).collect();
        let wanted: Vec<String> = segments(path);
        let methods = self.paths.iter().find(|(known, _)| segments(known) == wanted).map(|(_, methods)| methods);
        if self.description.contains(&format!("{method} {path}`")) {
            return None;
        }
        let Some(operation) = methods.and_then(|methods| methods.get(method.to_lowercase())) else {
            return Some("it is not in the OpenAPI document".to_owned());
        };
        let parameters: Vec<&str> =
            operation["parameters"].as_array().into_iter().flatten().filter_map(|it| it["name"].as_str()).collect();
        let asked =
            query.split('&').filter_map(|it| it.split('=').next()).filter(|name| !name.is_empty() && *name != "…");
        let missing = asked.filter(|name| !parameters.contains(name)).collect::<Vec<_>>();
        (!missing.is_empty()).then(|| format!("it takes no {missing:?}, only {parameters:?}"))
    }

    fn command(&self, rest: &str) -> Option<String> {
        let words: Vec<&str> = rest.split_whitespace().take_while(|word| is_word(word)).take(2).collect();
        // The second word may be an argument.
        let helps = (0..=words.len()).rev().map(|count| self.home.run(&format!("{} --help", words[..count].join(" "))));
        let Some(help) = helps.take(2).find(|help| help.status == 0 && !words.is_empty()) else {
            return Some("there is no such command".to_owned());
        };
        let global = self.home.run("--help").stdout;
        let mut options = rest.split([' ', '=']).filter(|word| word.starts_with("--") && word.len() > 2);
        let is_known = |option: &&str| {
            [&help.stdout, &global].iter().any(|text| text.split([' ', '\n', ',']).any(|it| it == *option))
        };
        options.find(|option| !is_known(option)).map(|option| format!("it has no {option}"))
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '-')
}

/// What stands between backticks in a page, outside of blocks of code.
fn spans(page: &str) -> impl Iterator<Item = &str> {
    page.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2))
}
