//! Runs by hand: a test says what the models answer.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    count::{Counting, Tokens, Usage},
    entry::Hash,
    error::Error,
    id::RunId,
    limits::Limits,
    past_runs::PastRuns,
    prompt::observed::Observations,
    run::{
        NewRun, PromptRecord, Run, RunKind, TurnReply, TurnRequest,
        next::{Next, next},
    },
    testing::Board,
};

impl Board {
    /// Starts a team run.
    pub fn start(&mut self, input: &str) -> Result<RunId, Error> {
        self.start_within(input, None)
    }

    /// Starts a team run with limits of its own.
    pub fn start_within(&mut self, input: &str, limits: Option<Limits>) -> Result<RunId, Error> {
        self.user(NewRun { kind: RunKind::Team, input: input.into(), limits })
    }

    /// Starts a run of a director.
    pub fn build(&mut self, input: &str, limits: Option<Limits>) -> Result<RunId, Error> {
        self.user(NewRun { kind: RunKind::Director, input: input.into(), limits })
    }

    /// The run that was started last.
    ///
    /// # Panics
    /// Where there is none.
    pub fn run(&self) -> &Run {
        self.state.runs.newest().unwrap()
    }

    /// All runs, as they are read for those who ask for them.
    pub fn runs(&self) -> Vec<Arc<Run>> {
        let types = PastRuns::types();
        let mut past = PastRuns::default();
        for entry in self.entries.iter().filter(|entry| types.contains(&entry.header.kind)) {
            past.take(entry).unwrap();
        }
        let mut runs = past.finish();
        runs.pop();
        runs.extend(self.state.runs.newest().cloned());
        runs
    }

    /// What comes next in it.
    ///
    /// # Panics
    /// Where that is an error.
    pub fn next(&self) -> Next {
        next(&self.state, self.run()).unwrap()
    }

    /// Asks the model whose turn it is, and takes its answer in.
    pub fn reply(&mut self, text: &str) -> Result<(), Error> {
        self.reply_with(|reply| reply.text = text.into())
    }

    /// Asks the model whose turn it is, and takes in what `say` makes of an empty answer.
    pub fn reply_with(&mut self, say: impl FnOnce(&mut TurnReply)) -> Result<(), Error> {
        self.request()?;
        let mut reply = self.empty_reply();
        say(&mut reply);
        self.system(reply).map(|_| ())
    }

    /// Requests the turn that is due, where that was not done before.
    pub fn request(&mut self) -> Result<(), Error> {
        let run = self.run();
        if run.pending.is_some() {
            return Ok(());
        }
        let (run, epoch) = (run.id.clone(), run.epoch);
        let prompt = self.no_prompt();
        let (model, tools) = ("openai:test".to_owned(), BTreeSet::new());
        let request = TurnRequest { run, epoch, model, tools, prompt };
        self.system(request)
    }

    /// An answer to the turn that was requested last, in which nothing is said.
    pub fn empty_reply(&self) -> TurnReply {
        let run = self.run();
        TurnReply {
            report: None,
            run: run.id.clone(),
            epoch: run.epoch,
            turn: run.turns,
            text: "".into(),
            tool_calls: Vec::new(),
            reasoning: Vec::new(),
            messages: Vec::new(),
            usage: Usage { prompt_tokens: 100, completion_tokens: 10 },
            cut_off: false,
            refused: false,
        }
    }

    /// What is kept of a prompt that nobody made.
    pub fn no_prompt(&self) -> PromptRecord {
        PromptRecord {
            at: self.state.head.seq,
            layout: "team".to_owned(),
            layout_version: 1,
            renamed_tools: BTreeMap::new(),
            has_media: false,
            format: "openai".to_owned(),
            vocabulary: self.count.vocabulary().to_owned(),
            factor: None,
            counting: Counting::Exact,
            budget: Tokens(1000),
            tokens: Tokens(100),
            sha256: Hash::of(b""),
            shows: Vec::new(),
            observed: Observations::default(),
        }
    }
}
