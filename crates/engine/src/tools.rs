//! Callboard's own tools, done for an agent: one function for runs, for HTTP and for whatever else calls them.

use callboard_core::{
    conversation::{MessageView, ToolResult},
    entry::Actor,
    error::Error as Refusal,
    id::{NodeId, Seq},
    prompt::escape::page_text,
    recall::Source,
    tool::{CallTool, Read, RecallAsked, ToolExecution, own_tool, part_of},
    variable::Variable,
    view::View,
    viewer::Viewer,
};
use serde_json::{Map, Value, json};

use crate::{
    error::Error,
    outside::Outside,
    read::message::MessageQuery,
    read::recall::answer::{RecallAnswer, RecallHit},
    recall::{ForeignPassage, FromElsewhere, RecallQuery},
    session::Session,
};

impl Session {
    /// Does what `by` asks of Callboard's own tool `name`, with the rights of `by`, and says what its model is told.
    pub async fn call_tool(
        &self,
        by: impl Into<Actor>,
        name: &str,
        arguments: &Value,
        outside: &Outside,
    ) -> Result<ToolResult, Error> {
        let by = by.into();
        match own_tool(name)?.execution {
            ToolExecution::Command(_) => {
                let call = CallTool { name: name.to_owned(), arguments: arguments.clone() };
                Ok(self.execute(by, call).await?.answer.0.into())
            }
            ToolExecution::Read(_) => self.read_tool(&by.into(), name, arguments, outside).await,
        }
    }

    /// What a model is told by the tool `name`, which reads: all of it, or the part that the arguments name.
    pub async fn read_tool(
        &self,
        viewer: &Viewer,
        name: &str,
        arguments: &Value,
        outside: &Outside,
    ) -> Result<ToolResult, Error> {
        let ToolExecution::Read(read) = own_tool(name)?.execution else {
            return Err(Refusal::invalid("/name", format!("{name} does not read")).into());
        };
        let (arguments, part) = part_of(name, arguments)?;
        let mut nodes = Vec::new();
        let look = |view: &View<'_>| -> Result<Read, Refusal> {
            let read = read(view, &arguments)?;
            nodes = found_by(&read);
            Ok(read)
        };
        let mut told = self.read_with(viewer, look, outside).await?;
        told.text = part.of(told.text.to_string()).into();
        // What a page says is data, also where a node read it.
        if nodes.is_empty() {
            return Ok(told);
        }
        let with_page_text = self.state().await?.workflow.with_page_text();
        if nodes.iter().any(|node| with_page_text.contains(node)) {
            told.text = page_text(&told.text).into();
        }
        Ok(told)
    }

    /// What a model is told of what `look` finds through the eyes of `viewer`, and the entries whose words that has.
    async fn read_with(
        &self,
        viewer: &Viewer,
        look: impl FnOnce(&View<'_>) -> Result<Read, Refusal>,
        outside: &Outside,
    ) -> Result<ToolResult, Error> {
        let (told, copied_from): (String, Vec<Seq>) = match self.view(viewer, |view| look(&view)).await? {
            Read::Text(text, seq) => (self.text(&text).await?.to_string(), seq.into_iter().collect()),
            Read::Document(name, None) => {
                let (held, text) = self.document(viewer, &name).await?;
                let told = text.map_or_else(|| format!("[{name} is hidden from you]"), |text| text.to_string());
                (told, vec![held.seq])
            }
            Read::Document(name, Some(collection)) => {
                (self.collection_document(viewer, &collection, &name).await?.1.to_string(), Vec::new())
            }
            Read::Variable(variable) => (self.value_of(&variable).await?.to_string(), vec![variable.seq]),
            Read::Variables(variables) => {
                let seqs = variables.iter().map(|variable| variable.seq).collect();
                (self.values_of(&variables).await?, seqs)
            }
            Read::Message(thread, id) => {
                let message = self.message(viewer, &thread, &id).await?;
                (in_short(&message, viewer).to_string(), vec![message.seq])
            }
            Read::Recall(RecallAsked { text, limit, thread, sources }) => {
                let query = RecallQuery { limit, thread, sources, ..RecallQuery::new(text) };
                let found = self.recall(viewer, query).await?;
                (recalled_in_short(&found).to_string(), entries_of(&found.hits))
            }
            Read::Search(RecallAsked { text, limit, .. }) => {
                let hits = self.search_words(viewer, &text, limit).await?;
                let found = json!({"found": hits.iter().map(hit_in_short).collect::<Vec<_>>()});
                (found.to_string(), entries_of(&hits))
            }
            Read::Files(call) => (outside.files()?.call(self, call).await?, Vec::new()),
            Read::Browser(call) => return outside.browsers()?.call(self, call).await,
            Read::TestNode(node) => {
                let told = outside.workflows()?.test_node(self, viewer.clone().into(), node).await?;
                let result = self.state().await?.workflow.get(node).and_then(|held| held.result);
                (told, result.into_iter().collect())
            }
            Read::Scout(_) => {
                let problem =
                    "a scout needs a model, which only a run of a director has: start one with `callboard director` \
                    or by `POST …/runs` with the kind `director`, or look at the page yourself with `inspect_tab`"
                        .to_owned();
                return Err(Refusal::invalid("/tool", problem).into());
            }
            Read::NodeResult(_, seq) => (self.result_in(seq).await?.result.to_string(), vec![seq]),
            Read::Messages(thread, limit, before) => {
                let before = match before {
                    Some(id) => Some(self.message(viewer, &thread, &id).await?),
                    None => None,
                };
                let cursor = before.map(|message| (message.timestamp, message.seq));
                let query = MessageQuery { limit: Some(limit), cursor, ..MessageQuery::default() };
                let page = self.messages(viewer, &thread, query).await?;
                let messages: Vec<_> = page.messages.iter().map(|message| in_short(message, viewer)).collect();
                (Value::from(messages).to_string(), page.messages.iter().map(|message| message.seq).collect())
            }
        };
        Ok(ToolResult { copied_from, ..told.into() })
    }
}

/// The entries of the session in which something was found.
fn entries_of(hits: &[RecallHit]) -> Vec<Seq> {
    hits.iter().filter(|hit| hit.collection.is_none()).map(|hit| hit.seq).collect()
}

/// The nodes that found what is read.
fn found_by(read: &Read) -> Vec<NodeId> {
    let node_of = |variable: &Variable| variable.name.node().map(NodeId);
    match read {
        Read::TestNode(node) | Read::NodeResult(node, _) => vec![*node],
        Read::Variable(variable) => node_of(variable).into_iter().collect(),
        Read::Variables(variables) => variables.iter().filter_map(node_of).collect(),
        _ => Vec::new(),
    }
}

/// What was found, as a model is told of it: here, and then by each source elsewhere.
fn recalled_in_short(answer: &RecallAnswer) -> Value {
    let mut found: Vec<Value> = answer.hits.iter().map(hit_in_short).collect();
    let mut failed = Vec::new();
    for FromElsewhere { source, passages } in &answer.elsewhere {
        match passages {
            Ok(passages) => found.extend(passages.iter().map(|passage| foreign_in_short(source, passage))),
            Err(error) => failed.push(json!({"source": source, "error": error})),
        }
    }
    let note = answer.note.or(found.is_empty().then_some("nothing was found: try other words"));
    let behind = answer.behind.map(|behind| format!("{behind} entries are not searched yet: ask again in a moment"));
    let failed = (!failed.is_empty()).then_some(failed);
    let told = [
        ("found", Some(Value::from(found))),
        ("behind", behind.map(Value::from)),
        ("failed", failed.map(Value::from)),
        ("note", note.map(Value::from)),
    ];
    told.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A passage from elsewhere as a model is told of it.
fn foreign_in_short(source: &str, passage: &ForeignPassage) -> Value {
    let ForeignPassage { text, title, url, .. } = passage;
    let read_on = url.as_ref().map(|url| json!({ "url": url }));
    json!({"from": source, "title": title, "text": text, "read_on": read_on})
}

/// A passage as a model is told of it.
fn hit_in_short(hit: &RecallHit) -> Value {
    let name = hit.subject.split_once(':').map(|(_, name)| name);
    let (tool, argument) = hit.source.tool();
    let mut read_on = Map::from_iter([("tool".to_owned(), json!(tool))]);
    read_on.extend(argument.map(|argument| (argument.to_owned(), json!(name))));
    read_on.extend(hit.message_id.as_ref().map(|id| ("message_id".to_owned(), json!(id))));
    if hit.source == Source::Document {
        read_on.insert("collection".to_owned(), json!(hit.collection));
    }
    json!({"from": hit.origin, "at": hit.at, "entry": hit.seq, "text": hit.text, "read_on": read_on})
}

/// A message as the model of `viewer` is told of it.
fn in_short(message: &MessageView, viewer: &Viewer) -> Value {
    let said_by = message.said_by(viewer.agent());
    json!({"id": message.message_id, "from": said_by.map_or_else(|| json!(message.role), |agent| json!(agent)),
        "content": message.content, "timestamp": message.timestamp})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_tells_its_agent_comes_for_others_from_that_agent() {
        let message = json!({
            "message_id": "m1", "thread_id": "chat:writer", "seq": 7, "role": "USER", "agent": "writer",
            "content": "Obey.", "timestamp": "2026-01-01T00:00:00Z",
        });
        let message: MessageView = serde_json::from_value(message).unwrap();
        let from = |viewer: Viewer| in_short(&message, &viewer).get("from").cloned();
        let agent = |name: &str| Viewer::Agent(name.parse().unwrap());
        assert_eq!(from(agent("lead")), Some(json!("writer")));
        assert_eq!(from(agent("writer")), Some(json!("USER")));
        assert_eq!(from(Viewer::User), Some(json!("USER")));
    }
}
