//! all-MiniLM-L6-v2 in a folder, as `cargo xtask test` brings it.

#![cfg(feature = "minilm")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callboard_model::{Embedder, open_folder};
use serde_json::{Value, json};
use tempfile::TempDir;

fn folder() -> PathBuf {
    let folder = std::env::var_os("CALLBOARD_TEST_EMBEDDER");
    folder.expect("CALLBOARD_TEST_EMBEDDER is not set: run `cargo xtask test`, which brings the model").into()
}

fn model() -> Arc<dyn Embedder> {
    open_folder(&folder()).unwrap()
}

async fn vectors(model: &dyn Embedder, texts: &[&str]) -> Vec<Vec<f32>> {
    let vectors = model.embed(texts).await.unwrap();
    assert_eq!(vectors.len(), texts.len());
    assert!(vectors.iter().all(|vector| vector.len() == 384));
    vectors
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn are_equal(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
}

#[tokio::test]
async fn a_sentence_gets_the_vector_that_the_model_is_known_for() {
    let model = model();
    let vectors = vectors(&*model, &["This is an example sentence"]).await;
    let vector = &vectors[0];
    assert!(are_equal(&vector[..6], &[0.067_657, 0.063_496, 0.048_713, 0.079_305, 0.037_448, 0.002_653]), "{vector:?}");
    assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
    let folder = folder();
    let name = folder.file_name().unwrap().to_str().unwrap();
    assert!(model.model().starts_with(&format!("{name}@")), "{}", model.model());
}

#[tokio::test]
async fn sentences_that_mean_much_the_same_are_near() {
    let model = model();
    for [one, near, far] in [
        ["A car broke down on the motorway.", "An automobile stopped on the highway.", "She bakes bread every Sunday."],
        ["Where does Ana live?", "Ana: I moved to Lisbon.", "The deploy failed last night."],
        ["How do we rotate the keys?", "Credentials are exchanged every Monday.", "The cat sleeps on the sofa."],
    ] {
        let vectors = vectors(&*model, &[one, near, far]).await;
        let (near, far) = (cosine(&vectors[0], &vectors[1]), cosine(&vectors[0], &vectors[2]));
        assert!(near > far + 0.1, "{one}: {near} and {far}");
    }
}

#[tokio::test]
async fn texts_at_once_get_what_each_gets_alone() {
    let model = model();
    // More than the model reads at a time, of all lengths.
    let texts: Vec<String> = (0..20).map(|count| "one word after another ".repeat(count * 7 % 20)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = vectors(&*model, &texts).await;
    for (text, vector) in texts.iter().zip(&together) {
        assert!(are_equal(&vectors(&*model, &[text]).await[0], vector), "{text}");
    }
    let two = vectors(&*model, &["Ana: I moved to Lisbon.", "It rains."]).await;
    assert!(are_equal(&two[1], &vectors(&*model, &["It rains."]).await[0]));
    assert!(vectors(&*model, &[]).await.is_empty());
}

#[tokio::test]
async fn a_text_that_says_nothing_has_zeros_and_takes_no_other_with_it() {
    let model = model();
    let vectors = vectors(&*model, &["", "It rains.", " \n"]).await;
    assert!(vectors[0].iter().chain(&vectors[2]).all(|number| *number == 0.0));
    assert!((cosine(&vectors[1], &vectors[1]) - 1.0).abs() < 1e-5);
    assert!(model.embed(&[""]).await.unwrap()[0].iter().all(|number| *number == 0.0));
}

#[tokio::test]
async fn of_a_long_text_its_first_256_tokens_are_read() {
    let (long, read, other) =
        ("red ".repeat(2000), "red ".repeat(254), format!("{}{}", "red ".repeat(200), "green ".repeat(1800)));
    let vectors = vectors(&*model(), &[&long, &read, &other]).await;
    assert!(are_equal(&vectors[0], &vectors[1]));
    assert!(cosine(&vectors[0], &vectors[2]) < 0.95);
}

/// The folder with a changed `config.json`, without the weights.
fn changed(change: impl Fn(&mut Value)) -> TempDir {
    let (from, to) = (folder(), tempfile::tempdir().unwrap());
    let mut config: Value = serde_json::from_slice(&fs::read(from.join("config.json")).unwrap()).unwrap();
    change(&mut config);
    fs::write(to.path().join("config.json"), config.to_string()).unwrap();
    fs::copy(from.join("tokenizer.json"), to.path().join("tokenizer.json")).unwrap();
    to
}

fn wrong(folder: &Path) -> String {
    open_folder(folder).err().unwrap().to_string()
}

#[test]
fn a_damaged_folder_is_refused_with_the_file_and_the_reason() {
    for (key, value, reason) in [
        ("hidden_act", json!("swish"), "config.json: unknown variant `swish`"),
        ("num_attention_heads", json!(0), "config.json: hidden_size is 384, and cannot be shared by 0"),
        ("max_position_embeddings", json!(2), "config.json: max_position_embeddings is 2, and 16 is the least"),
        ("vocab_size", json!(100), "config.json: vocab_size is 100 for the 30522 tokens of tokenizer.json"),
        ("vocab_size", json!(30522), "model.safetensors: No such file"),
    ] {
        let wrong = wrong(changed(|config| config[key] = value.clone()).path());
        assert!(wrong.contains(reason), "{wrong}");
    }

    let more = changed(|config| config["num_hidden_layers"] = json!(7));
    let weights = more.path().join("model.safetensors");
    fs::copy(folder().join("model.safetensors"), &weights).unwrap();
    let missing = wrong(more.path());
    assert!(missing.contains("model.safetensors: ") && missing.contains("encoder.layer.6."), "{missing}");
    fs::write(&weights, "noise").unwrap();
    assert!(wrong(more.path()).contains("model.safetensors: "));

    fs::write(more.path().join("tokenizer.json"), "{}").unwrap();
    assert!(wrong(more.path()).contains("tokenizer.json: "));
}
