use callboard_core::{audience::Audience, recall::RecallRole, time::Timestamp};

use super::*;
use crate::{
    score::{Hit, IndexQuery, Scope, search},
    texts::{Class, Item, Kind},
};

fn index(texts: &[&str]) -> Index {
    let mut index = Index::default();
    for (text, seq) in texts.iter().zip(1..) {
        let subject = if text.starts_with("hidden") { "thread:hidden" } else { "thread:main" };
        index.add(&Item {
            seq: Seq(seq),
            kind: Kind::Message,
            class: Class { source: "message".into(), subject: subject.into(), audience: Audience::All },
            speaker: None,
            role: Role::User,
            // A day between two messages, so that they lend each other nothing.
            time: Timestamp::from_millis(i64::try_from(seq).unwrap() * 86_400_000).unwrap(),
            text,
            has_headings: false,
        });
    }
    index
}

fn vectors(all: &[Option<[f32; 2]>]) -> Vec<Option<Vector>> {
    all.iter().map(|numbers| Vector::new(&(*numbers)?)).collect()
}

fn ask(index: &Index, text: &str, vector: Option<[f32; 2]>) -> Vec<Hit> {
    let from = |class: &Class| (&*class.subject == "thread:main").then_some(Seq(1));
    let vector = vector.and_then(|numbers| Vector::new(&numbers));
    let query = IndexQuery {
        text,
        vector: vector.as_ref(),
        limit: 10,
        prefer: Some(RecallRole::Any),
        wants: &|_| true,
        skips: &|_, _| false,
    };
    search(&[Scope { index, from: &from, at: None }], &query)
}

fn seqs(hits: &[Hit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.seq.0).collect()
}

#[test]
fn a_passage_without_a_word_of_the_question_is_found_by_what_it_means() {
    let mut index = index(&["I bought a car", "The soup was salty", "hidden automobile of the boss"]);
    assert_eq!(seqs(&ask(&index, "automobile", Some([1.0, 0.0]))), [0_u64; 0]);
    let wanted = index.without_vectors(10);
    assert_eq!(
        wanted.iter().map(|it| (it.seq.0, it.bytes.clone())).collect::<Vec<_>>(),
        [(1, 0..14), (2, 0..18), (3, 0..29)]
    );
    assert_eq!(wanted[0].speaker.as_deref(), Some("User"));
    let given = index.add_vectors(&wanted, &vectors(&[Some([1.0, 0.1]), Some([-0.2, 1.0]), Some([1.0, 0.0])]));
    assert_eq!(given, [Some(Seq(1)), Some(Seq(2)), Some(Seq(3))]);
    assert_eq!((index.without_vectors(10), index.vectors()), (Vec::new(), 3));

    let hits = ask(&index, "automobile", Some([1.0, 0.0]));
    assert_eq!(seqs(&hits), [1]);
    let why = &hits[0].why;
    assert!(why.terms.is_empty() && (why.meaning - 2.0 * 3.5 * 0.4_f32.sqrt() * 0.995).abs() < 0.05, "{why:?}");
    assert_eq!(ask(&index, "automobile", None), []);
    // A model of another dimension says nothing of them.
    let other = Vector::new(&[1.0, 0.0, 0.0]).unwrap();
    assert_eq!(index.vectors.cos(0, &other), 0.0);
}

#[test]
fn a_question_without_a_term_has_no_meaning_either() {
    let mut index = index(&["I bought a car", "The soup was salty"]);
    let wanted = index.without_vectors(10);
    index.add_vectors(&wanted, &vectors(&[Some([1.0, 0.1]), Some([0.2, 1.0])]));
    for question in ["the of", "who was it", "?!"] {
        assert_eq!(ask(&index, question, Some([1.0, 0.0])), [], "{question}");
    }
}

#[test]
fn that_passages_lack_vectors_is_told_of_those_alone_that_are_seen() {
    let mut index = index(&["I bought a car", "hidden automobile of the boss", "The soup was salty"]);
    let seen =
        |index: &Index, at| index.has_vectors_for(&|class| (&*class.subject == "thread:main").then_some(Seq(1)), at);
    let all = |index: &Index| index.has_vectors_for(&|_| Some(Seq(1)), None);
    let fill = |index: &mut Index| {
        let wanted = index.without_vectors(1);
        index.add_vectors(&wanted, &[None]);
    };
    assert!(!seen(&index, None));
    fill(&mut index);
    assert!(!seen(&index, None) && seen(&index, Some(Seq(2))));
    index.erase(Seq(3));
    assert!(seen(&index, None) && !all(&index));
    fill(&mut index);
    fill(&mut index);
    assert!(seen(&index, None) && all(&index));
}

#[test]
fn terms_and_meaning_add_up() {
    let mut index = index(&["soup with salt", "soup with salt", "a car with salt"]);
    let wanted = index.without_vectors(10);
    index.add_vectors(&wanted, &vectors(&[Some([0.0, 1.0]), Some([1.0, 0.0]), None]));
    assert_eq!(seqs(&ask(&index, "salt", None)), [1, 2, 3]);
    let hits = ask(&index, "salt", Some([1.0, 0.0]));
    assert_eq!((hits[0].seq, hits[0].why.terms.as_slice()), (Seq(2), ["salt".to_owned()].as_slice()));
}

#[test]
fn neighbours_lend_their_vectors_too() {
    let mut index = Index::default();
    for (text, seq) in ["Which car was it?", "The red one", "Lunch is at noon"].iter().zip(1..) {
        let class = Class { source: "message".into(), subject: "thread:main".into(), audience: Audience::All };
        let time = Timestamp::from_millis(seq * 1000).unwrap();
        let (seq, role) = (Seq(seq.unsigned_abs()), Role::User);
        index.add(&Item { seq, kind: Kind::Message, class, speaker: None, role, time, text, has_headings: false });
    }
    let wanted = index.without_vectors(10);
    index.add_vectors(&wanted, &vectors(&[Some([1.0, 0.0]), Some([0.0, 1.0]), Some([0.0, -1.0])]));
    let hits = ask(&index, "automobile", Some([1.0, 0.0]));
    let meaning = |seq: u64| hits.iter().find(|hit| hit.seq == Seq(seq)).map_or(0.0, |hit| hit.why.meaning);
    assert!(meaning(1) > meaning(2) && meaning(2) > meaning(3) && meaning(2) > 1.0, "{hits:?}");
}

#[test]
fn what_is_erased_leaves_no_vector_and_gets_none() {
    let mut index = index(&["I bought a car", "Her car is red", "The soup was salty"]);
    let wanted = index.without_vectors(2);
    index.add_vectors(&wanted, &vectors(&[Some([1.0, 0.0]), Some([1.0, 0.0])]));
    let third = index.without_vectors(2);
    index.erase(Seq(1));
    index.erase(Seq(3));
    assert_eq!(index.add_vectors(&third, &vectors(&[Some([1.0, 0.0])])), [None]);
    let question = Vector::new(&[1.0, 0.0]).unwrap();
    assert_eq!((0..3).map(|passage| index.vectors.cos(passage, &question)).collect::<Vec<_>>(), [0.0, 1.0, 0.0]);
    assert_eq!(seqs(&ask(&index, "automobile", Some([1.0, 0.0]))), [2]);
}

#[test]
fn vectors_for_another_index_are_not_taken() {
    let wanted = index(&["I bought a car", "The soup was salty"]).without_vectors(2);
    let mut anew = index(&["I bought a car"]);
    assert_eq!(anew.add_vectors(&wanted, &vectors(&[Some([1.0, 0.0]), Some([1.0, 0.0])])), []);
    assert_eq!(anew.vectors(), 0);
}
