//! What recall asks elsewhere, over real HTTP: a model of vectors, and sources of passages.

use std::{path::Path, sync::Arc, time::Duration};

use callboard_engine::{RecallSettings, Settings as BoardSettings};
use callboard_model::{
    ApiKey, Embeddings, EmbeddingsSettings, HttpSource, Retries, SourceSettings, Timeouts,
    scripted::{Reply, Scripted},
};
use callboard_server::{Prefixes, embedder, passage_source};
use serde_json::{Value, json};

use crate::fixtures::{self, PATIENCE, Server, memory, moment, settings, soon, sqlite};

/// How long a model or a source may take that takes too long. All others have [`PATIENCE`].
const SHORT: Duration = Duration::from_secs(1);

/// A model with three meanings: vehicles, meals, and all else.
fn meaning(text: &str) -> [f32; 3] {
    let has = |words: [&str; 3]| words.iter().any(|word| text.contains(word));
    if has(["car", "automobile", "truck"]) {
        [1.0, 0.0, 0.1]
    } else if has(["soup", "meal", "lunch"]) {
        [0.0, 1.0, 0.1]
    } else {
        [0.0, 0.1, 1.0]
    }
}

fn inputs(request: &Value) -> Vec<String> {
    request["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn vectors(request: &Value) -> Reply {
    let vectors: Vec<_> = inputs(request).iter().map(|text| meaning(text)).collect();
    Reply::vectors(vectors.iter().map(|vector| &vector[..]))
}

fn with_model(endpoint: &Scripted, model: &str) -> RecallSettings {
    with_prefixes(endpoint, model, Prefixes::default())
}

fn with_prefixes(endpoint: &Scripted, model: &str, prefixes: Prefixes) -> RecallSettings {
    let settings = EmbeddingsSettings {
        base_url: endpoint.base_url(),
        model: model.to_owned(),
        key: None,
        proxy: None,
        timeouts: Timeouts { whole: PATIENCE, ..Timeouts::default() },
        retries: Retries { tries: 2, first_wait: Duration::ZERO, ..Retries::default() },
    };
    let embedder = Some(embedder(Arc::new(Embeddings::new(&settings).unwrap()), prefixes));
    RecallSettings { embedder, ..fixtures::recall() }
}

fn source(endpoint: &Scripted, name: &str) -> Arc<dyn callboard_engine::PassageSource> {
    source_within(PATIENCE, endpoint, name)
}

fn source_within(timeout: Duration, endpoint: &Scripted, name: &str) -> Arc<dyn callboard_engine::PassageSource> {
    let settings = SourceSettings {
        name: name.to_owned(),
        url: format!("{}/passages", endpoint.base_url()),
        timeout,
        max_bytes: 1 << 20,
        headers: vec![("authorization".to_owned(), ApiKey::new("sk-source").unwrap())],
        proxy: None,
    };
    passage_source(HttpSource::new(&settings).unwrap())
}

/// A server with a session, and the addresses of that and of its recall.
async fn server(recall: RecallSettings) -> (Server, String, String) {
    let server = Server::of(memory().await, settings(), BoardSettings { recall, ..fixtures::board() }).await;
    let team = server.team("s").await;
    let at = format!("{team}/recall");
    (server, team, at)
}

/// A server of the store in this folder, with its files there.
async fn server_in(folder: &Path, recall: RecallSettings) -> Server {
    let recall = RecallSettings { file: Some(folder.join("recall.db")), ..recall };
    let board = BoardSettings { recall, ..fixtures::board() };
    Server::of(sqlite(&folder.join("board.db")).await, settings(), board).await
}

async fn recall(server: &Server, at: &str, body: Value) -> Value {
    soon("an answer", server.send("POST", at, body)).await.is(200).body
}

fn texts(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap()).collect()
}

/// Asks until all passages have their vectors.
async fn recall_with_all(server: &Server, at: &str, query: &str, model: &str) -> Value {
    soon("all vectors", async {
        loop {
            let answer = recall(server, at, json!({ "query": query })).await;
            if answer["embedder"] == model {
                return answer;
            }
            moment().await;
        }
    })
    .await
}

#[tokio::test]
async fn what_is_meant_is_found_without_a_word_of_it_and_only_by_those_who_may_see_it() {
    let endpoint = Scripted::start(|request, _| vectors(request));
    let (server, team, at) = server(with_model(&endpoint, "small")).await;
    server.send("PUT", &format!("{team}/threads/plans"), json!({"visible_to": ["lead"]})).await.is(200);
    server.say(&team, "main", "Ana bought a red car.").await;
    server.say(&team, "plans", "The boss gets a truck.").await;
    server.say(&team, "main", "The soup was too salty.").await;
    let all = recall_with_all(&server, &at, "automobile", "small").await;
    let mut found = texts(&all)[..2].to_vec();
    found.sort_unstable();
    assert_eq!(found, ["Ana bought a red car.", "The boss gets a truck."]);
    let why = &all["hits"][0]["why"];
    assert!(why["terms"] == json!([]) && why["signals"]["meaning"].as_f64().unwrap() > 2.0, "{why}");

    let seen = recall(&server, &format!("{at}?as=writer"), json!({"query": "automobile"})).await;
    assert_eq!((texts(&seen)[0], seen["embedder"].as_str()), ("Ana bought a red car.", Some("small")));
    assert!(!seen.to_string().contains("truck"), "{seen}");
    // The same score as in a session in which what is hidden never was.
    let other = server.team("other").await;
    server.say(&other, "main", "Ana bought a red car.").await;
    server.say(&other, "main", "The soup was too salty.").await;
    let without = recall_with_all(&server, &format!("{other}/recall"), "automobile", "small").await;
    assert_eq!(without["hits"][0]["score"], seen["hits"][0]["score"]);
    assert!(
        endpoint.requests().iter().any(|asked| inputs(asked).contains(&"User: The soup was too salty.".to_owned()))
    );
}

#[tokio::test]
async fn without_a_model_that_answers_words_count_alone_and_the_answer_says_why() {
    let raw = |numbers: &str| {
        Reply::raw(200, "application/json", format!(r#"{{"data": [{{"index": 0, "embedding": [{numbers}]}}]}}"#))
    };
    let bad = [
        (Reply::error(500, "oops"), "status 500: oops"),
        (Reply::error(429, "slow down").retry_after(3600), "status 429"),
        (Reply::silence(), "gave no vector within 1 s"),
        (Reply::endless(r#"{"data": [{"embedding": [0"#, ", 0".repeat(10_000)), "does not end"),
        (Reply::garbage("<html>"), "not understood"),
        (raw("NaN"), "not understood"),
        (raw("1, null"), "null"),
        (raw("0, 0"), "no vector for the question"),
    ];
    for (reply, reason) in bad {
        let endpoint = Scripted::start(move |_, _| reply.clone());
        // Only one that is silent is given up soon.
        let patience = if reason.contains("within 1 s") { SHORT } else { PATIENCE };
        let (server, team, at) = server(RecallSettings { patience, ..with_model(&endpoint, "small") }).await;
        server.say(&team, "main", "Ana bought a red car.").await;
        server.say(&team, "main", "The soup was too salty.").await;
        for _ in 0..2 {
            let answer = recall(&server, &at, json!({"query": "soup"})).await;
            assert_eq!(texts(&answer)[0], "The soup was too salty.", "{reason}");
            let embedder = answer["embedder"].as_str().unwrap();
            assert!(embedder.starts_with("unavailable: ") && embedder.contains(reason), "{reason}: {embedder}");
        }
        assert!(recall(&server, &at, json!({"query": "automobile"})).await["hits"] == json!([]), "{reason}");
    }
}

#[tokio::test]
async fn a_text_that_the_model_refuses_takes_no_other_with_it() {
    let endpoint = Scripted::start(|request, _| match inputs(request).iter().any(|text| text.contains("poison")) {
        true => Reply::error(400, "input is too long"),
        false => vectors(request),
    });
    let (server, team, at) = server(with_model(&endpoint, "small")).await;
    for text in ["Ana bought a red car.", "This is poison.", "The soup was too salty."] {
        server.say(&team, "main", text).await;
    }
    assert_eq!(texts(&recall_with_all(&server, &at, "automobile", "small").await)[0], "Ana bought a red car.");
    assert_eq!(texts(&recall_with_all(&server, &at, "meal", "small").await)[0], "The soup was too salty.");
    assert_eq!(texts(&recall(&server, &at, json!({"query": "poison"})).await)[0], "This is poison.");
}

#[tokio::test]
async fn a_text_whose_vector_is_zeros_has_none_and_silences_the_model_for_no_other() {
    let endpoint = Scripted::start(|request, _| {
        let zeros = |text: &String| if text.contains("hum") { [0.0; 3] } else { meaning(text) };
        let vectors: Vec<_> = inputs(request).iter().map(zeros).collect();
        Reply::vectors(vectors.iter().map(|vector| &vector[..]))
    });
    let (server, team, at) = server(with_model(&endpoint, "small")).await;
    for text in ["Ana bought a red car.", "hum hum", "The soup was too salty."] {
        server.say(&team, "main", text).await;
    }
    assert_eq!(texts(&recall_with_all(&server, &at, "automobile", "small").await)[0], "Ana bought a red car.");
    // A question without a vector is answered by its words, and the next one has its meaning again.
    let hum = recall(&server, &at, json!({"query": "hum"})).await;
    assert_eq!(
        (texts(&hum)[0], &hum["embedder"]),
        ("hum hum", &json!("unavailable: small has no vector for the question"))
    );
    let meal = recall(&server, &at, json!({"query": "meal"})).await;
    assert_eq!((texts(&meal)[0], &meal["embedder"]), ("The soup was too salty.", &json!("small")));
}

#[tokio::test]
async fn a_model_that_changes_its_dimension_is_told_of_and_words_count_alone() {
    let endpoint = Scripted::start(|request, nth| match nth {
        0 => vectors(request),
        _ => Reply::vectors(inputs(request).iter().map(|_| &[1.0, 0.0][..])),
    });
    let (server, team, at) = server(with_model(&endpoint, "small")).await;
    server.say(&team, "main", "Ana bought a red car.").await;
    server.say(&team, "main", "The soup was too salty.").await;
    soon("the change", async {
        loop {
            let answer = recall(&server, &at, json!({"query": "soup"})).await;
            assert_eq!(texts(&answer)[0], "The soup was too salty.");
            let embedder = answer["embedder"].as_str().unwrap();
            if embedder.contains("2 numbers now and had 3 before") {
                return assert!(embedder.starts_with("unavailable: "), "{embedder}");
            }
            moment().await;
        }
    })
    .await;
}

#[tokio::test]
async fn only_the_user_learns_where_models_and_sources_are() {
    let broken = Scripted::start(|_, _| Reply::error(500, "oops"));
    let sources = vec![source(&broken, "wiki")];
    let (server, team, at) = server(RecallSettings { sources, ..with_model(&broken, "small") }).await;
    server.say(&team, "main", "The soup was too salty.").await;
    let question = json!({"query": "soup"});
    let all = recall(&server, &at, question.clone()).await;
    for told in [&all["embedder"], &all["sources"][0]["error"]] {
        assert!(told.as_str().unwrap().contains(&broken.base_url()), "{told}");
    }
    let of_writer = json!({"query": "soup", "agent": "writer"});
    for (at, question) in [(format!("{at}?as=writer"), question), (at, of_writer)] {
        let seen = recall(&server, &at, question).await;
        assert_eq!(texts(&seen), ["The soup was too salty."]);
        assert_eq!(seen["embedder"], "unavailable: the model gave no vectors");
        assert_eq!(
            seen["sources"],
            json!([{"name": "wiki", "error": "it could not be asked, or its answer is not understood"}])
        );
        assert!(!seen.to_string().contains("127.0.0.1"), "{seen}");
    }
}

#[tokio::test]
async fn a_question_of_words_that_say_nothing_has_no_meaning_either() {
    let endpoint = Scripted::start(|request, _| vectors(request));
    let (server, team, at) = server(with_model(&endpoint, "small")).await;
    server.say(&team, "main", "The soup was too salty.").await;
    recall_with_all(&server, &at, "meal", "small").await;
    for question in ["the of", "who was it", "?!"] {
        let answer = recall(&server, &at, json!({"query": question})).await;
        assert!(texts(&answer).is_empty() && answer["note"].is_string(), "{answer}");
        assert!(!endpoint.requests().iter().any(|asked| inputs(asked).contains(&question.to_owned())));
    }
}

#[tokio::test]
async fn vectors_are_kept_until_another_model_comes() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = Scripted::start(|request, _| vectors(request));
    let asked_for =
        |text: &str| endpoint.requests().iter().filter(|it| inputs(it).iter().any(|one| one == text)).count();
    let soup = "User: The soup was too salty.";
    let one = server_in(folder.path(), with_model(&endpoint, "small")).await;
    let team = one.team("s").await;
    one.say(&team, "main", "Ana bought a red car.").await;
    one.say(&team, "main", "The soup was too salty.").await;
    let at = format!("{team}/recall");
    recall_with_all(&one, &at, "automobile", "small").await;
    assert_eq!(asked_for(soup), 1);
    one.stop().await;

    let again = server_in(folder.path(), with_model(&endpoint, "small")).await;
    assert_eq!(texts(&recall_with_all(&again, &at, "meal", "small").await)[0], "The soup was too salty.");
    // Another session that says the same needs no vector either.
    let other = again.team("other").await;
    again.say(&other, "main", "The soup was too salty.").await;
    recall_with_all(&again, &format!("{other}/recall"), "meal", "small").await;
    assert_eq!(asked_for(soup), 1);
    again.stop().await;

    let large = server_in(folder.path(), with_model(&endpoint, "large")).await;
    assert_eq!(texts(&recall_with_all(&large, &at, "meal", "large").await)[0], "The soup was too salty.");
    assert_eq!(asked_for(soup), 2);
    large.stop().await;
}

#[tokio::test]
async fn a_model_is_given_what_it_wants_before_each_text_and_begins_anew_where_that_changes() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = Scripted::start(|request, _| vectors(request));
    let ask = async |passage: &str, create: bool| {
        let prefixes = Prefixes { question: "query: ".to_owned(), passage: passage.to_owned() };
        let server = server_in(folder.path(), with_prefixes(&endpoint, "small", prefixes)).await;
        if create {
            let team = server.team("s").await;
            server.say(&team, "main", "The soup was too salty.").await;
        }
        recall_with_all(&server, "/v1/sessions/s/recall", "meal", "small").await;
        server.stop().await;
        endpoint.requests().iter().flat_map(inputs).collect::<Vec<_>>()
    };
    let asked = ask("passage: ", true).await;
    assert!(asked.contains(&"query: meal".to_owned()), "{asked:?}");
    let of_passages = |asked: &[String]| asked.iter().filter(|text| text.contains("soup")).cloned().collect::<Vec<_>>();
    assert_eq!(of_passages(&asked), ["passage: User: The soup was too salty."]);
    assert_eq!(of_passages(&ask("passage: ", false).await).len(), 1);
    assert_eq!(of_passages(&ask("", false).await)[1..], ["User: The soup was too salty."]);
}

fn passages(texts: &[&str]) -> Reply {
    let passages: Vec<_> = texts.iter().map(|text| json!({"text": text, "title": "Runbook", "score": 0.5})).collect();
    Reply::raw(200, "application/json", json!({ "passages": passages }).to_string())
}

#[tokio::test]
async fn passages_from_elsewhere_come_behind_those_of_the_session() {
    let (wiki, tickets) =
        (Scripted::start(|_, _| passages(&["Rotate on <b>Mondays</b>."])), Scripted::start(|_, _| passages(&[])));
    let sources = vec![source(&wiki, "wiki"), source(&tickets, "tickets")];
    let (server, team, at) = server(RecallSettings { sources, ..fixtures::recall() }).await;
    let seq = server.say(&team, "main", "Keys are rotated by Ana.").await;
    let question = json!({"query": "Who rotates keys?", "limit": 3});
    let answer = recall(&server, &format!("{at}?as=writer"), question.clone()).await;
    assert_eq!(texts(&answer), ["Keys are rotated by Ana.", "Rotate on <b>Mondays</b>."]);
    let foreign = json!({"source": "wiki", "text": "Rotate on <b>Mondays</b>.", "title": "Runbook", "score": 0.5});
    assert_eq!(answer["hits"][1], foreign);
    assert_eq!(answer["sources"], json!([{"name": "wiki"}, {"name": "tickets"}]));
    assert!(answer.get("embedder").is_none());
    assert_eq!((wiki.requests(), wiki.keys()), (vec![question.clone()], vec![Some("sk-source".to_owned())]));

    let silent = Scripted::start(|_, _| Reply::error(500, "oops"));
    let sources = vec![source(&wiki, "wiki"), source(&silent, "tickets")];
    let (other, team, _) = self::server(RecallSettings { sources, ..fixtures::recall() }).await;
    other.say(&team, "main", "Keys are rotated by Ana.").await;
    let call = json!({"agent": "writer", "arguments": {"query": "Who rotates keys?", "limit": 3}});
    let told = recall(&other, &format!("{team}/tools/recall"), call).await;
    let told: Value = serde_json::from_str(told["result"].as_str().unwrap()).unwrap();
    assert_eq!(told["found"][0]["text"], "Keys are rotated by Ana.");
    let foreign = json!({"from": "wiki", "title": "Runbook", "text": "Rotate on <b>Mondays</b>.", "read_on": null});
    assert_eq!((&told["found"][1], &told["failed"][0]["source"]), (&foreign, &json!("tickets")));
    assert_eq!(told["failed"][0]["error"], "it could not be asked, or its answer is not understood");

    // Those that were not asked for are not asked, nor with a thread or an entry.
    let only = |body: Value| {
        let (server, at) = (&server, &at);
        async move { recall(server, at, body).await }
    };
    let own = only(json!({"query": "Who rotates keys?", "sources": ["message"]})).await;
    assert_eq!((texts(&own).len(), own.get("sources")), (1, None));
    let foreign = only(json!({"query": "Who rotates keys?", "sources": ["wiki"]})).await;
    assert_eq!((texts(&foreign), &foreign["sources"]), (vec!["Rotate on <b>Mondays</b>."], &json!([{"name": "wiki"}])));
    assert!(only(json!({"query": "Who rotates keys?", "thread": "main"})).await.get("sources").is_none());
    assert!(only(json!({"query": "Who rotates keys?", "at": seq})).await.get("sources").is_none());
    let body = json!({"query": "Who rotates keys?", "sources": ["wiki", "dreams"]});
    let refused = server.send("POST", &at, body).await.problem(422, "invalid");
    assert_eq!(refused.body["errors"][0]["pointer"], "/sources/1");
    assert_eq!((wiki.requests().len(), tickets.requests().len()), (3, 1));
}

#[tokio::test]
async fn a_source_that_fails_is_named_and_harms_nothing_else() {
    let bad = [
        (Reply::silence(), "took longer than 1 s"),
        (Reply::stall("Well"), "took longer than 1 s"),
        (Reply::endless(r#"{"passages": [{"text": ""#, "more ".repeat(10_000)), "does not end within 1048576 bytes"),
        (Reply::error(500, "oops"), "status 500: oops"),
        (Reply::error(302, "there"), "redirects are not followed"),
        (Reply::garbage("<html>"), "not understood"),
        (Reply::raw(200, "application/json", r#"{"results": []}"#), "missing field `passages`"),
        (Reply::cut_off(""), "broke off"),
    ];
    for (reply, reason) in bad {
        let (wrong, good) =
            (Scripted::start(move |_, _| reply.clone()), Scripted::start(|_, _| passages(&["On Mondays."])));
        // Only one that is silent is given up soon.
        let timeout = if reason.contains("longer than 1 s") { SHORT } else { PATIENCE };
        let sources = vec![source_within(timeout, &wrong, "wrong"), source(&good, "good")];
        let (server, team, at) = server(RecallSettings { sources, ..fixtures::recall() }).await;
        server.say(&team, "main", "Keys are rotated by Ana.").await;
        let answer = recall(&server, &at, json!({"query": "Who rotates keys?"})).await;
        assert_eq!(texts(&answer), ["Keys are rotated by Ana.", "On Mondays."], "{reason}");
        let error = answer["sources"][0]["error"].as_str().unwrap();
        assert!(error.contains(reason) && !error.contains("sk-source"), "{reason}: {error}");
        assert_eq!(answer["sources"][1], json!({"name": "good"}));
    }
}

#[tokio::test]
async fn who_may_not_recall_asks_no_source_and_no_secret_is_asked_for() {
    let wiki = Scripted::start(|_, _| passages(&["On Mondays."]));
    let model = Scripted::start(|request, _| vectors(request));
    let recall_settings = RecallSettings { sources: vec![source(&wiki, "wiki")], ..with_model(&model, "small") };
    let keys = Arc::new(vec![callboard_engine::MasterKey::new([7; 32])]);
    let board = BoardSettings { recall: recall_settings, master_keys: keys, ..fixtures::board() };
    let guarded = callboard_server::Settings { user_tokens: vec!["user-token".to_owned()], ..settings() };
    let server = Server::of(memory().await, guarded, board).await;
    let call = |path: &str, token: &str, body: Value| server.call("POST", path).bearer_auth(token).json(&body).send();
    let agents = json!([{"name": "lead", "role": "manager"}]);
    call("/v1/sessions", "user-token", json!({"id": "s", "agents": agents})).await.unwrap().error_for_status().unwrap();
    let at = "/v1/sessions/s/recall";
    let refused = call(at, "wrong-token", json!({"query": "keys"})).await.unwrap();
    assert_eq!((refused.status().as_u16(), wiki.requests().len()), (401, 0));

    let session = server.board.session(&"s".parse().unwrap()).await.unwrap();
    let password = callboard_core::variable::SetVariable::new(
        "password".parse().unwrap(),
        json!("bergamot-7261"),
        None,
        "x".into(),
    );
    session.execute(callboard_core::entry::Actor::User, password.unwrap()).await.unwrap();
    let answer = call(at, "user-token", json!({"query": "Is bergamot-7261 the word?"})).await.unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    assert_eq!(wiki.requests(), [json!({"query": "Is [hidden] the word?", "limit": 10})]);
    assert!(!format!("{:?}", model.requests()).contains("bergamot"), "{:?}", model.requests());
}
