//! Sources of passages, good and bad.

use std::time::Duration;

use callboard_model::scripted::{Reply, Scripted};
use callboard_model::{ApiKey, HttpSource, ModelError, Passage, SourceSettings};
use serde_json::{Value, json};

use crate::soon;

fn settings(endpoint: &Scripted) -> SourceSettings {
    SourceSettings {
        name: "wiki".to_owned(),
        url: format!("{}/passages", endpoint.base_url()),
        timeout: Duration::from_secs(20),
        max_bytes: 1 << 20,
        headers: Vec::new(),
        proxy: None,
    }
}

fn answer(answer: &Value) -> Reply {
    Reply::raw(200, "application/json", answer.to_string())
}

async fn always(reply: Reply) -> Result<Vec<Passage>, ModelError> {
    let endpoint = Scripted::start(move |_, _| reply.clone());
    let found = HttpSource::new(&settings(&endpoint)).unwrap().passages("What?", 2).await;
    assert_eq!(endpoint.requests(), [json!({"query": "What?", "limit": 2})]);
    found
}

#[tokio::test]
async fn a_source_gives_its_passages_and_no_more_than_were_asked_for() {
    let all = json!({"passages": [
        {"text": "One.", "score": 0.5, "title": "Numbers", "url": "https://example.org/1"},
        {"text": "Two.", "score": null, "more": 1},
        {"text": "Three."},
    ]});
    let found = always(answer(&all)).await.unwrap();
    let first = Passage {
        text: "One.".to_owned(),
        score: Some(0.5),
        title: Some("Numbers".to_owned()),
        url: Some("https://example.org/1".to_owned()),
    };
    let second = Passage { text: "Two.".to_owned(), score: None, title: None, url: None };
    assert_eq!(found, [first, second]);
    assert_eq!(always(answer(&json!({"passages": []}))).await, Ok(Vec::new()));
}

#[tokio::test]
async fn what_are_no_passages_is_refused_with_the_reason() {
    let cases = [
        (Reply::garbage("<html>hello</html>"), "`<html>hello</html>`"),
        (Reply::raw(200, "application/json", ""), "EOF"),
        (answer(&json!([])), "passages"),
        (answer(&json!({"results": []})), "missing field `passages`"),
        (answer(&json!({"passages": ["One."]})), "invalid type: string"),
        (answer(&json!({"passages": [{"title": "x"}]})), "missing field `text`"),
        (answer(&json!({"passages": [{"text": "One."}, {"text": " \n"}]})), "passage 1 has no text"),
        (answer(&json!({"passages": [{"text": "One.", "score": 1e300}]})), "number out of range"),
        (answer(&json!({"passages": [{"text": "One.", "score": "high"}]})), "invalid type: string"),
        (Reply::endless(r#"{"passages": [{"text": "One"#, " more".repeat(1000)), "does not end within 1048576 bytes"),
        (Reply::error(500, "oops"), "status 500: oops"),
        (Reply::error(429, "slow down").retry_after(0), "status 429: slow down"),
        (Reply::error(307, "there"), "redirects are not followed"),
        (Reply::cut_off(""), "broke off"),
    ];
    for (reply, reason) in cases {
        let error = always(reply).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

#[tokio::test]
async fn silence_and_a_stall_end_in_time() {
    for reply in [Reply::silence(), Reply::stall("Well")] {
        let endpoint = Scripted::start(move |_, _| reply.clone());
        let settings = SourceSettings { timeout: Duration::from_secs(2), ..settings(&endpoint) };
        let source = HttpSource::new(&settings).unwrap();
        let error = soon("the end of its patience", source.passages("What?", 2)).await.unwrap_err();
        assert_eq!(error.code(), "model_timed_out", "{error}");
    }
}

#[tokio::test]
async fn its_headers_are_sent_and_are_in_no_error() {
    let endpoint = Scripted::start(|_, _| Reply::error(401, "I do not know Bearer sk-secret"));
    let key = ApiKey::new("Bearer sk-secret").unwrap();
    let mut settings = settings(&endpoint);
    settings.headers = vec![("Authorization".to_owned(), key.clone())];
    let error = HttpSource::new(&settings).unwrap().passages("What?", 2).await.unwrap_err();
    assert_eq!(endpoint.keys(), [Some("Bearer sk-secret".to_owned())]);
    let shown = format!("{error} {error:?} {settings:?}");
    assert!(shown.contains("I do not know [hidden]") && !shown.contains("secret"), "{shown}");

    for name in ["two words", "content-type", ""] {
        settings.headers = vec![(name.to_owned(), key.clone())];
        let wrong = HttpSource::new(&settings).err().unwrap().to_string();
        assert!(wrong.contains(&format!("`{name}` cannot be a header")), "{wrong}");
    }
}
