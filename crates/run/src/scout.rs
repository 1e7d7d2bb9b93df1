//! Scouts: the director's model explores a page in a thread and a tab of its own. What is due follows from the thread, so a
//! scout goes on where it was.

use std::time::{Duration, Instant};

use callboard_core::{
    agent::Tool,
    audience::Audience,
    browser::{
        BrowserCall, CloseTab, Navigate, OpenTab,
        scout::{self, DeployScout, End, PAGES, PROMPT_TOKENS, SECONDS, Step, TOKENS},
    },
    conversation::{
        AddMessages, MessageView, NewMessage, PutThread, Role, ToolCall, ToolResult, settings::ThreadPatch,
        thoughts::split_thoughts,
    },
    count::{Tokens, Usage},
    entry::Actor,
    id::{AgentName, Seq, ThreadId},
    prompt::{LayoutName, PromptSpec, observed::Observed},
    run::{Run, Used, own::AnswerTurn},
    tool::{
        PREFIX,
        browser::{OF_SCOUTS, opens_page},
        own_tool,
    },
    viewer::Viewer,
};
use callboard_engine::{Error as Engine, MessageQuery};
use callboard_model::ModelName;
use serde_json::json;

use crate::{
    Driver, Error,
    tool::{Done, INTERRUPTED, not_done},
    turn::{call, format_for, in_order, is_over, request, usage},
};

/// A scout at work.
struct Scout<'a> {
    driver: &'a Driver,
    run: &'a Run,
    agent: &'a AgentName,
    sent: DeployScout,
    thread: ThreadId,
    tab: String,
    model: ModelName,
    used: Used,
    /// Whether its model was asked since this program took it up. Calls from before may have been begun.
    was_asked: bool,
}

impl Driver {
    /// Sends a scout whose call was started by the entry `started`, or goes on with it. Gives what the director is told, and what
    /// it used.
    pub(crate) async fn scout(
        &self,
        run: &Run,
        agent: &AgentName,
        sent: DeployScout,
        started: Seq,
    ) -> Result<Done, Error> {
        let state = self.session.state().await?;
        let model = self.model_of(&state, agent, &ThreadId::main())?;
        let (thread, tab) = (ThreadId::of_scout(started), sent.tab(started));
        let (used, was_asked) = (Used::default(), false);
        let mut scout = Scout { driver: self, run, agent, sent, thread, tab, model, used, was_asked };
        let working = tokio::time::timeout(Duration::from_secs(SECONDS), scout.work());
        let end = match working.await {
            Ok(end) => end?,
            Err(_) => {
                let reason = format!("it took {SECONDS} seconds, which is its limit");
                Some(End::stopped(reason, &scout.messages().await?))
            }
        };
        let Some(end) = end else { return Ok(Done::Paused) };
        if scout.sent.tab_name.is_none() {
            let close = BrowserCall::Close(CloseTab { tab_name: Some(scout.tab.clone()) });
            if let Some(browsers) = &self.outside.browsers {
                // It may never have been opened, or be closed by now.
                let _ = browsers.call(&self.session, close).await;
            }
        }
        let copied_from = scout.messages().await?.iter().map(|message| message.seq).collect();
        let told = ToolResult { copied_from, ..end.told(&scout.thread).into() };
        Ok(Done::Result(told, scout.used))
    }
}

impl Scout<'_> {
    /// Does what is due until it has come to its end; `None` where the run is paused before.
    async fn work(&mut self) -> Result<Option<End>, Error> {
        if let Some(reason) = self.begin().await? {
            return Ok(Some(End::stopped(reason, &[])));
        }
        loop {
            let state = self.driver.session.state().await?;
            if let Some(over) = is_over(&state, self.run) {
                return Err(over);
            }
            if state.runs.get(&self.run.id).is_ok_and(|run| run.halt.is_some()) {
                return Ok(None);
            }
            let messages = self.messages().await?;
            match self.sent.next(&messages) {
                Step::End(end) => return Ok(Some(end)),
                Step::Mend(faults) => self.say(vec![NewMessage::text(Role::User, scout::mend(&faults))]).await?,
                Step::Call(calls) => self.call(calls).await?,
                Step::Ask { .. } if self.used.prompt_tokens + self.used.completion_tokens >= TOKENS => {
                    let reason = format!("it used {TOKENS} tokens, which is its limit");
                    return Ok(Some(End::stopped(reason, &messages)));
                }
                Step::Ask { is_last } => {
                    if let Some(reason) = self.ask(is_last).await? {
                        return Ok(Some(End::stopped(reason, &messages)));
                    }
                }
            }
        }
    }

    /// Makes its thread and opens its page, or learns what it has used so far. Says why it cannot begin, if so.
    async fn begin(&mut self) -> Result<Option<String>, Error> {
        let session = &self.driver.session;
        if session.state().await?.threads.get(&self.thread).is_none() {
            let tools = OF_SCOUTS.iter().map(|name| Tool { name: format!("{PREFIX}{name}"), ..Tool::default() });
            let patch = ThreadPatch {
                visible_to: Some(Audience::of([self.agent.clone()])),
                instructions: Some(Some(self.sent.rules(&self.tab).into())),
                tools: Some(Some(tools.collect())),
                ..ThreadPatch::default()
            };
            let put = PutThread { thread: self.thread.clone(), patch };
            if let Err(Engine::Refused(refusal)) = session.execute(Actor::Agent(self.agent.clone()), put).await {
                return Ok(Some(refusal.to_string()));
            }
        }
        let messages = self.messages().await?;
        self.remember(&messages).await?;
        let opened = match self.open(messages.is_empty()).await {
            Ok(opened) => opened,
            Err(Error::Engine(Engine::Refused(refusal))) if messages.is_empty() => {
                return Ok(Some(refusal.to_string()));
            }
            Err(Error::Engine(Engine::Refused(_))) => None,
            Err(error) => return Err(error),
        };
        if messages.is_empty() {
            let opened = opened.map(|opened| format!("\n\n{opened}")).unwrap_or_default();
            let instruction = format!("{}{opened}", self.sent.instruction);
            let copied_from = self.run.due_origin.iter().map(|origin| origin.seq).collect();
            self.say(vec![NewMessage { copied_from, ..NewMessage::text(Role::User, instruction) }]).await?;
        }
        Ok(None)
    }

    /// What it used before this program took it up.
    async fn remember(&mut self, messages: &[MessageView]) -> Result<(), Error> {
        let calls = messages.iter().flat_map(|message| &message.tool_calls);
        self.used.pages = u64::try_from(calls.filter(|call| opens_page(&call.name)).count()).unwrap_or(u64::MAX);
        if messages.is_empty() {
            return Ok(());
        }
        let turns = self.driver.session.turns(&Viewer::User, Some(self.agent), None, REMEMBERED).await?;
        for turn in turns.into_iter().filter(|turn| turn.answered) {
            if turn.thread.as_ref() == Some(&self.thread) {
                self.count(turn.usage.unwrap_or_default(), 0);
            }
        }
        Ok(())
    }

    fn count(&mut self, usage: Usage, milliseconds: u64) {
        let Usage { prompt_tokens, completion_tokens } = usage;
        self.used.add(Used { turns: 1, prompt_tokens, completion_tokens, milliseconds, pages: 0 });
    }

    /// Opens its page in its tab, where it has one. One that it had before a crash is opened again.
    async fn open(&mut self, is_first: bool) -> Result<Option<String>, Error> {
        let Some(url) = self.sent.url.clone() else { return Ok(None) };
        let session = &self.driver.session;
        let browsers = self.driver.outside.browsers().map_err(Engine::from)?;
        let is_open = match browsers.tabs(session).await {
            Observed::Seen(tabs) => tabs.iter().any(|tab| tab.name == self.tab),
            Observed::Absent | Observed::Failed(_) => false,
        };
        let tab_name = self.tab.clone();
        let call = match is_open {
            false => BrowserCall::Open(OpenTab { url, tab_name }),
            true if is_first => BrowserCall::Navigate(Navigate { url, tab_name: Some(tab_name), reason: None }),
            true => return Ok(None),
        };
        self.used.pages += 1;
        Ok(Some(browsers.call(session, call).await?.text.to_string()))
    }

    /// Asks its model. Says why there is no answer, if so.
    async fn ask(&mut self, is_last: bool) -> Result<Option<String>, Error> {
        let session = &self.driver.session;
        let spec = PromptSpec {
            agent: Some(self.agent.clone()),
            thread: Some(self.thread.clone()),
            layout: Some(LayoutName::Plain),
            model: Some(self.model.to_string()),
            format: format_for(&self.model),
            budget: Some(Tokens(PROMPT_TOKENS)),
            recall: Some(false),
            ..PromptSpec::default()
        };
        let (prompt, begin) = match self.driver.own_turn(spec).await {
            Ok(made) => made,
            Err(Error::Engine(Engine::Refused(refusal))) => return Ok(Some(format!("it cannot be asked: {refusal}"))),
            Err(error) => return Err(error),
        };
        let turn = session.execute(Actor::Agent(self.agent.clone()), begin).await?.answer.0;
        let state = session.state().await?;
        // The last time there is nothing left but to report.
        let request = request(&state, &self.model, &prompt, !is_last);
        let (began, timeout) = (Instant::now(), self.driver.settings.turn_timeout);
        let asked = tokio::time::timeout(timeout, self.driver.models.chat(&request, &mut |_: &str| {})).await;
        self.was_asked = true;
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut answer = AnswerTurn { turn, ..AnswerTurn::default() };
        match asked {
            Ok(Ok(said)) if split_thoughts(&said.text).1.trim().is_empty() && said.tool_calls.is_empty() => {
                answer.error = Some("the model said nothing".to_owned());
            }
            Ok(Ok(said)) => {
                let used = usage(&said, &self.model.to_string(), &prompt);
                self.count(used, took);
                answer.usage = Some(used);
                let calls: Vec<_> = said.tool_calls.iter().cloned().map(call).collect();
                answer.messages = in_order(&said, &calls);
                if answer.messages.is_empty() {
                    (answer.text, answer.reasoning, answer.tool_calls) =
                        (Some(said.text.into()), said.reasoning, calls);
                }
            }
            Ok(Err(error)) => answer.error = Some(error.to_string()),
            Err(_) => answer.error = Some(format!("it took more than {} seconds", timeout.as_secs())),
        }
        let error = answer.error.clone().map(|error| format!("its model gave no answer: {error}"));
        match session.execute(Actor::Agent(self.agent.clone()), answer).await {
            Ok(_) => Ok(error),
            Err(Engine::Refused(refusal)) => Ok(Some(format!("its model's answer cannot be stored: {refusal}"))),
            Err(error) => Err(error.into()),
        }
    }

    /// Does what it calls, in order, and brings the results. What was called before this program took it up may have been
    /// begun: it is done again only where that does no harm.
    async fn call(&mut self, calls: Vec<ToolCall>) -> Result<(), Error> {
        for call in calls {
            let told: ToolResult = match self.in_own_tab(&call) {
                Err(reason) => format!("[not done: {reason}]").into(),
                Ok(_) if !self.was_asked && own_tool(&call.name).is_ok_and(|tool| !tool.idempotent) => {
                    INTERRUPTED.into()
                }
                Ok(call) => self.driver.told(self.agent, &call).await?,
            };
            self.say(vec![told.message(&call.id)]).await?;
        }
        Ok(())
    }

    /// The call with the scout's own tab in it, or why it may not be done.
    fn in_own_tab(&mut self, call: &ToolCall) -> Result<ToolCall, String> {
        if !OF_SCOUTS.contains(&call.name.as_str()) {
            return Err(format!("a scout has no tool {:?}; it has {}", call.name, OF_SCOUTS.join(", ")));
        }
        let mut arguments = call.arguments_json();
        let named = arguments.get("tabName").or_else(|| arguments.get("tab_name")).cloned();
        if let Some(other) = named.as_ref().filter(|name| name.as_str() != Some(&self.tab)) {
            return Err(format!("your tab is {:?}, and {other} is not yours", self.tab));
        }
        if let (None, Some(fields)) = (named, arguments.as_object_mut()) {
            fields.insert("tabName".to_owned(), json!(self.tab));
        }
        if opens_page(&call.name) {
            if self.used.pages >= PAGES {
                return Err(format!("you have opened {PAGES} pages, which is your limit: report"));
            }
            self.used.pages += 1;
        }
        Ok(ToolCall { arguments, ..call.clone() })
    }

    async fn say(&self, messages: Vec<NewMessage>) -> Result<(), Error> {
        let add = |messages| AddMessages { thread: self.thread.clone(), messages };
        let results: Vec<_> = messages.iter().map(|message| message.tool_call_id.clone()).collect();
        match self.driver.session.execute(Actor::System, add(messages)).await {
            Ok(_) => Ok(()),
            // For instance, a result is longer than a journal accepts.
            Err(Engine::Refused(refusal)) if results.iter().all(Option::is_some) => {
                let text = not_done(&refusal);
                let told = |tool_call_id| NewMessage { tool_call_id, ..NewMessage::text(Role::Tool, &*text) };
                let messages = results.into_iter().map(told).collect();
                self.driver.session.execute(Actor::System, add(messages)).await?;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// All that was said in its thread.
    async fn messages(&self) -> Result<Vec<MessageView>, Error> {
        let viewer = Viewer::Agent(self.agent.clone());
        if self.driver.session.state().await?.threads.get(&self.thread).is_none() {
            return Ok(Vec::new());
        }
        Ok(self.driver.session.messages(&viewer, &self.thread, MessageQuery::default()).await?.messages)
    }
}

/// So many turns of the director's are looked through for those of a scout that goes on.
const REMEMBERED: usize = 500;
