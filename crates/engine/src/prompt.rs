//! Prompts: reading what one is made of, until it can be built.

use std::sync::Arc;

use callboard_core::{
    count::{TokenCounter, Tokens},
    error::Error as Refusal,
    id::{AgentName, Seq, ThreadId},
    prompt::{self, Format, Lacking, Layout, Prompt, Request, profile::Profile},
    state::State,
    tail::{Source, Tail},
    text::Values,
    view::View,
    viewer::Viewer,
};
use callboard_store::{Order, Query};
use callboard_tokens::{context_window, for_model};

use crate::{Error, Session, sizes::sizes};

/// Which prompt is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptQuery {
    /// Whose; the manager's or the only agent's where it is absent.
    pub agent: Option<AgentName>,
    /// In which thread; `main`, or the agent's own, where it is absent.
    pub thread: Option<ThreadId>,
    /// How it is laid out.
    pub layout: Layout,
    /// The model that reads it, whose vocabulary counts; the agent's where it is absent.
    pub model: Option<String>,
    /// The model of an agent that names none.
    pub default_model: Option<String>,
    /// What it has to fit in; the model's window where it is absent.
    pub budget: Option<Tokens>,
    /// As of which entry; the head where it is absent.
    pub at: Option<Seq>,
    /// In which form.
    pub format: Format,
    /// What is to be done, where it is not the last message of the thread.
    pub task: Option<String>,
    /// How the parts share the budget; as the session says where it is absent.
    pub profile: Option<Profile>,
}

/// The window of a model of which none is known, in tokens.
const DEFAULT_WINDOW: u64 = 128_000;

/// How many entries are read first; each further time four times as many.
const FIRST_PAGE: usize = 64;

/// How many entries are read at once at the most.
const LARGEST_PAGE: usize = 4096;

impl Session {
    /// The prompt of an agent, now or as of an entry: the same bytes on every store, at any time.
    pub async fn prompt(&self, query: &PromptQuery) -> Result<Prompt, Error> {
        let state = match query.at {
            Some(seq) => self.state_at(seq).await?,
            None => self.state().await?,
        };
        let wanted = Wanted::new(state, query)?;
        let subjects = wanted.source()?.subjects();
        let (mut tail, mut values, mut page) = (Tail::default(), Values::new(), FIRST_PAGE);
        loop {
            let built;
            (built, tail, values) = wanted.clone().build(tail, values).await?;
            match built {
                Ok(prompt) => {
                    self.live.confirm(&wanted.state).await?;
                    return Ok(prompt);
                }
                Err(Lacking::Refused(error)) => return Err(error.into()),
                Err(Lacking::Values(hashes)) => values.extend(self.values(hashes).await?),
                Err(Lacking::Older) => {
                    let query = Query {
                        seqs: Seq(1)..tail.before(wanted.state.head.seq),
                        types: Source::types(),
                        subjects: subjects.clone(),
                        order: Order::Backward,
                        limit: page,
                    };
                    let older = self.live.store.read(self.id(), query).await?;
                    tail.complete = older.len() < page;
                    tail.extend_back(&older)?;
                    page = LARGEST_PAGE.min(page * 4);
                }
            }
        }
    }
}

/// A prompt that is wanted, with all that was left out filled in.
#[derive(Clone)]
struct Wanted {
    state: Arc<State>,
    viewer: Viewer,
    thread: ThreadId,
    layout: Layout,
    format: Format,
    profile: Profile,
    budget: Tokens,
    task: Option<String>,
    count: &'static dyn TokenCounter,
}

impl Wanted {
    fn new(state: Arc<State>, query: &PromptQuery) -> Result<Self, Refusal> {
        let agent = match &query.agent {
            Some(name) => state.team.agent(name)?,
            None => prompt::default_agent(&state.team)?,
        };
        let viewer = Viewer::Agent(agent.name.clone());
        let model = query.model.as_ref().or(agent.model.as_ref()).or(query.default_model.as_ref());
        let window = model.and_then(|model| context_window(model)).unwrap_or(DEFAULT_WINDOW);
        let thread = match &query.thread {
            Some(thread) => thread.clone(),
            None => prompt::default_thread(&View::new(&state, &viewer, sizes())?),
        };
        let profile = query.profile.clone().unwrap_or_else(|| state.session.settings.prompt.clone());
        Ok(Self {
            viewer,
            thread,
            layout: query.layout,
            format: query.format,
            budget: query.budget.or(profile.budget).unwrap_or(Tokens(window)),
            profile,
            task: query.task.clone(),
            count: model.map_or_else(sizes, |model| for_model(model)),
            state,
        })
    }

    fn source(&self) -> Result<Source, Refusal> {
        Ok(Source::of(&View::new(&self.state, &self.viewer, sizes())?, &self.thread))
    }

    /// Tries to build it, off the runtime: counting takes its time.
    async fn build(self, tail: Tail, values: Values) -> Result<(Result<Prompt, Lacking>, Tail, Values), Error> {
        let built = tokio::task::spawn_blocking(move || {
            let request = Request {
                thread: &self.thread,
                layout: self.layout,
                format: self.format,
                profile: &self.profile,
                budget: self.budget,
                task: self.task.as_deref(),
            };
            let view = View::new(&self.state, &self.viewer, sizes());
            let built = view.map_err(Lacking::from);
            let built = built.and_then(|view| prompt::prompt(&view, &request, &tail, &values, self.count));
            (built, tail, values)
        });
        built.await.map_err(|_| Error::Closed)
    }
}

/// What counts the tokens of a model: its vocabulary where it is known, an upper bound where not.
pub fn counter_of(model: &str) -> &'static dyn TokenCounter {
    for_model(model)
}
