//! Vectors of passages: who gets them, and what becomes of them when journals change.

use std::{
    path::Path,
    sync::{Arc, Mutex, atomic::Ordering},
};

use async_trait::async_trait;
use callboard_engine::{
    Board, Embedder, MasterKey, NoVectors, RecallAnswer, RecallQuery, RecallSettings, Session, Settings,
    core::{document::PutDocument, entry::Hash, variable::SetVariable, viewer::Viewer},
};
use callboard_recall::VectorFile;
use proptest::prelude::*;
use serde_json::json;

use crate::{
    faulty::{Call, Faulty},
    fixture::{agent, clock, erase, memory, moment, new, run, say, settings, soon},
    recall::{calls_of, long_document},
    recall_sight::{Shared, finds_the_same, steps, take, without_hidden},
};

/// A model whose vectors come of the letters of a text.
#[derive(Debug, Default)]
struct Letters {
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Embedder for Letters {
    fn model(&self) -> &str {
        "letters"
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NoVectors> {
        self.asked.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        let vector = |text: &&str| {
            let mut vector = vec![1.0; 32];
            text.bytes().for_each(|byte| vector[usize::from(byte % 32)] += 1.0);
            vector
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn settings_with(embedder: &Arc<Letters>, folder: Option<&Path>) -> Settings {
    let recall = RecallSettings {
        file: folder.map(|folder| folder.join("recall.db")),
        embedder: Some(embedder.clone()),
        ..settings(&clock()).recall
    };
    Settings { recall, master_keys: Arc::new(vec![MasterKey::new([7; 32])]), ..settings(&clock()) }
}

/// Asks until all passages have their vectors.
async fn asked(session: &Session, query: &str) -> RecallAnswer {
    soon("vectors of all passages", async {
        loop {
            let answer = session.recall(&Viewer::User, RecallQuery::new(query)).await.unwrap();
            if answer.embedder.as_deref() == Some("letters") {
                return answer;
            }
            moment().await;
        }
    })
    .await
}

/// Whether the file of vectors has that of a text of the user.
fn has(folder: &Path, text: &str) -> bool {
    let file = VectorFile::open(Some(&folder.join("recall-vectors.db")), Some("letters")).unwrap();
    file.find(&[Hash::of(format!("User: {text}").as_bytes())]).unwrap()[0].is_some()
}

/// Waits until the file of vectors has that of a text of the user: it is written right after passages have their vectors.
async fn kept(folder: &Path, text: &str) {
    soon("a vector in the file", async {
        while !has(folder, text) {
            moment().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_long_text_is_read_once_for_the_vectors_of_its_passages() {
    let (store, letters) = (Faulty::new(memory(&clock())), Arc::new(Letters::default()));
    let session = Board::new(store.clone(), settings_with(&letters, None)).create(new("s")).await.unwrap();
    // No two of its passages are equal.
    let line = |n| format!("The harbour opens at nine on day {n}, and the boats leave it one by one.\n");
    let document = PutDocument { text: (0..2000).map(line).collect::<String>().into(), ..long_document() };
    run(&session, document).await;
    let reads = calls_of(&store, Call::Value);
    // Of messages, so that no answer shows what the document says.
    let query = RecallQuery { sources: vec!["message".to_owned()], ..RecallQuery::new("harbour") };
    soon("vectors of all passages", async {
        while session.recall(&Viewer::User, query.clone()).await.unwrap().embedder.as_deref() != Some("letters") {
            moment().await;
        }
    })
    .await;
    let passages = letters.asked.lock().unwrap().iter().filter(|text| text.contains("harbour opens")).count();
    assert!(passages > 128, "{passages}");
    assert_eq!(reads.load(Ordering::SeqCst), 2, "for the index, and for the vectors");
}

#[tokio::test]
async fn erased_words_and_sessions_that_are_gone_leave_no_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let (store, letters) = (memory(&clock()), Arc::new(Letters::default()));
    let board = Board::new(store.clone(), settings_with(&letters, Some(folder.path())));
    let (session, other) = (board.create(new("s")).await.unwrap(), board.create(new("other")).await.unwrap());
    let seq = say(&session, "The code word is xylophonist.").await;
    say(&session, "It is a fine day.").await;
    say(&other, "It is a fine day.").await;
    asked(&session, "day").await;
    asked(&other, "day").await;
    kept(folder.path(), "The code word is xylophonist.").await;
    kept(folder.path(), "It is a fine day.").await;
    erase(&session, seq, "it is private").await.unwrap();
    let answer = asked(&session, "xylophonist").await;
    assert!(answer.hits.iter().all(|hit| !hit.text.contains("xylophonist")), "{answer:?}");
    assert!(!has(folder.path(), "The code word is xylophonist."));
    board.delete(session.id()).await.unwrap();
    assert!(has(folder.path(), "It is a fine day."));
    board.close().await;
    // A board without a model takes them away too.
    let recall = RecallSettings { embedder: None, ..settings_with(&letters, Some(folder.path())).recall };
    let board = Board::new(store, Settings { recall, ..settings(&clock()) });
    board.delete(other.id()).await.unwrap();
    board.close().await;
    assert!(!has(folder.path(), "It is a fine day."));
}

#[tokio::test]
async fn what_became_a_secret_later_is_not_sent_to_the_model() {
    let letters = Arc::new(Letters::default());
    let board = Board::new(memory(&clock()), settings_with(&letters, None));
    let session = board.create(new("s")).await.unwrap();
    say(&session, "The password is bergamot-7261, for now.").await;
    run(&session, SetVariable::new("password".parse().unwrap(), json!("bergamot-7261"), None, "r".into()).unwrap())
        .await;
    asked(&session, "What is bergamot-7261?").await;
    let asked = letters.asked.lock().unwrap().join("\n");
    assert!(asked.contains("The password is [hidden]") && !asked.contains("bergamot"), "{asked}");
}

#[tokio::test]
async fn vectors_that_were_made_of_a_secret_before_it_was_known_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let letters = Arc::new(Letters::default());
    let board = Board::new(memory(&clock()), settings_with(&letters, Some(folder.path())));
    let session = board.create(new("s")).await.unwrap();
    let clear = "The password is bergamot-7261, for now.";
    say(&session, clear).await;
    say(&session, "It is a fine day.").await;
    asked(&session, "password").await;
    kept(folder.path(), clear).await;
    run(&session, SetVariable::new("password".parse().unwrap(), json!("bergamot-7261"), None, "r".into()).unwrap())
        .await;
    let hidden = "User: The password is [hidden], for now.";
    soon("the vector of what is hidden now", async {
        loop {
            asked(&session, "password").await;
            if letters.asked.lock().unwrap().iter().any(|text| text == hidden) && !has(folder.path(), clear) {
                break;
            }
            moment().await;
        }
    })
    .await;
    asked(&session, "password").await;
    kept(folder.path(), "The password is [hidden], for now.").await;
    assert!(!has(folder.path(), clear));
    let asked = letters.asked.lock().unwrap();
    assert_eq!(asked.iter().filter(|text| *text == "User: It is a fine day.").count(), 1, "{asked:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn i3_what_is_meant_is_found_as_if_what_is_hidden_never_was(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let board = || Board::new(memory(&clock()), settings_with(&Arc::default(), None));
            let shared = Shared::new(&board(), "s").await;
            for step in &steps {
                take(&shared, step).await;
            }
            asked(&shared.session, "harbour").await;
            for viewer in [agent("writer"), agent("lead"), Viewer::User] {
                let apart = board();
                let other = without_hidden(&apart, &shared, &viewer).await;
                asked(&other, "harbour").await;
                finds_the_same(&shared.session, &other, &viewer).await?;
            }
            Ok::<_, TestCaseError>(())
        })?;
    }
}
