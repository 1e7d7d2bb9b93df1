use safetensors::serialize;
use serde_json::json;
use tempfile::TempDir;

use super::*;

const WORDS: [&str; 4] = ["[UNK]", "red", "blue", "soup"];
const ROWS: [[f32; 2]; 4] = [[9.0, 9.0], [1.0, 0.0], [1.0, 0.5], [0.0, -2.0]];

/// A folder with a model of four tokens; `change` changes the tokenizer, and `tables` are the tables.
fn folder(change: impl Fn(&mut Value), tables: &[(&str, Dtype, Vec<usize>, Vec<u8>)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary: serde_json::Map<_, _> =
        WORDS.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), json!(id))).collect();
    let mut tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": null,
        "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    });
    change(&mut tokenizer);
    fs::write(folder.path().join(TOKENIZER), tokenizer.to_string()).unwrap();
    let views =
        tables.iter().map(|(name, dtype, shape, data)| (*name, TensorView::new(*dtype, shape.clone(), data).unwrap()));
    fs::write(folder.path().join(WEIGHTS), serialize(views, None).unwrap()).unwrap();
    folder
}

fn f32s() -> (&'static str, Dtype, Vec<usize>, Vec<u8>) {
    ("embeddings", Dtype::F32, vec![4, 2], ROWS.iter().flatten().flat_map(|number| number.to_le_bytes()).collect())
}

fn wrong(change: impl Fn(&mut Value), tables: &[(&str, Dtype, Vec<usize>, Vec<u8>)]) -> String {
    TokenTable::open(folder(change, tables).path()).err().unwrap().to_string()
}

#[tokio::test]
async fn a_text_gets_the_mean_of_the_vectors_of_its_tokens() {
    let f16s = ROWS.iter().flatten().flat_map(|number| f16::from_f32(*number).to_le_bytes()).collect();
    for table in [f32s(), ("embedding.weight", Dtype::F16, vec![4, 2], f16s)] {
        let folder = folder(|_| (), &[table]);
        let model = TokenTable::open(folder.path()).unwrap();
        let vectors = model.embed(&["Red", "soup, unheard of", "red soup"]).await.unwrap();
        let diagonal = 1.0 / 5.0_f32.sqrt();
        assert_eq!(vectors, [vec![1.0, 0.0], vec![0.0, -1.0], vec![diagonal, -2.0 * diagonal]]);
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        assert!(model.model().starts_with(&format!("{name}@")), "{}", model.model());
        // A text of which it knows nothing has none, and takes no other with it.
        assert_eq!(model.embed(&["red", "unheard of"]).await.unwrap(), [[1.0, 0.0], [0.0, 0.0]]);
    }
}

#[test]
fn another_table_has_another_name() {
    let (here, mut other) = (folder(|_| (), &[f32s()]), f32s());
    let name =
        |folder: &TempDir| TokenTable::open(folder.path()).unwrap().model().rsplit_once('@').unwrap().1.to_owned();
    other.3[0] ^= 1;
    assert_eq!(name(&here), name(&folder(|_| (), &[f32s()])));
    assert_ne!(name(&here), name(&folder(|_| (), &[other])));
}

#[test]
fn a_folder_without_a_model_is_refused_with_the_reason() {
    let empty = tempfile::tempdir().unwrap();
    let none = TokenTable::open(empty.path()).err().unwrap().to_string();
    assert!(none.contains("tokenizer.json: No such file"), "{none}");

    let tokenizer = wrong(|tokenizer| *tokenizer = json!({"model": 5}), &[f32s()]);
    assert!(tokenizer.contains("tokenizer.json: "), "{tokenizer}");
    let more = |tokenizer: &mut Value| tokenizer["model"]["vocab"]["green"] = json!(4);
    assert!(wrong(more, &[f32s()]).contains("4 rows for the 5 tokens"));

    let (name, _, shape, data) = f32s();
    let two = wrong(|_| (), &[f32s(), ("weights", Dtype::F32, shape.clone(), data.clone())]);
    assert!(two.contains("has 2 tables (") && two.contains("only a model of one table"), "{two}");
    assert!(wrong(|_| (), &[(name, Dtype::F32, vec![8], data.clone())]).contains("has the shape [8]"));
    assert!(wrong(|_| (), &[(name, Dtype::I32, shape.clone(), data.clone())]).contains("type I32; use F32"));
    let mut infinite = data;
    infinite[12..16].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert!(
        wrong(|_| (), &[(name, Dtype::F32, shape, infinite)])
            .contains("row 1 of embeddings has a number that is not finite")
    );

    let damaged = folder(|_| (), &[f32s()]);
    fs::write(damaged.path().join(WEIGHTS), b"noise").unwrap();
    let damaged = TokenTable::open(damaged.path()).err().unwrap().to_string();
    assert!(damaged.contains("model.safetensors: "), "{damaged}");
}
