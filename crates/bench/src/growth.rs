//! Whether an append costs more the longer the history is, and a message the more are added with it.

use std::{
    slice::from_ref,
    time::{Duration, Instant},
};

use callboard_core::{
    conversation::{AddMessages, NewMessage, Role},
    entry::Actor,
    id::ThreadId,
};
use callboard_engine::{Board, Session};

use crate::{
    Scale, append, board,
    report::{Goal, Report},
    rounds::{ROUNDS, in_rounds, ratio, typical},
    timing::ms,
};

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let (_folder, board) = board::temporary()?;
    let (few, many) = (scale.of(1000), scale.of(1_000_000));
    let sessions = [board::session(&board, "short").await?, board::session(&board, "long").await?];
    for (session, messages) in sessions.iter().zip([few, many]) {
        board::fill(session, messages).await?;
    }
    let [short, long] = &sessions;
    let count = scale.of(1000);
    let [at_few, at_many] = in_rounds(async || {
        anyhow::Ok([append::many(from_ref(short), count).await?, append::many(from_ref(long), count).await?])
    })
    .await?;
    let measured = format!("{} beside {}", typical(&at_many), typical(&at_few));
    let what = format!("time of an append at {many} messages ÷ at {few}");
    report.promised(what, ratio(&at_few, &at_many), Goal::AtMost(1.3), measured);

    // What a session keeps in memory is its state: how large that is, its text tells.
    let [small, large] = [state_bytes(short).await?, state_bytes(long).await?];
    let measured = format!("{large} bytes of JSON beside {small}");
    let what = format!("state of a session of {many} messages ÷ of {few}");
    report.promised(what, large as f64 / small as f64, Goal::AtMost(1.3), measured);

    // Each message has an id of its own, which no other of the same call may have.
    let (few, many) = (scale.of(2000), scale.of(20_000));
    let [at_few, at_many] = [time_to_add(&board, few).await?, time_to_add(&board, many).await?];
    let measured = format!("{:.1} ms beside {:.1} ms", ms(at_many), ms(at_few));
    let each = |time: Duration, count: usize| time.as_secs_f64() / count as f64;
    let what = format!("time of a message of {many} in one call ÷ of {few}");
    report.promised(what, each(at_many, many) / each(at_few, few), Goal::AtMost(2.0), measured);
    board.close().await;
    Ok(())
}

/// How long it takes to add so many messages in one call, at best.
async fn time_to_add(board: &Board, count: usize) -> anyhow::Result<Duration> {
    let mut best = Duration::MAX;
    for round in 0..ROUNDS {
        let session = board::session(board, &format!("call-{count}-{round}")).await?;
        let message = |n: usize| -> anyhow::Result<NewMessage> {
            let message_id = Some(format!("id-{n}").parse()?);
            Ok(NewMessage { message_id, ..NewMessage::text(Role::User, "x") })
        };
        let messages = (0..count).map(message).collect::<anyhow::Result<_>>()?;
        let began = Instant::now();
        session.execute(Actor::User, AddMessages { thread: ThreadId::main(), messages }).await?;
        best = best.min(began.elapsed());
    }
    Ok(best)
}

async fn state_bytes(session: &Session) -> anyhow::Result<usize> {
    Ok(serde_json::to_vec(&*session.state().await?)?.len())
}
