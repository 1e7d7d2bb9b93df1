//! Measures how well recall finds what answers questions, on a data set of one's own.
//!
//! The file has a line of JSON for each conversation:
//!
//! ```json
//! {"messages": [{"id": "m1", "text": "Ann: I moved to Oslo.", "time": "2026-03-01T09:00:00Z", "role": "user"}],
//!  "documents": [{"id": "guide", "text": "# Guide …", "time": "2026-03-01T09:00:00Z"}],
//!  "questions": [{"text": "Where does Ann live?", "evidence": ["m1"], "category": "place"}]}
//! ```
//!
//! `time`, `role` (`user`, `assistant` or `other`), `documents` and `category` may be left out. The evidence of a question
//! is the ids of the messages and documents that answer it. The recall at k is the share of the evidence that is among the
//! first k hits, averaged over the questions.
//!
//! With `--embedder URL MODEL`, passages and questions also get vectors from an endpoint with OpenAI's `/v1/embeddings`, such
//! as `http://127.0.0.1:8080/v1`. `EMBEDDINGS_KEY` in the environment is its key, if it wants one. With `--folder FOLDER` they
//! get those of the model in a folder, which `callboard-model` reads with its feature `minilm`. `--misses` shows what is not
//! found.

#![allow(clippy::print_stdout, reason = "it talks to whoever runs it")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use callboard_core::{audience::Audience, id::Seq, time::Timestamp};
use callboard_model::{ApiKey, Embedder, Embeddings, EmbeddingsSettings, Retries, Timeouts, open_folder};
use callboard_recall::{Class, Index, IndexQuery, Item, Kind, Role, Scope, Vector, search};
use serde::Deserialize;

/// At which numbers of hits it is measured.
const AT: [usize; 4] = [5, 10, 20, 50];

#[derive(Deserialize)]
struct Conversation {
    #[serde(default)]
    messages: Vec<Text>,
    #[serde(default)]
    documents: Vec<Text>,
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Text {
    id: String,
    text: String,
    time: Option<Timestamp>,
    role: Option<Role>,
}

#[derive(Deserialize)]
struct Question {
    text: String,
    evidence: BTreeSet<String>,
    #[serde(default)]
    category: String,
}

/// The sums of the recall at each number of hits, and of how many questions.
#[derive(Clone, Copy, Default)]
struct Recall {
    questions: usize,
    sums: [f64; AT.len()],
}

type Failure = Box<dyn std::error::Error>;

/// What is asked for on the command line.
#[derive(Default)]
struct Options {
    path: String,
    shows_misses: bool,
    model: Option<Arc<dyn Embedder>>,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--misses" => options.shows_misses = true,
                "--embedder" => {
                    let (url, model) = arguments.next().zip(arguments.next()).ok_or("give a URL and a model")?;
                    options.model = Some(endpoint(url, model)?);
                }
                "--folder" => {
                    let folder = arguments.next().ok_or("give the folder of a model")?;
                    options.model = Some(open_folder(Path::new(&folder))?);
                }
                path if options.path.is_empty() && !path.starts_with("--") => path.clone_into(&mut options.path),
                other => {
                    let usage = "FILE [--misses] [--embedder URL MODEL | --folder FOLDER]";
                    return Err(format!("`{other}` is not understood; use {usage}").into());
                }
            }
        }
        if options.path.is_empty() {
            return Err("name the file to measure; the source of this program says what is in it".into());
        }
        Ok(options)
    }
}

/// A model of vectors behind an endpoint.
fn endpoint(base_url: String, model: String) -> Result<Arc<dyn Embedder>, Failure> {
    let key = std::env::var("EMBEDDINGS_KEY").ok().and_then(|key| ApiKey::new(&key));
    let (proxy, timeouts, retries) = (None, Timeouts::default(), Retries::default());
    Ok(Arc::new(Embeddings::new(&EmbeddingsSettings { base_url, model, key, proxy, timeouts, retries })?))
}

/// A model of vectors, and what asks it.
struct Meanings {
    model: Arc<dyn Embedder>,
    runtime: tokio::runtime::Runtime,
}

impl Meanings {
    fn new(model: Arc<dyn Embedder>) -> Result<Self, Failure> {
        Ok(Self { model, runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()? })
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<Option<Vector>>, Failure> {
        let vectors = self.runtime.block_on(self.model.embed(texts))?;
        Ok(vectors.iter().map(|numbers| Vector::new(numbers)).collect())
    }

    /// Gives all passages of a conversation their vectors, as a server does.
    fn fill(&self, index: &mut Index, conversation: &Conversation) -> Result<(), Failure> {
        loop {
            let wanted = index.without_vectors(64);
            if wanted.is_empty() {
                return Ok(());
            }
            let texts = wanted.iter().map(|wanted| {
                let all = conversation.messages.iter().chain(&conversation.documents);
                let text = usize::try_from(wanted.seq.0 - 1).ok().and_then(|at| all.clone().nth(at));
                let passage = text.and_then(|text| text.text.get(wanted.bytes.clone())).unwrap_or_default();
                wanted.speaker.as_ref().map_or(passage.to_owned(), |speaker| format!("{speaker}: {passage}"))
            });
            let texts: Vec<String> = texts.collect();
            let vectors = self.vectors(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
            index.add_vectors(&wanted, &vectors);
        }
    }
}

fn main() -> Result<(), Failure> {
    let Options { path, shows_misses, model } = Options::read(std::env::args().skip(1))?;
    let embedder = model.map(Meanings::new).transpose()?;
    let (mut all, mut by_category) = (Recall::default(), BTreeMap::<String, Recall>::new());
    let (mut indexing, mut embedding, mut texts, mut times) = (Duration::ZERO, Duration::ZERO, 0, Vec::new());
    for line in std::fs::read_to_string(path)?.lines().filter(|line| !line.trim().is_empty()) {
        let conversation: Conversation = serde_json::from_str(line)?;
        let start = Instant::now();
        let (mut index, ids) = index(&conversation);
        indexing += start.elapsed();
        texts += ids.len();
        let mut meanings = vec![None; conversation.questions.len()];
        if let Some(embedder) = &embedder {
            let start = Instant::now();
            embedder.fill(&mut index, &conversation)?;
            meanings = embedder.vectors(&conversation.questions.iter().map(|one| &*one.text).collect::<Vec<_>>())?;
            embedding += start.elapsed();
        }
        for (question, vector) in conversation.questions.iter().zip(&meanings) {
            let start = Instant::now();
            let hits = hits(&index, &ids, &question.text, vector.as_ref());
            times.push(start.elapsed());
            all.add(&hits, &question.evidence);
            by_category.entry(question.category.clone()).or_default().add(&hits, &question.evidence);
            if shows_misses {
                show_misses(&conversation, question, &hits);
            }
        }
    }
    println!("{:>20} {:>9} {}", "", "questions", AT.map(|at| format!("{:>6}", format!("@{at}"))).join(" "));
    for (category, recall) in by_category.iter().filter(|(category, _)| !category.is_empty()) {
        recall.print(category);
    }
    all.print("all");
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!(
        "{texts} texts indexed in {indexing:.1?}; a question: half within {:.0?}, 99 % within {:.0?}",
        at(50),
        at(99)
    );
    if embedder.is_some() {
        println!("all vectors in {embedding:.1?}");
    }
    Ok(())
}

/// The index of a conversation, and the ids of its texts by the numbers of their entries.
fn index(conversation: &Conversation) -> (Index, Vec<String>) {
    let (mut index, mut ids) = (Index::default(), Vec::new());
    let messages = conversation.messages.iter().map(|text| (Kind::Message, text));
    for (kind, text) in messages.chain(conversation.documents.iter().map(|text| (Kind::Text, text))) {
        ids.push(text.id.clone());
        let subject = if kind == Kind::Message { "thread:main".to_owned() } else { format!("document:{}", text.id) };
        index.add(&Item {
            seq: Seq(ids.len() as u64),
            kind,
            class: Class { source: "measured".into(), subject: subject.into(), audience: Audience::All },
            speaker: None,
            role: text.role.unwrap_or(Role::Other),
            time: text.time.unwrap_or(Timestamp::nearest(0)),
            text: &text.text,
            has_headings: kind == Kind::Text,
        });
    }
    (index, ids)
}

/// The ids of the texts that are found, the best first.
fn hits<'a>(index: &Index, ids: &'a [String], question: &str, vector: Option<&Vector>) -> Vec<&'a str> {
    let scope = Scope { index, from: &|_| Some(Seq::ZERO), at: None };
    let query = IndexQuery { text: question, vector, limit: 50, prefer: None, wants: &|_| true, skips: &|_, _| false };
    let hits = search(&[scope], &query);
    let place = |seq: Seq| usize::try_from(seq.0).ok()?.checked_sub(1);
    hits.iter().filter_map(|hit| ids.get(place(hit.seq)?)).map(String::as_str).collect()
}

fn show_misses(conversation: &Conversation, question: &Question, hits: &[&str]) {
    let text = |id: &str| conversation.messages.iter().find(|text| text.id == id).map_or("", |text| &*text.text);
    let missed = question.evidence.iter().filter(|id| !hits.iter().take(10).any(|hit| hit == id));
    for id in missed {
        let place =
            hits.iter().position(|hit| hit == id).map_or("beyond 50".to_owned(), |place| (place + 1).to_string());
        println!("? {}\n  {place}: {}", question.text, text(id));
        println!("  1: {}", hits.first().map_or("", |id| text(id)));
    }
}

impl Recall {
    fn add(&mut self, hits: &[&str], evidence: &BTreeSet<String>) {
        self.questions += 1;
        for (sum, at) in self.sums.iter_mut().zip(AT) {
            let found = evidence.iter().filter(|id| hits.iter().take(at).any(|hit| hit == id)).count();
            *sum += found as f64 / evidence.len().max(1) as f64;
        }
    }

    fn print(&self, name: &str) {
        let percent = |sum: f64| format!("{:>6.1}", 100.0 * sum / self.questions.max(1) as f64);
        println!("{name:>20} {:>9} {}", self.questions, self.sums.map(percent).join(" "));
    }
}
