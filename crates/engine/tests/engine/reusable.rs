//! How much of a prompt a provider may have in its cache, since the agent's last turn was asked with it.

use std::sync::Arc;

use callboard_engine::{
    Board, PromptSpec, Session,
    core::{
        count::{Tokens, Usage},
        entry::Actor,
        id::Seq,
        prompt::Format,
        run::{
            ClaimRun, NewRun, Run, RunKind, TurnReply, TurnRequest,
            next::{Next, next},
        },
        state::State,
    },
    prompt::{Body, Prompt},
    store::Store,
};
use serde_json::json;

use crate::fixture::{clock, id, memory, new, put_for, run, settings};

const MODEL: &str = "openai:gpt-4o";

/// A run of a team, of which a test says what the models answer.
struct Play {
    store: Arc<dyn Store>,
    session: Session,
    _board: Board,
}

impl Play {
    async fn start() -> Self {
        let store = memory(&clock());
        let board = Board::new(store.clone(), settings(&clock()));
        let session = board.create(new("s")).await.unwrap();
        let input = "Write of tides.".into();
        let started = run(&session, NewRun { kind: RunKind::Team, input, limits: None }).await;
        session.execute(Actor::System, ClaimRun { run: started.answer, node: "node".into() }).await.unwrap();
        Self { store, session, _board: board }
    }

    async fn state(&self) -> Arc<State> {
        self.session.state().await.unwrap()
    }

    /// Takes the turn that is due, and gives the prompt that it was asked with.
    async fn turn(&self, says: &serde_json::Value) -> Prompt {
        let state = self.state().await;
        let now = the_run(&state).clone();
        let Next::Ask(ask) = next(&state, &now).unwrap() else { panic!("no model is asked") };
        let query = PromptSpec {
            agent: Some(ask.agent),
            thread: Some(ask.turn.thread),
            task: ask.turn.task,
            ..query(Format::OpenAi, Some(state.head.seq))
        };
        let prompt = self.ask(&query).await;
        let (id, epoch) = (now.id.clone(), now.epoch);
        let request = TurnRequest {
            run: id.clone(),
            epoch,
            model: MODEL.to_owned(),
            tools: Default::default(),
            prompt: prompt.record(),
        };
        self.session.execute(Actor::System, request).await.unwrap();
        let text = says.as_str().map_or_else(|| says.to_string(), str::to_owned).into();
        let usage = Usage { prompt_tokens: 1, completion_tokens: 1 };
        let turn = now.turns + 1;
        let reply = TurnReply {
            run: id,
            epoch,
            turn,
            text,
            tool_calls: Vec::new(),
            reasoning: Vec::new(),
            messages: Vec::new(),
            usage,
            report: None,
            cut_off: false,
            refused: false,
        };
        self.session.execute(Actor::System, reply).await.unwrap();
        prompt
    }

    /// A prompt; a board that has never made one makes the same.
    async fn ask(&self, query: &PromptSpec) -> Prompt {
        let prompt = self.session.prompt(query).await.unwrap();
        let fresh = Board::new(self.store.clone(), settings(&clock()));
        let anew = fresh.session(&id("s")).await.unwrap().prompt(query).await.unwrap();
        assert_eq!(prompt, anew);
        prompt
    }

    /// The manager speaks to the writer, which answers. The prompts that the two were asked with.
    async fn round(&self, words: &str) -> [Prompt; 2] {
        let lead = self.turn(&json!({"messageTo": "writer", "message": words})).await;
        [lead, self.turn(&json!(format!("an answer to: {words}"))).await]
    }
}

fn the_run(state: &State) -> &Run {
    state.runs.unfinished().unwrap()
}

fn query(format: Format, at: Option<Seq>) -> PromptSpec {
    let model = Some(MODEL.to_owned());
    PromptSpec { model, format, at, budget: Some(Tokens(3000)), ..PromptSpec::default() }
}

fn messages(prompt: &Prompt) -> &[serde_json::Value] {
    let Body::Messages(messages) = &prompt.body else { panic!("{prompt:?}") };
    messages
}

fn fixed(prompt: &Prompt) -> Tokens {
    let is_fixed = |name: &str| ["instructions", "team", "duties"].contains(&name);
    prompt.parts.iter().filter(|part| is_fixed(&part.name)).map(|part| part.tokens).sum()
}

#[tokio::test]
async fn nothing_of_a_first_prompt_is_reusable_and_then_as_much_as_stays() {
    let play = Play::start().await;
    let mut last: [Option<Prompt>; 2] = [None, None];
    for round in 0..12 {
        let prompts = play.round(&format!("part {round}: {}", "and so on ".repeat(8))).await;
        for (last, prompt) in last.iter_mut().zip(prompts) {
            let reusable = prompt.reusable_prefix_tokens;
            let Some(before) = last.replace(prompt.clone()) else {
                assert_eq!(reusable, Tokens(0));
                continue;
            };
            assert!(fixed(&prompt) <= reusable && reusable < prompt.tokens, "{reusable} of {}", prompt.tokens);
            // Of the last prompt all but its envelope stays, unless its history was cut since.
            let is_cut = prompt.parts.iter().any(|part| part.name == "history" && part.shortened);
            let same = messages(&before).iter().zip(messages(&prompt)).take_while(|(a, b)| a == b).count();
            if !is_cut {
                assert_eq!((same, reusable.0), (messages(&before).len(), before.tokens.0 - 7), "in round {round}");
            }
        }
    }
    let [lead, _] = last;
    assert!(lead.unwrap().reusable_prefix_tokens.0 > 400);
}

#[tokio::test]
async fn a_change_of_a_context_set_leaves_what_is_before_the_sets() {
    let play = Play::start().await;
    run(&play.session, put_for("Brief", "One page.", &["lead"])).await;
    play.round("begin").await;
    run(&play.session, put_for("Brief", "Two pages.", &["lead"])).await;
    let [lead, writer] = play.round("go on").await;
    assert_eq!(lead.reusable_prefix_tokens, fixed(&lead) + Tokens(7), "the parts before the sets, and their first tag");
    assert!(writer.reusable_prefix_tokens > fixed(&writer), "it does not see the set");
}

#[tokio::test]
async fn only_prompts_of_the_same_agent_and_form_are_compared() {
    let play = Play::start().await;
    play.turn(&json!({"messageTo": "writer", "message": "begin"})).await;
    let of = |agent: &str, format| PromptSpec { agent: agent.parse().ok(), ..query(format, None) };
    assert!(play.ask(&of("lead", Format::OpenAi)).await.reusable_prefix_tokens.0 > 0);
    assert_eq!(play.ask(&of("lead", Format::Text)).await.reusable_prefix_tokens, Tokens(0));
    let writer = PromptSpec { thread: "agent:writer".parse().ok(), ..of("writer", Format::OpenAi) };
    assert_eq!(play.ask(&writer).await.reusable_prefix_tokens, Tokens(0));
    // As of an entry before the turn there is no last prompt.
    let requested = play.state().await.runs.last_requested(&"lead".parse().unwrap()).unwrap();
    let before = PromptSpec { at: Some(requested.previous()), ..of("lead", Format::OpenAi) };
    assert_eq!(play.ask(&before).await.reusable_prefix_tokens, Tokens(0));
}

#[tokio::test]
async fn a_prompt_that_cannot_be_made_again_has_nothing_in_common() {
    let play = Play::start().await;
    let state = play.state().await;
    let now = the_run(&state).clone();
    let lead = PromptSpec { agent: "lead".parse().ok(), ..query(Format::OpenAi, None) };
    let mut record = play.ask(&lead).await.record();
    record.layout_version += 1;
    let request = TurnRequest {
        run: now.id,
        epoch: now.epoch,
        model: MODEL.to_owned(),
        tools: Default::default(),
        prompt: record,
    };
    play.session.execute(Actor::System, request).await.unwrap();
    assert_eq!(play.ask(&lead).await.reusable_prefix_tokens, Tokens(0));
}
