//! Whether a page of messages takes longer where the history is long.

use std::time::{Duration, Instant};

use callboard_core::{
    conversation::{AddMessages, NewMessage, Role},
    entry::Actor,
    id::ThreadId,
    time::Timestamp,
    viewer::Viewer,
};
use callboard_engine::{MessageQuery, Session};

use crate::{
    Scale, board,
    report::{Goal, Report},
    rounds::in_rounds,
    timing::{median, millis},
};

/// How many messages a page has.
const PAGE: usize = 50;

/// One message in so many is an agent's.
const ANSWERS: usize = 5;

/// How often each page is read in a round.
const TIMES: usize = 30;

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let (_folder, board) = board::temporary()?;
    let (few, many) = (1_000, scale.of(1_000_000).max(1_000));
    let [short, long] = [board::session(&board, "short").await?, board::session(&board, "long").await?];
    board::fill_with(&short, few, message).await?;
    board::fill_with(&long, many, message).await?;
    let [of_short, of_long] = [queries(&short, few).await?, queries(&long, many).await?];
    for ((name, in_short), (_, in_long)) in of_short.into_iter().zip(of_long) {
        let times = in_rounds(async || {
            let shorter = read(&short, &in_short, few).await?;
            anyhow::Ok([shorter, read(&long, &in_long, many).await?])
        });
        let [shorter, longer] = times.await?.map(|times| median(&times.concat()));
        let measured = format!("{} ms ÷ {} ms", millis(longer), millis(shorter));
        let ratio = longer.as_secs_f64() / shorter.as_secs_f64();
        report.promised(format!("page of {PAGE}, {name}: {many} messages ÷ {few}"), ratio, Goal::AtMost(1.3), measured);
    }
    board.close().await;
    Ok(())
}

/// When the message of this number was said: one a second.
fn at(number: usize) -> Option<Timestamp> {
    Timestamp::from_millis(1_700_000_000_000 + i64::try_from(number).ok()? * 1000).ok()
}

fn message(number: usize) -> NewMessage {
    let role = if number.is_multiple_of(ANSWERS) { Role::Ai } else { Role::User };
    NewMessage { timestamp: at(number), ..NewMessage::text(role, board::text(number)) }
}

/// The pages that are read: the newest, those before a place and a time in the middle, and that of one role.
async fn queries(session: &Session, messages: usize) -> anyhow::Result<Vec<(&'static str, MessageQuery)>> {
    let newest = MessageQuery { limit: Some(PAGE), ..MessageQuery::default() };
    let middle = MessageQuery { before: at(messages / 2), ..newest.clone() };
    let place = session.messages(&Viewer::User, &ThreadId::main(), middle.clone()).await?.next;
    Ok(vec![
        ("the newest", newest.clone()),
        ("before a place in the middle", MessageQuery { cursor: place, ..newest.clone() }),
        ("before a time in the middle", middle),
        ("of one role", MessageQuery { roles: vec![Role::Ai], ..newest }),
    ])
}

/// How long a page takes each time, with a message more before it.
async fn read(session: &Session, query: &MessageQuery, from: usize) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for number in 0..TIMES {
        session
            .execute(Actor::User, AddMessages { thread: ThreadId::main(), messages: vec![message(from + number)] })
            .await?;
        let start = Instant::now();
        let page = session.messages(&Viewer::User, &ThreadId::main(), query.clone()).await?;
        times.push(start.elapsed());
        anyhow::ensure!(page.messages.len() == PAGE, "a page is not full");
    }
    Ok(times)
}
