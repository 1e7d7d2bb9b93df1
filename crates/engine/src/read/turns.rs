//! Turns: which models were asked, in runs and outside of them, and with which prompts.

use std::{collections::BTreeMap, sync::Arc};

use callboard_core::{
    count::Usage,
    entry::Entry,
    error::Error as Refusal,
    fact::{self, Fact},
    id::{AgentName, Seq},
    run::{
        turn_facts::{TurnAnswered, TurnFailed, TurnRequested},
        view::TurnView,
    },
    state::State,
    view::View,
    viewer::Viewer,
};
use callboard_prompt::Prompt;
use callboard_store::{Order, Query};

use crate::{
    error::Error,
    journal::{PAGE, Pages, damaged},
    session::Session,
    sizes::sizes,
};

/// The prompt of a turn, made again.
#[derive(Clone, Debug)]
pub struct SentPrompt {
    /// The turn.
    pub turn: TurnView,
    /// The prompt.
    pub prompt: Prompt,
    /// Whether it is byte for byte what was sent.
    pub is_as_sent: bool,
}

impl Session {
    /// The newest turns before the entry `before` that `viewer` may see, the newest first: those of `agent` alone where one is
    /// named.
    pub async fn turns(
        &self,
        viewer: &Viewer,
        agent: Option<&AgentName>,
        before: Option<Seq>,
        limit: usize,
    ) -> Result<Vec<TurnView>, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let (mut turns, mut end) = (Vec::new(), before.unwrap_or(Seq(u64::MAX)).min(state.head.seq.next()));
        while turns.len() < limit {
            let all = Query::all(Seq(1)..end, Order::Backward, PAGE);
            let query = Query { types: vec![TurnRequested::TYPE.into()], ..all };
            let page = self.live.store.read(self.id(), query).await?;
            for entry in &page {
                let turn = seen(&view, entry)?.filter(|(_, turn)| agent.is_none_or(|agent| turn.agent == *agent));
                turns.extend(turn);
            }
            match page.last() {
                Some(last) if page.len() == PAGE => end = last.header.seq,
                _ => break,
            }
        }
        turns.truncate(limit);
        let answers = self.answers(&state, &turns).await?;
        self.live.confirm(&state).await?;
        Ok(turns.into_iter().map(|(entry, turn)| turn_view(&entry, &turn, &answers)).collect())
    }

    /// One turn.
    pub async fn turn(&self, viewer: &Viewer, seq: Seq) -> Result<TurnView, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let turns = [self.requested(seq, &view).await?];
        let answers = self.answers(&state, &turns).await?;
        let [(entry, turn)] = &turns;
        Ok(turn_view(entry, turn, &answers))
    }

    /// The prompt of a turn as it was sent, made again from the journal. It is what the model was shown then, so it is for
    /// the user alone.
    pub async fn sent_prompt(&self, seq: Seq) -> Result<SentPrompt, Error> {
        let state = self.state().await?;
        let view = View::new(&state, &Viewer::User, sizes())?;
        let (_, requested) = self.requested(seq, &view).await?;
        let unknown =
            || Refusal::invalid("/turn", format!("this program does not know the form of the prompt of turn {seq}"));
        let prompt = self.prompt(&requested.prompt_spec().ok_or_else(unknown)?).await?;
        let is_as_sent = prompt.sha256() == requested.prompt.sha256;
        Ok(SentPrompt { turn: self.turn(&Viewer::User, seq).await?, prompt, is_as_sent })
    }

    /// The entry that requested a turn.
    async fn requested(&self, seq: Seq, view: &View<'_>) -> Result<(Entry, TurnRequested), Error> {
        let absent = || Refusal::not_found("turn", seq);
        let is_there = !seq.is_zero() && seq <= view.state.head.seq;
        let entry = if is_there { self.entry(seq).await? } else { None };
        let entry = entry.filter(|entry| *entry.header.kind == *TurnRequested::TYPE).ok_or_else(absent)?;
        Ok(seen(view, &entry)?.ok_or_else(absent)?)
    }

    /// What came of these turns, by the subject and the number of each: its usage, and whether it failed.
    async fn answers(&self, state: &State, turns: &[(Entry, TurnRequested)]) -> Result<Answers, Error> {
        let mut answers = Answers::new();
        let Some(first) = turns.iter().map(|(entry, _)| entry.header.seq).min() else { return Ok(answers) };
        let mut subjects: Vec<Arc<str>> = turns.iter().map(|(entry, _)| entry.header.subject.clone()).collect();
        subjects.sort();
        subjects.dedup();
        let types = vec![TurnAnswered::TYPE.into(), TurnFailed::TYPE.into()];
        let mut pages = Pages::of(&*self.live.store, self.id(), first, state.head.seq, types).about(subjects);
        while let Some(page) = pages.next().await? {
            for entry in &page {
                let subject = entry.header.subject.clone();
                if *entry.header.kind == *TurnFailed::TYPE {
                    let TurnFailed { turn, usage, .. } = fact::read(entry)?;
                    answers.insert((subject, turn), (usage, true));
                } else {
                    let TurnAnswered { turn, usage, .. } = fact::read(entry)?;
                    answers.insert((subject, turn), (usage, false));
                }
            }
            if turns.iter().all(|(entry, turn)| answers.contains_key(&key(entry, turn))) {
                break;
            }
        }
        Ok(answers)
    }
}

type Answers = BTreeMap<(Arc<str>, u64), (Option<Usage>, bool)>;

fn key(entry: &Entry, turn: &TurnRequested) -> (Arc<str>, u64) {
    (entry.header.subject.clone(), turn.turn)
}

/// A turn as the viewer of `view` may see it, with its entry.
fn seen(view: &View<'_>, entry: &Entry) -> Result<Option<(Entry, TurnRequested)>, Refusal> {
    let Some(projected) = view.project(entry)? else { return Ok(None) };
    let turn = match view.agent() {
        None => fact::read(entry)?,
        Some(_) => serde_json::from_str(&projected.data).map_err(|error| damaged(entry, &error))?,
    };
    Ok(Some((entry.clone(), turn)))
}

fn turn_view(entry: &Entry, turn: &TurnRequested, answers: &Answers) -> TurnView {
    let answer = answers.get(&key(entry, turn));
    let seq = entry.header.seq;
    TurnView {
        turn: seq,
        agent: turn.agent.clone(),
        thread: turn.speaks_in(),
        seq,
        at: entry.header.at,
        run: turn.run.clone(),
        turn_of_run: turn.run.as_ref().map(|_| turn.turn),
        model: turn.model.clone(),
        tokens: turn.prompt.tokens,
        usage: answer.and_then(|(usage, _)| *usage),
        // Prices are for whoever knows them.
        cost: None,
        answered: answer.is_some(),
        failed: answer.is_some_and(|(_, failed)| *failed),
    }
}
