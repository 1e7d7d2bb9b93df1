//! Metrics of the server in the text format of Prometheus. So few need no library.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use axum::http::{Method, StatusCode};

/// Metrics of the server.
#[derive(Default)]
pub(crate) struct Metrics {
    /// By route, method and status.
    calls: Mutex<BTreeMap<(String, &'static str, u16), Count>>,
    pub(crate) connections: Gauge,
    pub(crate) streams: Gauge,
}

#[derive(Default)]
struct Count {
    calls: u64,
    time: Duration,
}

/// How many of something are open. Its clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Gauge(Arc<AtomicI64>);

/// Something that is counted as open until it is dropped.
pub(crate) struct Counted(Gauge);

impl Gauge {
    pub(crate) fn open(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }

    pub(crate) fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// Counts a call. `time` is the time until its answer began.
    pub(crate) fn count(&self, route: &str, method: &Method, status: StatusCode, time: Duration) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let count = calls.entry((route.to_owned(), known(method), status.as_u16())).or_default();
        count.calls += 1;
        count.time += time;
    }

    /// All metrics as text.
    pub(crate) fn text(&self, runs: usize, recall_behind: u64, panics: &[(&str, u64)]) -> String {
        let mut text = String::new();
        gauge(&mut text, "callboard_connections", "Open connections.", self.connections.now());
        gauge(&mut text, "callboard_streams", "Open event streams.", self.streams.now());
        gauge(&mut text, "callboard_runs", "Runs that this server drives.", i64::try_from(runs).unwrap_or(0));
        let help = "Entries that are not in the index of recall yet, of sessions that are read into it for a question.";
        gauge(&mut text, "callboard_recall_behind_entries", help, i64::try_from(recall_behind).unwrap_or(i64::MAX));
        text.push_str("# HELP callboard_task_panics_total Panics of background tasks.\n");
        text.push_str("# TYPE callboard_task_panics_total counter\n");
        for (task, count) in panics {
            let _ = writeln!(text, "callboard_task_panics_total{{task=\"{task}\"}} {count}");
        }
        text.push_str("# HELP callboard_http_requests_total Calls that were answered.\n");
        text.push_str("# TYPE callboard_http_requests_total counter\n");
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let labels = |(route, method, status): &(String, &str, u16)| {
            format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"")
        };
        let labelled: Vec<_> = calls.iter().map(|(call, count)| (labels(call), count)).collect();
        for (labels, count) in &labelled {
            let _ = writeln!(text, "callboard_http_requests_total{{{labels}}} {}", count.calls);
        }
        text.push_str("# HELP callboard_http_request_seconds_total Time until the answers of these calls began.\n");
        text.push_str("# TYPE callboard_http_request_seconds_total counter\n");
        for (labels, count) in &labelled {
            let _ = writeln!(text, "callboard_http_request_seconds_total{{{labels}}} {}", count.time.as_secs_f64());
        }
        text
    }
}

/// The label of a method. Unknown ones share a label, since anybody can make up more.
fn known(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
    known.into_iter().find(|known| method == known).unwrap_or("other")
}

fn gauge(text: &mut String, name: &str, help: &str, value: i64) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
}
