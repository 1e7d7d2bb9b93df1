//! A server whose recall asks elsewhere.

use callboard_model::scripted::{Reply, Scripted};
use serde_json::json;

use crate::{
    home::Home,
    server::{Server, words},
};

#[test]
fn the_file_for_recall_names_sources_and_a_model() {
    let endpoint = Scripted::start(|request, _| match request.get("input") {
        Some(texts) => Reply::vectors(texts.as_array().unwrap().iter().map(|_| &[1.0, 0.0][..])),
        None => {
            let passage = json!({"text": "Keys are rotated on Mondays.", "title": "Runbook"});
            Reply::raw(200, "application/json", json!({"passages": [passage]}).to_string())
        }
    });
    let (home, url) = (Home::new(), endpoint.base_url());
    let source = |name: &str, url: &str| format!("[[source]]\nname = '{name}'\nurl = '{url}'\n");
    let embedder = format!("[embedder]\nbase_url = '{url}'\nmodel = 'small'\napi_key_env = 'EMBEDDINGS_KEY'\n");
    let sources = source("wiki", &format!("{url}/passages")) + &source("gone", "http://127.0.0.1:9/passages");
    home.write("recall.toml", embedder + &sources);

    let missing = home.run("serve --listen 127.0.0.1:0 --recall recall.toml");
    assert!(missing.status != 0 && missing.stderr.contains("no variable EMBEDDINGS_KEY"), "{}", missing.stderr);
    let nothing = home.run("serve --listen 127.0.0.1:0 --recall nothing.toml");
    assert!(nothing.status != 0 && nothing.stderr.contains("cannot read nothing.toml"), "{}", nothing.stderr);

    let mut command = home.on_the_store(words("--recall recall.toml"));
    let server = Server::of({
        command.env("EMBEDDINGS_KEY", "sk-secret");
        command
    });
    let run = |line: &str| {
        let done = home.on_the_store(crate::home::split(line)).env("CALLBOARD_URL", &server.url).output().unwrap();
        (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    run("session new --id demo");
    run("say --session demo 'Ana has the keys.'");
    let (found, noted) = run("recall 'Who rotates the keys?' --session demo");
    assert!(
        found.contains("Ana has the keys.") && found.contains("wiki, Runbook\n    Keys are rotated on Mondays."),
        "{found}"
    );
    assert!(noted.contains("gone gave nothing: cannot reach http://127.0.0.1:9/passages"), "{noted}");
    assert!(endpoint.keys().contains(&Some("Bearer sk-secret".to_owned())));
    let json: serde_json::Value =
        serde_json::from_str(&run("recall 'Who rotates the keys?' --session demo --json").0).unwrap();
    assert!(json["embedder"].as_str().unwrap().starts_with("small"), "{json}");
}
