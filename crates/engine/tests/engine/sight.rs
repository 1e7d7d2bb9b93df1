use callboard_engine::{
    Filter, PromptSpec, Session,
    core::{
        context_set::DeleteSet,
        conversation::{NewMessage, PutThread, Role},
        directive::Direct,
        id::Seq,
        viewer::Viewer,
    },
};

use crate::fixture::{add, agent, code, only, put, put_for, run, say, seen, session, soon, text, thread};

/// What no output for `writer` may contain.
const MARK: &str = "quokka";

fn marked(words: &str) -> String {
    format!("{words} {MARK}")
}

/// A session with secrets from `writer` in every place that has a name or a text.
async fn secretive() -> Session {
    let session = session().await;
    let long = format!("{} {MARK}", "x".repeat(70 * 1024));
    run(&session, put_for(&marked("Hidden"), &marked("content"), &["editor"])).await;
    run(&session, put_for("Long", &long, &["editor"])).await;
    run(&session, put("Was seen", &marked("once"))).await;
    run(&session, put_for("Was seen", &marked("no more"), &["editor"])).await;
    run(&session, put("Deleted", &marked("once"))).await;
    run(&session, DeleteSet("Deleted".parse().unwrap())).await;
    run(&session, PutThread::seen_by(thread(&marked("aside")), only(&["editor"]))).await;
    run(&session, add(&marked("aside"), vec![text(&marked("whispers")), text(&long)])).await;
    run(&session, PutThread::seen_by(thread("was open"), only(&["editor", "writer"]))).await;
    run(&session, add("was open", vec![text(&marked("before")), text(&long)])).await;
    run(&session, PutThread::seen_by(thread("was open"), only(&["editor"]))).await;
    run(&session, add("agent:editor", vec![NewMessage::text(Role::Ai, marked("for the editor").as_str())])).await;
    let directive = serde_json::json!({"messageTo": "editor", "message": marked("order"), "contextSetUpdate": {
        "contextSets": [{"name": marked("Plan"), "context": marked("all of it"), "visibleToAgents": ["editor"]}]}});
    run(&session, Direct(directive)).await;
    run(&session, put("Open", "for everyone")).await;
    say(&session, "hello, all of you").await;
    session
}

#[tokio::test]
async fn i3_nothing_for_a_worker_contains_what_is_hidden_from_it() {
    let session = secretive().await;
    let writer = agent("writer");
    let (entries, _) = seen(&session, &writer, Seq::ZERO, usize::MAX, &[]).await.unwrap();
    let told = entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect::<Vec<_>>().join("\n");
    assert!(told.contains("for everyone") && told.contains("all of you"), "{told}");
    assert!(!told.contains(MARK), "{told}");

    let mut stream = session.subscribe(writer.clone(), Some(Seq::ZERO), Filter::default()).await.unwrap();
    for expected in entries {
        assert_eq!(soon("an entry", stream.next()).await.unwrap(), Some(expected));
    }

    let page = session.messages(&writer, &thread("main"), Default::default()).await.unwrap();
    assert!(!serde_json::to_string(&page).unwrap().contains(MARK));
    let prompt = session.prompt(&PromptSpec { agent: "writer".parse().ok(), ..Default::default() }).await.unwrap();
    assert!(prompt.text().contains("for everyone") && !prompt.text().contains(MARK), "{}", prompt.text());
    assert!(prompt.parts.iter().all(|part| !format!("{part:?}").contains(MARK)));
    for words in [MARK, "once", "whispers", "xxxx"] {
        assert_eq!(session.why(&writer, words).await.unwrap(), [], "{words}");
    }
    let names = session
        .view(&writer, |view| {
            let sets = view.sets().map(|set| set.held().set.name.to_string()).collect::<Vec<_>>();
            let threads = view.threads().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
            Ok([sets, threads].concat())
        })
        .await
        .unwrap();
    assert_eq!(names, ["Open", "main"]);
}

#[tokio::test]
async fn those_who_may_see_it_do() {
    let session = secretive().await;
    let editor = agent("editor");
    let told = seen(&session, &editor, Seq::ZERO, usize::MAX, &[]).await.unwrap().0;
    assert!(told.iter().filter(|entry| entry.data.contains(MARK)).count() >= 5);
    assert!(!session.why(&editor, MARK).await.unwrap().is_empty());
    let page = session.messages(&editor, &thread(&marked("aside")), Default::default()).await.unwrap();
    assert!(page.messages[1].content.as_str().unwrap().ends_with(MARK), "a long text is given whole");
}

#[tokio::test]
async fn i3_what_is_hidden_answers_like_what_is_not_there() {
    let session = secretive().await;
    let writer = agent("writer");
    let hidden = [marked("aside"), "was open".to_owned(), "agent:editor".to_owned()];
    let answers = |name: String| {
        let (session, writer) = (session.clone(), writer.clone());
        async move {
            let thread = thread(&name);
            let blank = |answer: String| answer.replace(&name, "NAME");
            let say = session.say(writer.clone(), &thread, text("may I?")).await.map(|_| ());
            let read = session.messages(&writer, &thread, Default::default()).await.map(|_| ());
            let query = PromptSpec { agent: "writer".parse().ok(), thread: Some(thread), ..Default::default() };
            let prompt = session.prompt(&query).await.map(|_| ());
            [say, read, prompt].map(|answer| blank(format!("{answer:?}")))
        }
    };
    let absent = answers("no such thread".to_owned()).await;
    assert!(absent.iter().all(|answer| answer.contains("NotFound")), "{absent:?}");
    for name in hidden {
        assert_eq!(answers(name).await, absent);
    }
    let set = async |name: &str| code(session.view(&writer, |view| view.set(&name.parse()?).map(|_| ())).await);
    assert_eq!(set("Long").await, set("No such set").await);
}

#[tokio::test]
async fn i3_what_somebody_writes_in_metadata_opens_no_long_text() {
    let session = secretive().await;
    let long = format!("{} {MARK}", "x".repeat(70 * 1024));
    let sha256 = callboard_engine::core::entry::Hash::of(long.as_bytes());
    let metadata = serde_json::json!({"sha256": sha256, "size_bytes": 1, "beginning": "x", "content": {
        "sha256": sha256, "size_bytes": 1, "beginning": "x"}});
    let unknown = serde_json::json!({"sha256": "0".repeat(64), "size_bytes": 1, "beginning": "x"});
    for metadata in [metadata, unknown] {
        let metadata = metadata.as_object().cloned();
        let message = NewMessage { metadata, ..text("look at this") };
        session.execute(agent("writer"), add("main", vec![message])).await.unwrap();
    }
    assert_eq!(session.why(&agent("writer"), MARK).await.unwrap(), []);
    assert_eq!(session.why(&Viewer::User, "look at this").await.unwrap().len(), 2);
}
