//! Drafts of team files: a model writes one, and it is checked before anybody sees it.

use callboard_model::scripted::{Reply, Scripted};
use serde_json::Value;

use crate::home::Home;

const GOOD: &str = "title = \"Tides\"\ninput = \"Write on tides.\"\n\n[[agent]]\nname = \"lead\"\nrole = \"manager\"\n\n\
                    [[agent]]\nname = \"writer\"\nrole = \"worker\"\ninstructions = \"Write.\"\n\n\
                    [[set]]\nname = \"Style\"\ncontent = \"Plain.\"\nvisible_to = [\"writer\"]\n";

/// A model that answers with these texts in turn, and with the last one for ever.
fn model(answers: &'static [&'static str]) -> Scripted {
    Scripted::start(move |_, nth| Reply::text(answers[nth.min(answers.len() - 1)]))
}

/// What was said last in a request.
fn last(request: &Value) -> &str {
    request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

#[test]
fn a_draft_is_printed_as_a_file_that_runs() {
    let endpoint = model(&[GOOD]);
    let home = Home::with(&endpoint);
    let done = home.run("team draft 'Write on tides.'");
    assert_eq!((done.status, done.stdout.as_str()), (0, GOOD), "{}", done.stderr);
    assert!(last(&endpoint.requests()[0]).ends_with("Write on tides."));
    assert!(!home.path("team.db").exists(), "the check leaves nothing in the store");
    home.write("TEAM.toml", done.stdout);
    home.json("session new TEAM.toml --id tides");
}

#[test]
fn a_draft_with_faults_is_sent_back_with_them() {
    let fenced = concat!("Sure:\n```toml\n", "input = \"x\"\n[[agent]]\nname = \"all\"\nrole = \"manager\"\n```\n");
    let unseen = "input = \"x\"\n[[agent]]\nname = \"lead\"\nrole = \"manager\"\n[[agent]]\nname = \"writer\"\nrole = \"worker\"\n\
                  [[set]]\nname = \"Style\"\ncontent = \"x\"\nvisible_to = [\"poet\"]\n";
    let answers: &'static [&'static str] = Box::leak(Box::new([fenced, unseen, GOOD]));
    let endpoint = model(answers);
    let home = Home::with(&endpoint);
    let done = home.run("team draft 'Write on tides.'");
    assert_eq!((done.status, done.stdout.as_str()), (0, GOOD), "{}", done.stderr);
    let asked = endpoint.requests();
    assert_eq!(asked.len(), 3);
    assert!(last(&asked[1]).contains("reserved") && last(&asked[1]).contains("line 3"), "{}", last(&asked[1]));
    assert!(last(&asked[2]).contains("there is no agent poet"), "{}", last(&asked[2]));
    assert!(done.stderr.contains("attempt 1 of 3") && done.stderr.contains("attempt 2 of 3"), "{}", done.stderr);
}

#[test]
fn what_would_not_run_as_it_is_is_no_draft() {
    let lonely = "input = \"x\"\n[[agent]]\nname = \"solo\"\nrole = \"worker\"\n";
    for (wrong, why) in [
        ("I cannot do that.".to_owned(), "is not a team file"),
        (lonely.to_owned(), "one agent with the role \"manager\""),
        (GOOD.replace("input", "# input"), "there is no `input`"),
        (GOOD.replace("instructions", "model = \"openai:x\"\ninstructions"), "leave it out"),
        (GOOD.replace("content = \"Plain.\"", "file = \"/etc/passwd\""), "give its `content`"),
        (GOOD.replace("instructions", "tools = [{name = \"look\"}]\ninstructions"), "leave them out"),
    ] {
        let wrong: &'static str = wrong.leak();
        let endpoint = Scripted::start(move |_, _| Reply::text(wrong));
        let home = Home::with(&endpoint);
        let (status, error) = home.error("team draft 'Write on tides.'");
        assert_eq!((status, error["code"].as_str()), (1, Some("no_team")));
        assert!(error["detail"].as_str().unwrap().contains(why), "{why}: {error}");
        assert_eq!(endpoint.requests().len(), 3);
    }
}

#[test]
fn a_draft_replaces_a_file_only_where_that_is_said() {
    let endpoint = model(&[GOOD]);
    let home = Home::with(&endpoint);
    let path = home.write("TEAM.toml", "mine");
    let (status, error) = home.error("team draft tides --output TEAM.toml");
    assert_eq!((status, error["code"].as_str()), (1, Some("exists")));
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), endpoint.requests().len()), ("mine", 0));
    assert_eq!(home.json("team draft tides --output TEAM.toml --force")["path"], "TEAM.toml");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), GOOD);
    assert_eq!(home.run("team draft tides --output new.toml").status, 0);
    assert_eq!(std::fs::read_to_string(home.path("new.toml")).unwrap(), GOOD);
}

#[test]
fn a_draft_needs_a_model_and_a_task() {
    let home = Home::new();
    let (status, error) = home.error("team draft tides");
    assert_eq!((status, error["code"].as_str()), (1, Some("no_model")));
    assert_eq!(home.error("team draft ' '").0, 2);
    assert_eq!(home.error("team draft").0, 2);
}
