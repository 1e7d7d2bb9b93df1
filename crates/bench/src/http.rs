//! How fast messages are taken over HTTP, compared with a server that answers the same requests with their bodies, and
//! with one that inserts them into SQLite.

use std::net::SocketAddr;

use crate::{
    Scale, board,
    client::{connect, post, send},
    report::{Goal, Report},
    rounds::{Rate, at_once, in_rounds, ratio, typical},
    served::Served,
};

const CONNECTIONS: usize = 32;
const SESSIONS: usize = 16;

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let sessions = (0..SESSIONS).map(|number| format!("s{number}")).collect();
    let served = Served::board(sessions, None).await?;
    let echo = Served::echo().await?;
    let bare = Served::bare(&folder.path().join("bare.db")).await?;
    let each = scale.of(12_800) / CONNECTIONS;
    let [echoed, taken, inserted] = in_rounds(async || {
        anyhow::Ok([
            call(echo.address, each).await?,
            call(served.address, each).await?,
            call(bare.address, each).await?,
        ])
    })
    .await?;
    served.stop()?;
    echo.stop()?;
    bare.stop()?;
    let measured = format!(
        "{} beside {}; 32 connections, 16 sessions, client and server on runtimes of their own in one process",
        typical(&taken),
        typical(&echoed)
    );
    report.promised("append over HTTP ÷ echo, `normal`", ratio(&taken, &echoed), Goal::AtLeast(0.5), measured);
    let measured = format!(
        "{:.2}: {} beside {}; the body is inserted in a transaction of its own, and neither read nor counted nor checked",
        ratio(&taken, &inserted),
        typical(&taken),
        typical(&inserted)
    );
    report.noted("append over HTTP ÷ a server that inserts the body into SQLite, `normal`", measured);
    Ok(())
}

/// Adds messages, `each` over each connection, whose caller waits for every answer.
async fn call(address: SocketAddr, each: usize) -> anyhow::Result<Rate> {
    let mut connections = Vec::new();
    for number in 0..CONNECTIONS {
        let (sender, _) = connect(address).await?;
        connections.push((sender, format!("/v1/sessions/s{}/threads/main/messages", number % SESSIONS)));
    }
    let bodies: Vec<_> = (0..each).map(body).collect();
    let callers = connections.into_iter().map(|(mut sender, path)| {
        let bodies = bodies.clone();
        async move {
            for body in bodies {
                send(&mut sender, post(&path, body)?).await?;
            }
            anyhow::Ok(())
        }
    });
    at_once(each * CONNECTIONS, callers).await
}

fn body(number: usize) -> bytes::Bytes {
    serde_json::json!({"messages": [{"role": "user", "content": board::text(number)}]}).to_string().into()
}
