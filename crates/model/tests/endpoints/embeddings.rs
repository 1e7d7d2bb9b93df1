//! Endpoints for embeddings, good and bad.

use std::time::Duration;

use callboard_model::scripted::{Reply, Scripted};
use callboard_model::{ApiKey, Embedder, Embeddings, EmbeddingsSettings, ModelError, Retries, Timeouts};
use serde_json::{Value, json};

use crate::soon;

fn settings(endpoint: &Scripted) -> EmbeddingsSettings {
    EmbeddingsSettings {
        base_url: endpoint.base_url(),
        model: "small".to_owned(),
        key: None,
        proxy: None,
        timeouts: Timeouts { idle: Duration::from_secs(20), ..Timeouts::default() },
        retries: Retries { first_wait: Duration::ZERO, ..Retries::default() },
    }
}

fn inputs(request: &Value) -> Vec<&str> {
    request["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// A vector that tells its text by its direction.
fn vector(text: &str) -> Vec<f32> {
    vec![text.len() as f32, 1.0]
}

/// The vectors of the texts of `request`.
fn vectors(request: &Value) -> Reply {
    let vectors: Vec<_> = inputs(request).into_iter().map(vector).collect();
    Reply::vectors(vectors.iter().map(Vec::as_slice))
}

fn answer(data: Value) -> Reply {
    Reply::raw(200, "application/json", json!({"data": data}).to_string())
}

/// What comes of two texts when an endpoint always gives this reply, and how often it was asked.
async fn always(reply: Reply) -> (Result<Vec<Vec<f32>>, ModelError>, usize) {
    let endpoint = Scripted::start(move |_, _| reply.clone());
    let embeddings = Embeddings::new(&settings(&endpoint)).unwrap();
    (embeddings.embed(&["one", "two"]).await, endpoint.requests().len())
}

#[tokio::test]
async fn many_texts_get_their_vectors_in_order_in_bounded_requests() {
    let endpoint = Scripted::start(|request, _| vectors(request));
    let mut settings = settings(&endpoint);
    settings.key = ApiKey::new("sk-secret");
    let embeddings = Embeddings::new(&settings).unwrap();
    let texts: Vec<_> = (0..150).map(|number| "x".repeat(number + 1)).collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let given = embeddings.embed(&texts).await.unwrap();
    assert_eq!((given.len(), embeddings.model()), (150, "small"));
    for (text, given) in texts.iter().zip(&given) {
        let [x, y] = given[..] else { panic!("{given:?}") };
        assert!((x / y - text.len() as f32).abs() < 0.01 && (x * x + y * y - 1.0).abs() < 1e-5, "{given:?}");
    }
    let requests = endpoint.requests();
    assert_eq!(requests.iter().map(|request| inputs(request).len()).collect::<Vec<_>>(), [64, 64, 22]);
    assert_eq!((&requests[0]["model"], endpoint.keys()[0].as_deref()), (&json!("small"), Some("Bearer sk-secret")));
    assert_eq!(embeddings.embed(&[]).await, Ok(Vec::new()));
}

#[tokio::test]
async fn the_index_of_a_vector_says_whose_it_is() {
    let data = json!([{"index": 1, "embedding": [0, 3]}, {"index": 0, "embedding": [3, 0]}]);
    assert_eq!(always(answer(data)).await.0, Ok(vec![vec![1.0, 0.0], vec![0.0, 1.0]]));
}

#[tokio::test]
async fn what_are_no_vectors_of_the_texts_is_refused_with_the_reason() {
    let of = |first: Value, second: Value| answer(json!([{"embedding": first}, {"embedding": second}]));
    let at = |first: u64, second: u64| {
        answer(json!([{"index": first, "embedding": [1]}, {"index": second, "embedding": [1]}]))
    };
    let raw = |numbers: &str| {
        let body = format!(r#"{{"data": [{{"embedding": [{numbers}]}}, {{"embedding": [1, 2]}}]}}"#);
        Reply::raw(200, "application/json", body)
    };
    let cases = [
        (of(json!([1, 2]), json!([1, 2, 3])), "vector 1 has another dimension than 2"),
        (of(json!([1, 2]), json!([])), "vector 1 has no numbers"),
        (of(json!([]), json!([1, 2])), "vector 0 has no numbers"),
        (of(json!([1e300, 2]), json!([1, 2])), "number out of range"),
        (of(json!([1, null]), json!([1, 2])), "invalid type: null"),
        (raw("NaN, 1"), "expected value"),
        (raw("Infinity, 1"), "expected value"),
        (raw("1e999, 1"), "number out of range"),
        (of(json!("base64"), json!([1, 2])), "invalid type: string"),
        (answer(json!([{"embedding": [1]}])), "2 vectors were asked for and 1 came"),
        (at(0, 0), "two vectors have the index 0"),
        (at(0, 2), "no text has the index 2"),
        (Reply::raw(200, "application/json", "{}"), "missing field `data`"),
        (Reply::garbage("<html>hello</html>"), "`<html>hello</html>`"),
    ];
    for (reply, reason) in cases {
        let (given, asked) = always(reply).await;
        let error = given.unwrap_err();
        assert_eq!((error.code(), asked), ("model_not_understood", 1), "{error}");
        assert!(error.to_string().contains(reason), "{reason}: {error}");
    }
}

#[tokio::test]
async fn another_dimension_than_before_is_refused() {
    let endpoint = Scripted::start(|_, nth| Reply::vectors([&[1.0, 2.0, 3.0][nth..]]));
    let embeddings = Embeddings::new(&settings(&endpoint)).unwrap();
    embeddings.embed(&["one"]).await.unwrap();
    let error = embeddings.embed(&["one"]).await.unwrap_err().to_string();
    assert!(error.contains("have 2 numbers now and had 3 before"), "{error}");
}

#[tokio::test]
async fn a_busy_endpoint_is_asked_again_and_a_broken_one_given_up() {
    let endpoint = Scripted::start(|request, nth| match nth {
        0 => Reply::error(429, "slow down").retry_after(0),
        1 => Reply::error(500, "oops"),
        _ => vectors(request),
    });
    let embeddings = Embeddings::new(&settings(&endpoint)).unwrap();
    assert_eq!(embeddings.embed(&["one"]).await.unwrap().len(), 1);
    assert_eq!(endpoint.requests().len(), 3);

    let (given, asked) = always(Reply::error(500, "oops")).await;
    let error = given.unwrap_err().to_string();
    assert!(asked == 4 && error.contains("status 500: oops") && error.contains("try again later"), "{asked} {error}");
    let (given, asked) = always(Reply::error(302, "there")).await;
    let error = given.unwrap_err().to_string();
    assert!(asked == 1 && error.contains("redirects are not followed"), "{asked} {error}");
}

#[tokio::test]
async fn silence_ends_in_time() {
    let endpoint = Scripted::start(|_, _| Reply::silence());
    let mut settings = settings(&endpoint);
    settings.timeouts.whole = Duration::from_secs(2);
    let error = Embeddings::new(&settings).unwrap().embed(&["one"]).await.unwrap_err();
    assert_eq!((error.code(), endpoint.requests().len()), ("model_timed_out", 1), "{error}");
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let answer = always(Reply::endless(r#"{"data": [{"embedding": [0"#, ", 0".repeat(10_000)));
    let (given, asked) = soon("the end of reading", answer).await;
    let error = given.unwrap_err();
    assert_eq!((error.code(), asked), ("model_not_understood", 1));
    assert!(error.to_string().contains("does not end within 16777216 bytes"), "{error}");
}

#[tokio::test]
async fn wrong_settings_are_told_before_anything_is_asked() {
    let endpoint = Scripted::start(|_, _| Reply::silence());
    let good = settings(&endpoint);
    let wrong = |settings: EmbeddingsSettings| Embeddings::new(&settings).err().unwrap().to_string();
    let url = wrong(EmbeddingsSettings { base_url: "localhost:80".to_owned(), ..good.clone() });
    assert!(url.contains("http://"), "{url}");
    let model = wrong(EmbeddingsSettings { model: " ".to_owned(), ..good });
    assert!(model.contains("name of the model is empty"), "{model}");
}
