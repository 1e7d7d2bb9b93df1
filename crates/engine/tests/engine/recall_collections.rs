//! Recall in collections: what a session finds in them, what prompts note of it, and what becomes of that.

use callboard_engine::{
    Board, PromptSpec, RecallQuery, Session,
    core::{count::Tokens, document::PutDocument, id::Seq, prompt::observed::Observed, viewer::Viewer},
};
use serde_json::json;

use crate::fixture::{agent, board, clock, erase, handbook, memory, new, patch, run, say};

async fn write(collection: &Session, name: &str, text: &str) -> Seq {
    let name = name.parse().unwrap();
    run(collection, PutDocument { name, text: text.into(), visible_to: None, media_type: None }).await.head
}

/// A session that names a collection, and the collection.
async fn stage(board: &Board) -> (Session, Session) {
    let collection = board.put_collection(&handbook()).await.unwrap();
    let session = board.create(new("s")).await.unwrap();
    run(&session, patch(json!({ "collections": ["handbook"] }))).await;
    (session, collection)
}

fn vault() -> PromptSpec {
    PromptSpec {
        agent: Some("writer".parse().unwrap()),
        budget: Some(Tokens(6000)),
        task: Some("Which word opens the vault?".to_owned()),
        recall: Some(true),
        ..PromptSpec::default()
    }
}

#[tokio::test]
async fn a_word_weighs_as_much_as_it_is_rare_in_the_session_and_its_collections_together() {
    let (session, collection) = stage(&board(&memory(&clock()))).await;
    say(&session, "The vault is behind the mill.").await;
    say(&session, "The mill stands by the river.").await;
    let asked = async || {
        let all = RecallQuery { limit: 100, ..RecallQuery::new("vault") };
        let hits = session.recall(&agent("writer"), all).await.unwrap().hits;
        let hit = hits.iter().find(|hit| hit.text.contains("behind")).unwrap();
        (hit.score, hits.len())
    };
    let (before, _) = asked().await;
    for number in 0..20 {
        write(&collection, &format!("vaults/{number}"), "Each vault has a door, and a vault has a lock.").await;
    }
    let (after, found) = asked().await;
    assert!(after < before, "every document says vault, so it weighs less: {after} and {before}");
    assert!(found > 20, "{found}");
    let hits = session.recall(&agent("writer"), RecallQuery::new("river mill")).await.unwrap().hits;
    assert_eq!(hits[0].collection, None);
}

#[tokio::test]
async fn i5_a_prompt_notes_where_a_collection_says_it_and_is_made_again_from_that() {
    let board = board(&memory(&clock()));
    let (session, collection) = stage(&board).await;
    say(&session, "Good morning.").await;
    let seq = write(&collection, "vaults.md", "The vault opens with the word bergamot.").await;
    let prompt = session.prompt(&vault()).await.unwrap();
    assert!(prompt.text().contains("of the collection handbook") && prompt.text().contains("bergamot"));
    assert!(!prompt.shows.iter().any(|(first, last)| *last > prompt.seq || *first > *last), "{:?}", prompt.shows);
    let Observed::Seen(places) = &prompt.observed.recall else { panic!("{:?}", prompt.observed) };
    let noted = serde_json::to_value(places).unwrap();
    assert_eq!((&noted[0]["collection"], &noted[0]["seq"]), (&json!("handbook"), &json!(seq)));
    assert!(!noted.to_string().contains("bergamot"));
    let again = PromptSpec { recall: Some(false), at: Some(prompt.seq), observed: prompt.observed.clone(), ..vault() };
    // What the collection says since does not count.
    write(&collection, "vaults.md", "The vault opens with the word lavender.").await;
    say(&session, "Good evening.").await;
    assert_eq!(session.prompt(&again).await.unwrap().sha256(), prompt.sha256());
    assert!(session.prompt(&vault()).await.unwrap().text().contains("lavender"));
    erase(&collection, seq, "it is private").await.unwrap();
    let erased = session.prompt(&again).await.unwrap().text();
    assert!(!erased.contains("bergamot") && erased.contains("[erased]"), "{erased}");
    board.delete_collection(&handbook()).await.unwrap();
    let gone = session.prompt(&again).await.unwrap().text();
    assert!(!gone.contains("bergamot") && gone.contains("[erased]"), "{gone}");
    assert!(!session.prompt(&vault()).await.unwrap().text().contains("lavender"));
}

#[tokio::test]
async fn as_of_an_entry_collections_say_what_they_said_then() {
    let clock = clock();
    let store = memory(&clock);
    let settings = crate::fixture::settings(&clock);
    let (session, collection) = stage(&Board::new(store, settings)).await;
    let asked = async |at: Option<Seq>| {
        let query = RecallQuery { at, ..RecallQuery::new("vault") };
        let hits = session.recall(&Viewer::User, query).await.unwrap().hits;
        hits.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
    };
    let first = say(&session, "Good morning.").await;
    clock.advance_seconds(1);
    say(&session, "Good day.").await;
    clock.advance_seconds(1);
    write(&collection, "a", "The vault is shut.").await;
    clock.advance_seconds(1);
    let between = say(&session, "Good afternoon.").await;
    assert_eq!(asked(Some(between)).await, ["The vault is shut."]);
    say(&session, "Good evening.").await;
    clock.advance_seconds(1);
    write(&collection, "a", "The vault is open.").await;
    assert_eq!(asked(None).await, ["The vault is open."]);
    assert_eq!(asked(Some(between)).await, ["The vault is shut."]);
    assert!(asked(Some(first)).await.is_empty());
}

#[tokio::test]
async fn a_search_finds_words_in_collections_and_the_newest_first() {
    let clock = clock();
    let (session, collection) = stage(&Board::new(memory(&clock), crate::fixture::settings(&clock))).await;
    let found = async |viewer: &Viewer, words: &str, limit| {
        let hits = session.search_words(viewer, words, limit).await.unwrap();
        hits.into_iter().map(|hit| (hit.collection.is_some(), hit.text)).collect::<Vec<_>>()
    };
    say(&session, "the vault, one").await;
    clock.advance_seconds(1);
    write(&collection, "a", "the vault, two").await;
    clock.advance_seconds(1);
    say(&session, "the vault, three").await;
    let all = [(false, "the vault, three"), (true, "the vault, two"), (false, "the vault, one")];
    let all = all.map(|(is_shared, text)| (is_shared, text.to_owned()));
    assert_eq!(found(&agent("writer"), "vault", 9).await, all);
    assert_eq!(found(&agent("writer"), "vault", 2).await, all[..2]);
    assert_eq!(found(&agent("writer"), "vault type:document", 2).await, all[1..2]);
    let name = "a".parse().unwrap();
    let visible_to = Some(serde_json::from_str(r#"["lead"]"#).unwrap());
    run(&collection, PutDocument { name, text: "the vault, two".into(), visible_to, media_type: None }).await;
    assert_eq!(found(&agent("writer"), "vault type:document", 2).await, []);
    assert_eq!(found(&agent("lead"), "vault type:document", 2).await.len(), 1);
}
