//! Finding an existing endpoint of a model on this machine, over plain HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(2);
/// The default port of Ollama.
const OLLAMA_PORT: u16 = 11434;

/// The body of `path` on a server of this machine.
fn get(port: u16, path: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // With HTTP/1.0 the body is not encoded, and ends with the connection.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("not HTTP")?;
    anyhow::ensure!(head.split(' ').nth(1) == Some("200"), "no success");
    Ok(body.to_owned())
}

/// The base URL of a local Ollama that answers, and a chat model that it has.
pub(crate) fn ollama() -> Option<(String, String)> {
    let list: Value = serde_json::from_str(&get(OLLAMA_PORT, "/v1/models").ok()?).ok()?;
    let mut names = list.get("data")?.as_array()?.iter().filter_map(|model| model.get("id")?.as_str());
    let chats = names.find(|name| !name.contains("embed") && !name.contains("minilm") && !name.contains("bge"))?;
    Some((format!("http://127.0.0.1:{OLLAMA_PORT}/v1"), chats.to_owned()))
}
