//! How long reads over HTTP take beside `/healthz`, on one connection whose caller waits for every answer.

use std::time::{Duration, Instant};

use axum::body::Body;
use hyper::{Request, client::conn::http1::SendRequest, header};
use serde_json::json;

use crate::{
    Scale, board,
    client::{connect, post, send},
    report::{Goal, Report},
    rounds::ROUNDS,
    served::Served,
    timing::{median, millis, ms},
};

/// How many messages the session has.
const MESSAGES: usize = 1000;

/// What is read, and how many times as long as `/healthz` it may take, where that is promised.
const READS: [(&str, &str, Option<f64>); 5] = [
    ("the session", "/v1/sessions/one", None),
    ("the newest message", "/v1/sessions/one/threads/main/messages?limit=1", None),
    ("the newest 20 messages", "/v1/sessions/one/threads/main/messages?limit=20", Some(2.0)),
    ("1,000 messages", "/v1/sessions/one/threads/main/messages?limit=1000", None),
    ("all messages", "/v1/sessions/one/threads/main/messages", None),
];

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let served = Served::board(vec!["one".into()], None).await?;
    let (mut sender, connection) = connect(served.address).await?;
    for from in (0..MESSAGES).step_by(100) {
        add(&mut sender, from..from + 100).await?;
    }
    let calls = scale.of(2000) / ROUNDS;
    let (mut healthy, mut read) = (Vec::new(), READS.map(|_| Vec::new()));
    // In turns, with a message more before each, so that whatever else the machine does falls on all of them.
    for round in 0..=ROUNDS {
        add(&mut sender, round..round + 1).await?;
        let health = call(&mut sender, "/healthz", calls).await?;
        for ((_, path, _), times) in READS.iter().zip(&mut read) {
            let took = call(&mut sender, path, calls.div_ceil(4)).await?;
            times.extend(took.into_iter().filter(|_| round > 0));
        }
        healthy.extend(health.into_iter().filter(|_| round > 0));
    }
    drop(sender);
    connection.await??;
    tokio::task::block_in_place(|| served.stop())?;
    let healthy = median(&healthy);
    for ((what, _, most), times) in READS.iter().zip(&read) {
        let (time, what) = (median(times), format!("read over HTTP ÷ `/healthz`: {what}"));
        let (measured, ratio) =
            (format!("{} ms ÷ {} ms", millis(time), millis(healthy)), time.as_secs_f64() / healthy.as_secs_f64());
        match most {
            Some(most) => report.promised(what, ratio, Goal::AtMost(*most), measured),
            None => report.noted(what, format!("{ratio:.2}: {measured}")),
        }
    }
    let thousand = ms(median(&read[3]));
    let measured = format!("{thousand:.2} ms, of which the caller reads and drops the body");
    report.promised("1,000 messages over HTTP, in ms", thousand, Goal::AtMost(1.5), measured);
    Ok(())
}

/// How long each of `calls` calls took.
async fn call(sender: &mut SendRequest<Body>, path: &str, calls: usize) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..calls {
        let request = Request::get(path).header(header::HOST, "localhost").body(Body::empty())?;
        let began = Instant::now();
        send(sender, request).await?;
        times.push(began.elapsed());
    }
    Ok(times)
}

async fn add(sender: &mut SendRequest<Body>, numbers: std::ops::Range<usize>) -> anyhow::Result<()> {
    let messages: Vec<_> = numbers.map(|number| json!({"role": "user", "content": board::text(number)})).collect();
    let body = json!({ "messages": messages }).to_string();
    send(sender, post("/v1/sessions/one/threads/main/messages", body)?).await
}
