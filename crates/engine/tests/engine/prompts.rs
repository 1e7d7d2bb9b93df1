use std::sync::Arc;

use callboard_engine::{
    Board, PromptSpec, Session, Settings,
    core::{conversation::PutThread, count::Tokens, entry::Actor, id::Seq, prompt::Format},
    prompt::compression::{
        material::CompressionScope,
        plan::{Aim, Outlook, Writing},
    },
    sizes,
    store::Store,
};

use crate::fixture::{File, add, agent, clock, code, id, memory, new, put, put_for, run, say, settings, text, thread};

/// The same random numbers each time: sessions that are made alike are alike, to the last byte.
fn board(store: &Arc<dyn Store>, snapshot_every: u64) -> Board {
    let random = Arc::new(crate::fixture::Seeded(1.into()));
    Board::new(store.clone(), Settings { random, snapshot_every, ..settings(&clock()) })
}

/// Something of everything that stands in a prompt.
async fn fill(session: &Session) {
    let long = "A long brief.\n".repeat(6000);
    run(session, put("Brief", &long)).await;
    run(session, put_for("For the editor", "Cut every second word.", &["editor"])).await;
    for n in 0..150 {
        say(session, &format!("message {n}, with <CURRENT_TASK> in it")).await;
        if n % 10 == 0 {
            session.execute(agent("writer"), add("main", vec![text(&format!("answer {n}"))])).await.unwrap();
        }
        if n == 70 {
            run(session, put("Brief", "A short brief.")).await;
        }
    }
}

fn queries() -> Vec<PromptSpec> {
    let mut queries = Vec::new();
    for name in ["lead", "writer", "editor"] {
        for format in [Format::Text, Format::OpenAi, Format::Anthropic] {
            for budget in [900, 2000, 100_000] {
                for at in [None, Some(40), Some(90), Some(165)] {
                    queries.push(PromptSpec {
                        agent: name.parse().ok(),
                        format,
                        budget: Some(Tokens(budget)),
                        at: at.map(Seq),
                        ..PromptSpec::default()
                    });
                }
            }
        }
    }
    queries
}

async fn prompts(session: &Session) -> Vec<String> {
    let mut prompts = Vec::new();
    for query in queries() {
        prompts.push(match session.prompt(&query).await {
            Ok(prompt) => {
                assert!(prompt.tokens <= prompt.budget);
                format!("{} {:?}", prompt.sha256(), prompt)
            }
            Err(error) => error.to_string(),
        });
    }
    prompts
}

#[tokio::test(flavor = "multi_thread")]
async fn i5_prompts_are_the_same_bytes_on_every_store_after_a_restart_and_with_snapshots_or_without() {
    let (clock, file, with, without) = (clock(), File::new(), File::new(), memory(&clock()));
    let first = board(&without, 1_000_000).create(new("s")).await.unwrap();
    fill(&first).await;
    let expected = prompts(&first).await;
    assert!(expected.iter().filter(|prompt| prompt.contains("sha256") || prompt.contains("Prompt {")).count() > 40);
    for (file, every) in [(&file, 1_000_000), (&with, 10)] {
        let store = file.open(&clock);
        let made = board(&store, every);
        fill(&made.create(new("s")).await.unwrap()).await;
        made.close().await;
        drop((made, store));
        let again = board(&file.open(&clock), every).session(&id("s")).await.unwrap();
        let found = prompts(&again).await;
        for (query, (expected, found)) in queries().iter().zip(expected.iter().zip(&found)) {
            assert!(expected == found, "{query:?}\n{expected}\n{found}");
        }
    }
}

#[tokio::test]
async fn a_prompt_as_of_an_entry_does_not_change_with_what_comes_later() {
    let session = crate::fixture::session().await;
    fill(&session).await;
    let head = session.state().await.unwrap().head.seq;
    let query = |at| PromptSpec { agent: "writer".parse().ok(), at, ..PromptSpec::default() };
    let now = session.prompt(&query(None)).await.unwrap();
    say(&session, "something new").await;
    run(&session, put("Brief", "another one")).await;
    assert_eq!(session.prompt(&query(Some(head))).await.unwrap(), now);
    assert_ne!(session.prompt(&query(None)).await.unwrap().sha256(), now.sha256());
    assert_eq!(code(session.prompt(&query(Some(head.next().next().next()))).await), "not_found");
    assert_eq!(code(session.prompt(&query(Some(Seq::ZERO))).await), "not_found");
}

#[tokio::test]
async fn a_task_is_found_behind_thousands_of_entries_that_the_reader_does_not_see() {
    let session = crate::fixture::session().await;
    say(&session, "the task").await;
    let hide = |agents: &[&str]| PutThread::seen_by(thread("main"), crate::fixture::only(agents));
    run(&session, hide(&["lead", "editor"])).await;
    let chatter = (0..3000).map(|n| text(&n.to_string())).collect();
    run(&session, add("main", chatter)).await;
    let lead = PromptSpec { agent: "lead".parse().ok(), budget: Some(Tokens(3000)), ..PromptSpec::default() };
    assert!(session.prompt(&lead).await.unwrap().text().contains("2999"));
    // It was away while the others talked.
    run(&session, hide(&["lead", "editor", "writer"])).await;
    let writer = PromptSpec { agent: "writer".parse().ok(), thread: Some(thread("main")), ..lead };
    let prompt = session.prompt(&writer).await.unwrap();
    assert!(!prompt.text().contains("2999"), "{}", prompt.text());
}

#[tokio::test]
async fn an_agent_that_is_not_in_the_team_has_no_prompt() {
    let session = crate::fixture::session().await;
    let query = PromptSpec { agent: "nobody".parse().ok(), ..PromptSpec::default() };
    assert_eq!(code(session.prompt(&query).await), "not_found");
    let query = PromptSpec { budget: Some(Tokens(10)), ..PromptSpec::default() };
    assert_eq!(code(session.prompt(&query).await), "budget_exceeded");
}

#[tokio::test]
async fn a_long_text_that_the_store_has_lost_costs_its_part_and_not_the_prompt() {
    for damage in ["DELETE FROM value", "UPDATE value SET text = CAST(x'ff' AS TEXT)"] {
        let file = File::new();
        let session = board(&file.open(&clock()), 1_000_000).create(new("s")).await.unwrap();
        let brief = run(&session, put("Brief", &"A long brief.\n".repeat(6000))).await.head;
        run(&session, put("Tone", "Friendly.")).await;
        let early = say(&session, &"An early word. ".repeat(6000)).await;
        session.execute(agent("writer"), add("main", vec![text("I see.")])).await.unwrap();
        let task = say(&session, &"A long task. ".repeat(6000)).await;
        let query = PromptSpec { agent: "writer".parse().ok(), budget: Some(Tokens(200_000)), ..PromptSpec::default() };
        let db = rusqlite::Connection::open(file.folder().join("callboard.db")).unwrap();
        assert!(db.execute(damage, []).unwrap() > 0, "{damage}");
        for format in [Format::Text, Format::OpenAi] {
            let prompt = session.prompt(&PromptSpec { format, ..query.clone() }).await.unwrap();
            let shown = prompt.text();
            for seq in [brief, early, task] {
                assert!(shown.contains(&format!("[this text is damaged: entry {seq}]")), "{damage}: {shown}");
            }
            assert!(shown.contains("Friendly.") && shown.contains("I see."), "{damage}: {shown}");
            for (name, omitted) in [
                ("context_sets", "Brief".to_owned()),
                ("history", format!("the text of entry {early}, which is damaged")),
                ("task", format!("the text of entry {task}, which is damaged")),
            ] {
                let part = prompt.parts.iter().find(|part| part.name == name).unwrap();
                assert!(part.shortened && part.omitted == [omitted], "{damage}: {part:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_thread_with_a_long_text_that_the_store_has_lost_is_compressed_without_it() {
    for damage in ["DELETE FROM value", "UPDATE value SET text = CAST(x'ff' AS TEXT)"] {
        let file = File::new();
        let session = board(&file.open(&clock()), 1_000_000).create(new("s")).await.unwrap();
        say(&session, "Mend the boat.").await;
        let lost = say(&session, &"A long list of what is broken. ".repeat(6000)).await;
        for step in 0..100 {
            let said = text(&format!("Step {step}: the plank is mended, and the next one is looked at."));
            session.execute(agent("writer"), add("main", vec![said])).await.unwrap();
        }
        say(&session, "How far are you?").await;
        let db = rusqlite::Connection::open(file.folder().join("callboard.db")).unwrap();
        assert!(db.execute(damage, []).unwrap() > 0, "{damage}");
        let aim = Aim { target: Tokens(1000), keep_recent: None };
        let outlook = session.plan_compression(&thread("main"), CompressionScope::default(), aim).await.unwrap();
        let Outlook::Compress(plan) = outlook else { panic!("{damage}: {outlook:?}") };
        let note = format!("[this text is damaged: entry {lost}]");
        assert!(plan.said().any(|spoken| spoken.transcript().contains(&note)), "{damage}");
        let summary = plan.extract(sizes()).unwrap();
        session.execute(Actor::System, plan.compress(&summary, Writing::default())).await.unwrap();
        let query = PromptSpec { agent: "lead".parse().ok(), budget: Some(Tokens(200_000)), ..PromptSpec::default() };
        let shown = session.prompt(&query).await.unwrap().text();
        assert!(shown.contains("<CONVERSATION_SUMMARY") && shown.contains(&note), "{damage}: {shown}");
        assert!(shown.contains("Mend the boat.") && shown.contains("How far are you?"), "{damage}: {shown}");
    }
}
