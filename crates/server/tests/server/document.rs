//! The OpenAPI document.

use crate::fixtures::Server;

#[tokio::test]
async fn the_document_is_as_it_was() {
    let server = Server::start().await;
    let document = server.get("/openapi.json").await.is(200).body;
    insta::assert_snapshot!(format!("{document:#}"));
}

#[test]
fn every_call_has_a_right_to_it_and_says_who_may() {
    let document = callboard_server::openapi();
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 94, "{:?}", paths.keys().collect::<Vec<_>>());
    for (path, calls) in paths {
        for (method, call) in calls.as_object().unwrap() {
            assert!(call["operationId"].is_string() && call["tags"][0].is_string(), "{method} {path}");
        }
    }
}

#[test]
fn every_schema_that_is_named_is_there() {
    fn check(value: &serde_json::Value, document: &serde_json::Value) {
        if let Some(named) = value["$ref"].as_str() {
            assert!(document.pointer(named.trim_start_matches('#')).is_some(), "{named}");
        }
        let items = value.as_array().into_iter().flatten();
        let fields = value.as_object().into_iter().flat_map(serde_json::Map::values);
        items.chain(fields).for_each(|inner| check(inner, document));
    }
    let document = callboard_server::openapi();
    check(&document, &document);
}

#[test]
fn every_call_and_each_of_its_parameters_is_described() {
    let document = callboard_server::openapi();
    for (path, calls) in document["paths"].as_object().unwrap() {
        for (method, call) in calls.as_object().unwrap() {
            let summary = call["summary"].as_str().unwrap();
            assert!(!summary.contains(". ") && !summary.ends_with('.'), "one sentence: {method} {path}: {summary}");
            for parameter in call["parameters"].as_array().into_iter().flatten() {
                let described = parameter["description"].as_str().unwrap_or_default();
                assert!(described.split(' ').count() > 2, "{method} {path}: {parameter}");
            }
        }
    }
}
