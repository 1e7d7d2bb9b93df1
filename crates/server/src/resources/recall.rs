//! Recall: what in a session answers a question.

use callboard_core::{id::SessionId, recall::Source, viewer::Viewer};
use callboard_engine::{ForeignPassage, FromElsewhere, RecallAnswer, RecallHit, RecallQuery};
use callboard_mcp::escaped;

use crate::{call::*, resources::prompt::whose, rights::ReadSession};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(recall)).routes(routes!(search))
}

/// Find what answers a question
///
/// It searches everything that was ever said, that was not deleted or replaced since, and that the caller may see:
/// messages with the results of tools, also those that compression or a budget left out of prompts, context sets, the
/// plan, variables, context files and documents. What is hidden from the caller does not change the answer. Everything
/// that was written before the call is searched; if that takes too long, the answer says how far it is `behind`.
#[utoipa::path(post, path = "/v1/sessions/{session}/recall", tag = "recall",
    request_body = api::RecallBody,
    responses((status = OK, description = "The passages, the best first", body = api::Recalled)))]
async fn recall(
    caller: Authorized<ReadSession>,
    RequestBody { body, .. }: RequestBody<api::RecallBody>,
) -> Result<Answer<api::Recalled>, CallError> {
    let api::RecallBody { query, limit, agent, thread, role, sources, at } = body;
    if at.is_some() && !caller.is_user() {
        return Err(caller.forbidden("search as of an earlier entry"));
    }
    let viewer = match whose(&caller, agent, "search the views of others").await? {
        Some(agent) => Viewer::Agent(agent),
        None => caller.viewer(),
    };
    let mut asked = RecallQuery { prefer: role, thread, at, ..RecallQuery::new(query) };
    asked.limit = limit.unwrap_or(asked.limit);
    asked.sources = sources.unwrap_or_default();
    let answer = caller.session.recall(&viewer, asked).await?;
    Ok(Answer::ok(recalled(caller.session.id(), answer)))
}

/// Search for words
///
/// Finds texts that contain every word exactly as it is written, in capitals or not, the newest first.
#[utoipa::path(get, path = "/v1/sessions/{session}/search", tag = "recall",
    params(api::SearchQuery),
    responses((status = OK, description = "The texts that contain all of the words, the newest first", body = api::Recalled)))]
async fn search(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::SearchQuery>,
) -> Result<Answer<api::Recalled>, CallError> {
    let limit = query.limit.unwrap_or(HITS);
    let hits = caller.session.search_words(&caller.viewer(), &query.q, limit).await?;
    Ok(Answer::ok(recalled(caller.session.id(), RecallAnswer { hits, ..RecallAnswer::default() })))
}

/// How many hits a search gives that does not say.
const HITS: usize = 10;

/// What was found, as it is sent.
fn recalled(session: &SessionId, answer: RecallAnswer) -> api::Recalled {
    let RecallAnswer { hits, behind, note, embedder, elsewhere } = answer;
    let mut hits: Vec<_> = hits.into_iter().map(|hit| api::FoundPassage::Here(sent(session, hit))).collect();
    let mut sources = Vec::with_capacity(elsewhere.len());
    for FromElsewhere { source, passages } in elsewhere {
        let error = match passages {
            Ok(passages) => {
                let foreign = passages.into_iter().map(|it| foreign(&source, it));
                hits.extend(foreign.map(api::FoundPassage::Elsewhere));
                None
            }
            Err(error) => Some(error),
        };
        sources.push(api::AskedSource { name: source, error });
    }
    api::Recalled { hits, behind, note: note.map(str::to_owned), embedder, sources }
}

fn foreign(source: &str, passage: ForeignPassage) -> api::ForeignHit {
    let ForeignPassage { text, score, title, url } = passage;
    api::ForeignHit { source: source.to_owned(), text, score, title, url }
}

fn sent(session: &SessionId, hit: RecallHit) -> api::RecallHit {
    let read_on = read_on(session, &hit);
    let why = &hit.why;
    let signals = [("speaker", why.speaker), ("role", why.role), ("date", why.date), ("meaning", why.meaning)];
    let signals = signals.into_iter().filter(|(_, worth)| *worth != 0.0);
    // A message has an id.
    let name = name_in(&hit.subject).filter(|_| hit.source != Source::Message);
    api::RecallHit {
        source: hit.source,
        text: hit.text,
        score: hit.score,
        seq: hit.seq,
        message_id: hit.message_id,
        thread: hit.thread,
        name: name.map(str::to_owned),
        document: name.filter(|_| hit.source == Source::Document).map(str::to_owned),
        collection: hit.collection,
        agent: hit.agent,
        role: hit.role,
        timestamp: hit.at,
        why: api::WhyRecalled {
            signals: signals.map(|(name, worth)| (name.to_owned(), worth)).collect(),
            terms: hit.why.terms,
            near: hit.why.near,
        },
        bytes: api::PassageBytes { start: hit.bytes.start, end: hit.bytes.end, of: hit.of_bytes },
        read_on,
    }
}

/// The name in a subject such as `set:Brief`.
fn name_in(subject: &str) -> Option<&str> {
    subject.split_once(':').map(|(_, name)| name)
}

/// The path of the call that gives the whole of what was found.
fn read_on(session: &SessionId, hit: &RecallHit) -> String {
    let message = hit.message_id.iter().flat_map(|id| ["messages", id.as_str()]);
    let mut path = format!("/v1/sessions/{}", escaped(session.as_str()));
    for segment in std::iter::once(hit.source.path()).chain(name_in(&hit.subject)).chain(message) {
        path.push('/');
        path.push_str(&escaped(segment));
    }
    if let Some(collection) = &hit.collection {
        path.push_str("?collection=");
        path.push_str(collection.as_str());
    }
    path
}
