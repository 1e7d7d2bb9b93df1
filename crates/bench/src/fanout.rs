//! How long it takes until all listeners have an event.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use callboard_core::{entry::Actor, viewer::Viewer};
use callboard_engine::Filter;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
};

use crate::{
    Scale, board,
    report::{Goal, Report},
    served::Served,
    timing::{ms, percentile},
};

/// How many events are sent, one after the other.
const EVENTS: usize = 20;

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let listeners = scale.of(1000);
    let streams = engine(listeners).await?;
    hold("engine streams", listeners, &streams, report);
    let events = server(listeners).await?;
    hold("server-sent events", listeners, &events, report);
    Ok(())
}

fn hold(what: &str, listeners: usize, times: &[Duration], report: &mut Report) {
    let [half, millis] = [50, 99].map(|percent| ms(percentile(times, percent)));
    let measured =
        format!("{listeners} listeners, {EVENTS} events: half within {half:.1} ms, 99 % within {millis:.1} ms");
    report.promised(format!("one event to 1,000 {what}, 99 % within, in ms"), millis, Goal::AtMost(50.0), measured);
}

/// From the call that adds a message until each stream of the engine has given it.
async fn engine(listeners: usize) -> anyhow::Result<Vec<Duration>> {
    let (_folder, board) = board::temporary()?;
    let session = board::session(&board, "one").await?;
    let (heard, mut hearing) = mpsc::channel(listeners);
    for _ in 0..listeners {
        let mut stream = session.subscribe(Viewer::User, None, Filter::default()).await?;
        let heard = heard.clone();
        tokio::spawn(async move {
            while let Ok(Some(_)) = stream.next().await {
                if heard.send(Instant::now()).await.is_err() {
                    return;
                }
            }
        });
    }
    let mut times = Vec::new();
    for number in 0..EVENTS {
        let began = Instant::now();
        session.execute(Actor::User, board::message(number)).await?;
        gather(&mut hearing, listeners, began, &mut times).await?;
    }
    board.close().await;
    Ok(times)
}

/// From the request that adds a message until each connection has the event.
async fn server(listeners: usize) -> anyhow::Result<Vec<Duration>> {
    let served = Served::board(vec!["one".into()], None).await?;
    let (heard, mut hearing) = mpsc::channel(listeners);
    for _ in 0..listeners {
        let mut connection = TcpStream::connect(served.address).await?;
        connection.write_all(b"GET /v1/sessions/one/events HTTP/1.1\r\nhost: localhost\r\n\r\n").await?;
        read_until(&mut connection, b"\r\n\r\n").await?;
        let heard = heard.clone();
        tokio::spawn(async move {
            // The data of an event ends with an empty line.
            while read_until(&mut connection, b"\n\n").await.is_ok() {
                if heard.send(Instant::now()).await.is_err() {
                    return;
                }
            }
        });
    }
    let mut caller = TcpStream::connect(served.address).await?;
    caller.set_nodelay(true)?;
    let mut times = Vec::new();
    for number in 0..EVENTS {
        let body = serde_json::json!({"messages": [{"role": "user", "content": board::text(number)}]}).to_string();
        let head = "POST /v1/sessions/one/threads/main/messages HTTP/1.1\r\nhost: localhost\r\n\
                    content-type: application/json\r\ncontent-length: ";
        let request = format!("{head}{}\r\n\r\n{body}", body.len());
        let began = Instant::now();
        caller.write_all(request.as_bytes()).await?;
        gather(&mut hearing, listeners, began, &mut times).await?;
        read_until(&mut caller, b"}").await?;
    }
    drop((hearing, caller));
    tokio::task::block_in_place(|| served.stop())?;
    Ok(times)
}

/// Waits until all listeners have the event.
async fn gather(
    hearing: &mut mpsc::Receiver<Instant>,
    listeners: usize,
    began: Instant,
    times: &mut Vec<Duration>,
) -> anyhow::Result<()> {
    for _ in 0..listeners {
        let heard = tokio::time::timeout(Duration::from_secs(30), hearing.recv());
        let at = heard.await.context("a listener got no event")?.context("all listeners have ended")?;
        times.push(at - began);
    }
    Ok(())
}

/// Reads until what was read ends a part.
async fn read_until(connection: &mut TcpStream, end: &[u8]) -> anyhow::Result<()> {
    let mut bytes = Vec::with_capacity(4096);
    loop {
        if connection.read_buf(&mut bytes).await? == 0 {
            bail!("the connection ended");
        }
        if bytes.windows(end.len()).any(|window| window == end) {
            return Ok(());
        }
    }
}
