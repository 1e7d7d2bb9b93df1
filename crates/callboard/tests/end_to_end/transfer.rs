//! Sessions leave a store and come into another.

use serde_json::json;

use crate::home::{Home, Way};

both_ways!(
    a_session_begins_with_the_sets_of_another,
    an_exported_session_is_the_same_where_it_is_imported,
    what_is_no_export_is_refused_and_makes_nothing,
);

fn a_session_begins_with_the_sets_of_another(way: Way) {
    let home = way(Home::new()).with_session("--id old --agent lead:manager --agent writer");
    home.json("set put Brief 'the tides' --session old");
    home.json("set put Style short --session old");
    let team = "[[agent]]\nname = 'writer'\nrole = 'worker'\n[[set]]\nname = 'Style'\ncontent = 'long'\n";
    home.write("team.toml", team);
    home.json("session new team.toml --id new --sets-from old");
    let content = |name: &str| home.json(&format!("set show {name} --session new"))["content"].clone();
    assert_eq!((content("Brief"), content("Style")), (json!("the tides"), json!("long")));
    let (status, error) = home.error("session new --sets-from ghost");
    assert_eq!((status, &error["code"]), (1, &json!("not_found")));
}

fn an_exported_session_is_the_same_where_it_is_imported(way: Way) {
    let home = way(Home::new()).with_session("--id demo --agent lead:manager --agent writer");
    let long = "All work and no play. ".repeat(10_000);
    assert_eq!(home.feed("set put Long - --session demo", &long).status, 0);
    home.json("say hello --session demo");
    let written = home.json("export demo.jsonl --session demo");
    let file = std::fs::read_to_string(home.path("demo.jsonl")).unwrap();
    assert_eq!(written["lines"], file.lines().count());
    assert_eq!(home.run("export --session demo").stdout, file);
    assert_eq!(home.json("import demo.jsonl --id copy")["head"], 5);
    assert_eq!(home.journal("copy"), home.journal("demo"));
    assert_eq!(home.json("set show Long --session copy")["content"], long.as_str());
    let fed = home.feed("import - --id fed --json", &file);
    assert_eq!((fed.status, home.journal("fed")), (0, home.journal("demo")));
    let (status, taken) = home.error("import demo.jsonl");
    assert_eq!((status, &taken["code"]), (1, &json!("session_exists")));
    home.assert_sound();
}

#[test]
fn a_file_that_is_not_there_makes_no_store() {
    let home = Home::new();
    for line in ["import nope.jsonl", "collection import handbook nope.jsonl"] {
        let (status, error) = home.error(line);
        assert_eq!((status, &error["code"]), (1, &json!("unreadable")), "{line}");
    }
    assert!(!home.path("team.db").exists());
}

fn what_is_no_export_is_refused_and_makes_nothing(way: Way) {
    let home = way(Home::new()).with_session("--id demo");
    home.json("say hello --session demo");
    home.json("export demo.jsonl --session demo");
    let file = std::fs::read_to_string(home.path("demo.jsonl")).unwrap();
    home.write("changed.jsonl", file.replace("hello", "other"));
    home.write("text.jsonl", "no export");
    for name in ["changed.jsonl", "text.jsonl", "none.jsonl"] {
        let (status, error) = home.error(&format!("import {name} --id copy"));
        assert_eq!(status, 1, "{name}: {error}");
    }
    let (_, error) = home.error("export nowhere/demo.jsonl --session demo");
    assert_eq!(error["code"], "unwritable");
    let (_, error) = home.error("export gone.jsonl --session gone");
    assert_eq!((error["code"].as_str(), home.path("gone.jsonl").exists()), (Some("not_found"), false));
    assert_eq!(home.json("session list")["sessions"].as_array().unwrap().len(), 1);
}
