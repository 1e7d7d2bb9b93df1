//! Compression as people ask for it: what it would do, what it does, what is kept, and how it is undone.

use callboard_model::scripted::{Reply, Scripted};

use crate::home::{Home, Way};

both_ways!(
    a_thread_is_compressed_without_a_model_and_put_back,
    a_model_writes_the_summary,
    a_model_that_writes_nothing_of_use_costs_nothing_but_its_time,
);

/// A team whose thread `main` has 60 messages.
fn talked(home: Home) -> Home {
    home.json("session new --id demo --agent lead:manager --agent writer");
    let line = |n| format!("Message {n} says at some length that the selector #button-{n} was found on page {n}.\n");
    let said = home.feed("say --lines --session demo", (1..=60).map(line).collect::<String>());
    assert_eq!(said.status, 0, "{}", said.stderr);
    home
}

fn a_thread_is_compressed_without_a_model_and_put_back(way: Way) {
    let home = talked(way(Home::new()));
    insta::assert_snapshot!(
        "compression",
        home.transcript(&[
            "context --session demo",
            "compress --session demo --preview --target 800 --no-model",
            "pin m7 --session demo",
            "compress --session demo --target 800 --no-model",
            "context --session demo",
            "why 'selector #button-3 ' --session demo",
            "messages --session demo --limit 1",
            "compress --session demo --target 800 --no-model",
            "compress --session demo --undo 5",
            "compress --session demo --undo 65",
            "compress --session demo --undo 65",
            "context --session demo",
            "pin m7 --session demo --remove",
            "pin m999 --session demo",
            "compress --session demo --target 0",
            "compress --session demo --thread none",
            "compress --session demo --as writer",
            "context --session demo --as writer",
        ])
    );
    home.assert_sound();
}

fn a_model_writes_the_summary(way: Way) {
    let summary = "The user found the selectors #button-1 to #button-60, one on each page.";
    let endpoint = Scripted::start(move |_, _| Reply::text(summary).with_usage(3000, 20));
    let home = talked(way(Home::with(&endpoint)));
    home.json("pin m7 --session demo");
    let done = home.json("compress --session demo --target 800");
    assert_eq!((&done["method"], &done["model"]), (&"model".into(), &"openai:scripted".into()), "{done}");
    let asked = endpoint.requests();
    assert!(asked.iter().any(|request| request.to_string().contains("Message 1 says at some length")), "{asked:?}");
    let prompt = home.json("prompt --session demo");
    let text = prompt["text"].as_str().unwrap();
    let pinned = "Message 4 says at some length that the selector #button-4 was found on page 4.";
    assert!(text.contains(summary) && text.contains(pinned) && text.contains("Message 60 says"), "{text}");
    assert!(!text.contains("Message 5 says"), "{text}");
    home.json(&format!("compress --session demo --undo {}", done["seq"]));
    let text = home.json("prompt --session demo")["text"].to_string();
    assert!(text.contains("Message 5 says") && !text.contains(summary), "{text}");
    home.assert_sound();
}

fn a_model_that_writes_nothing_of_use_costs_nothing_but_its_time(way: Way) {
    let endpoint = Scripted::start(|_, _| Reply::text("  "));
    let home = talked(way(Home::with(&endpoint)));
    let done = home.run("compress --session demo --target 800");
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert!(done.stdout.contains("summary of excerpts") && done.stdout.contains("without a model:"), "{}", done.stdout);
    home.assert_sound();
}
