//! The names in the documentation are true: every call is in the OpenAPI document, every command and option is in the help,
//! every tool of Callboard's own and every event exists.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use callboard_engine::core::tool::{ALL, DIRECTOR, OWN_TOOLS, READ};
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
    /// The help of commands that was asked for; `None` where there is no such command.
    helps: RefCell<BTreeMap<String, Option<String>>>,
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
    let names = Names { home, paths, description, events, helps: RefCell::default() };

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

/// The names of classes, methods, fields, events, settings and examples in the five documents.
const OF_THE_DOCUMENTS: [&str; 5] = [
    "contextSets contextSetUpdate AgentDirectivesSchema ORCHESTRATION_executeManagerTurn _parseManagerResponse newOrUpdate \
     ContextContainerProps visibleToAgents hiddenFromAgents isInfoRequest ORCHESTRATION_infoRequestToContextFormSet \
     ORCHESTRATION_generatePrompt UTILS_convertLineSetsToContext <SHARED_CONTEXT_SETS> AISessionState ContextSet contextSet \
     localState analysis-store.ts setContextSet handleLoadContextSet handleTeamAutoGen orchestrationSettings AgentTurnResult \
     agentDirectives allContextSets",
    "SessionId OrchestrationState SessionState activeStep recentlyUsedTools sequenceIndex cumulativeTokenUsage lastAccessed ttl \
     OrchestrationStateManager SessionManager createDefaultState createOrchestrationStateManager getState getOrCreateState \
     updateState setActiveStep addUsedTool advanceSequence resetState StepSequencer SESSION_TTL_SECONDS storageProvider \
     storageNamespace cleanup RedisStorageProvider EXPIRE storage.set orchestration-state ttlSeconds",
    ".tmp/sessions/ 20250118-143022-a4f2 .manifest.json session_id created_at last_activity context_files context_index created \
     for keywords features documentation code refactoring testing tasks general OpenAgent",
    "ConversationManager IConversationManager ConversationRepository IConversationRepository ConversationMessage addMessages \
     getMessages threadId messageId MessageOptions limit beforeTimestamp afterTimestamp timestamp ConversationSocket.notify \
     targetThreadId UISystem PESAgent StorageAdapter InMemoryStorageAdapter IndexedDBStorageAdapter conversations set query id \
     ContextProvider getDynamicContext StateManager",
    "workflow_id plan_version created_at updated_at overall_goal current_phase phases phase_name status tasks task_id description \
     notes node_ids next_actions blockers director_plans plan_data pending in_progress completed failed position type config \
     gmail_creds node4.loginRequired node7.emails search_results get_workflow_variable variableName nodeId set_variable \
     clear_variable clear_all_variables inspect_tab debug_navigate debug_action debug_open_tab debug_close_tab update_plan \
     get_current_plan create_node update_node delete_node test_single_node deploy_scout directorPrompt.js ContextBuilder \
     buildContext getLatestSystemPrompt getCurrentPlan getCurrentPlanVersion getWorkflowSnapshot getFilteredHistory systemPrompt \
     currentPlan workflowSnapshot conversationHistory filterConversationHistory updatePlan calling_tool:",
];

#[test]
fn every_name_of_the_five_documents_is_in_the_table() {
    let page = include_str!("../../../../docs/names.md");
    let sections: Vec<_> = page.split("\n## ").skip(1).collect();
    assert_eq!(sections.len(), OF_THE_DOCUMENTS.len());
    for (names, section) in OF_THE_DOCUMENTS.iter().zip(sections) {
        // The first column has the names of the document.
        let theirs: Vec<_> = section.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | ")).collect();
        let is_there = |name: &&str| theirs.iter().any(|(column, _)| column.contains(*name));
        let missing: Vec<_> = names.split_whitespace().filter(|name| !is_there(name)).collect();
        assert!(missing.is_empty(), "{missing:?} in {:?}", section.lines().next());
    }
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
        if let Some(tool) = span.strip_prefix("callboard:").filter(|tool| rest.is_empty() && !tool.starts_with("//")) {
            let is_there = OWN_TOOLS.iter().any(|own| own.name == tool) || [READ, DIRECTOR, ALL].contains(&tool);
            return Some((!is_there).then(|| "there is no such tool".to_owned()));
        }
        let is_event =
            span.split_once('.').is_some_and(|(noun, verb)| is_word(noun) && is_word(verb) && self.is_noun(noun));
        // A piece of an answer and changes of the list of sessions are no entries, and secrets of a node without a name are no
        // event.
        let others = ["turn.delta", "session.changed", "session.gone", "node.config"];
        (is_event && !others.contains(&span))
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
        let Some(help) = (1..=words.len()).rev().find_map(|count| self.help(&words[..count].join(" "))) else {
            return Some("there is no such command".to_owned());
        };
        let global = self.help("").unwrap_or_default();
        let mut options = rest.split([' ', '=']).filter(|word| word.starts_with("--") && word.len() > 2);
        let is_known =
            |option: &&str| [&help, &global].iter().any(|text| text.split([' ', '\n', ',']).any(|it| it == *option));
        options.find(|option| !is_known(option)).map(|option| format!("it has no {option}"))
    }

    /// The help of a command; `None` where there is no such command.
    fn help(&self, command: &str) -> Option<String> {
        let ask = || {
            let done = self.home.run(&format!("{command} --help"));
            (done.status == 0).then_some(done.stdout)
        };
        self.helps.borrow_mut().entry(command.to_owned()).or_insert_with(ask).clone()
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '-')
}

/// What stands between backticks in a page, outside of blocks of code.
fn spans(page: &str) -> impl Iterator<Item = &str> {
    page.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2))
}
