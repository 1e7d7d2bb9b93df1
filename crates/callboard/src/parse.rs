//! Parsers for command-line values.

use std::{num::NonZeroU64, time::Duration};

use callboard_engine::core::{
    agent::{Agent, AgentRole},
    audience::Audience,
    conversation::Role as MessageRole,
    id::{AgentName, BadName, CollectionName, Seq},
    prompt::LayoutName,
    time::Timestamp,
};
use callboard_store::Durability;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;

/// `NAME:ROLE`, or `NAME` alone for a worker.
pub(crate) fn agent(text: &str) -> Result<Agent, String> {
    let (name, word) = text.rsplit_once(':').unwrap_or((text, AgentRole::Worker.as_str()));
    let no_role = || format!("there is no role {word:?}: an agent is a manager or a worker");
    let role = AgentRole::named(word).ok_or_else(no_role)?;
    let name = name.parse().map_err(|error: BadName| error.to_string())?;
    Ok(Agent { name, role, title: None, instructions: None, model: None, tools: Vec::new() })
}

/// `all`, `none`, or names separated by commas.
pub(crate) fn audience(text: &str) -> Result<Audience, String> {
    match text.trim() {
        "all" => Ok(Audience::All),
        "none" | "" => Ok(Audience::None),
        names => {
            let names = names.split(',').map(str::parse::<AgentName>).collect::<Result<Vec<_>, _>>();
            names.map(Audience::of).map_err(|error| error.to_string())
        }
    }
}

/// The names of collections. By this name they are one value of an option; a `Vec` would be several.
pub(crate) type Collections = Vec<CollectionName>;

/// Names separated by commas; none where there is nothing.
pub(crate) fn collections(text: &str) -> Result<Collections, String> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(str::parse).collect::<Result<_, BadName>>().map_err(|error| error.to_string())
}

/// A whole number followed by `s`, `m`, `h` or `d`; without a unit, seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit_seconds) =
        match text.strip_suffix(['s', 'm', 'h', 'd']).map(|number| (number, text.as_bytes().last())) {
            Some((number, Some(b'm'))) => (number, 60),
            Some((number, Some(b'h'))) => (number, 60 * 60),
            Some((number, Some(b'd'))) => (number, 24 * 60 * 60),
            Some((number, _)) => (number, 1),
            None => (text, 1),
        };
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit_seconds));
    let seconds = seconds.ok_or_else(|| format!("{text:?} is not a duration: use for instance 90s, 30m, 24h or 7d"))?;
    Ok(Duration::from_secs(seconds))
}

/// The role of a message, in any of its names.
pub(crate) fn message_role(text: &str) -> Result<MessageRole, String> {
    let role = serde_json::from_value(serde_json::Value::from(text));
    role.map_err(|_| format!("there is no role {text:?}: use user, assistant, system or tool"))
}

/// A whole number of 0 or more.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "use a whole number, 0 or more".to_owned())
}

/// A limit under which something can be done: a whole number of 1 or more.
pub(crate) fn room(text: &str) -> Result<u64, String> {
    text.parse().map(NonZeroU64::get).map_err(|_| "use a whole number, 1 or more".to_owned())
}

/// At most how many.
pub(crate) fn limit(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "a limit is a whole number, 0 or more".to_owned())
}

/// A time: RFC 3339, or milliseconds since 1970.
pub(crate) fn time(text: &str) -> Result<Timestamp, String> {
    callboard_api::read_time(text).map_err(|error| error.to_string())
}

/// The name of a layout.
pub(crate) fn layout(text: &str) -> Result<LayoutName, String> {
    LayoutName::named(text).ok_or_else(|| format!("there is no layout {text:?}: use team, plain or director"))
}

/// One of these words, each the name of a value in the API.
pub(crate) fn one_of<T>(words: PossibleValuesParser) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    words.try_map(|word| serde_json::from_value(serde_json::Value::from(word)))
}

/// Words, each with what it means.
pub(crate) fn explained<const N: usize>(words: [(&'static str, &'static str); N]) -> PossibleValuesParser {
    words.map(|(word, meaning)| PossibleValue::new(word).help(meaning)).into()
}

/// What acknowledged writes survive.
pub(crate) fn durability() -> impl TypedValueParser<Value = Durability> {
    let words = explained([("normal", "A crash of the process"), ("full", "A power failure too")]);
    words.map(|word| if word == "full" { Durability::Full } else { Durability::Normal })
}

/// The number of an entry.
pub(crate) fn seq(text: &str) -> Result<Seq, String> {
    text.parse().map(Seq).map_err(|_| format!("{text:?} is not the number of an entry"))
}

/// `KEY=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = pair.ok_or_else(|| format!("{text:?} is not KEY=VALUE"))?;
    Ok((key.to_owned(), value.to_owned()))
}

/// The interval between sweeps; `None` turns them off. By this name it is always there; an `Option` need not be given.
pub(crate) type Sweep = Option<Duration>;

/// A whole number of seconds above 0, or `off`.
pub(crate) fn sweep(text: &str) -> Result<Sweep, String> {
    match text {
        "off" => Ok(None),
        text => match text.parse::<NonZeroU64>() {
            Ok(seconds) => Ok(Some(Duration::from_secs(seconds.get()))),
            Err(_) => Err(format!("{text:?} is not a whole number of seconds above 0, nor \"off\"")),
        },
    }
}

/// An origin as browsers send it: a scheme, a host, and a port where it is another than usual.
pub(crate) fn origin(text: &str) -> Result<String, String> {
    let (scheme, host) = text.split_once("://").unwrap_or_default();
    let is_origin = ["http", "https"].contains(&scheme) && !host.is_empty() && !host.contains(['/', '?', '#', '@']);
    is_origin.then(|| text.to_owned()).ok_or_else(|| {
        format!("{text:?} is not an origin: use http:// or https:// and a host, for instance https://board.example")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_a_name_and_perhaps_a_role() {
        let role = |text: &str| agent(text).map(|agent| (agent.name.to_string(), agent.role));
        assert_eq!(role("lead:manager"), Ok(("lead".to_owned(), AgentRole::Manager)));
        assert_eq!(role("critic"), Ok(("critic".to_owned(), AgentRole::Worker)));
        assert!(role("critic:boss").unwrap_err().contains("a manager or a worker"));
        assert!(role("all:worker").unwrap_err().contains("reserved"));
    }

    #[test]
    fn an_audience_is_a_word_or_names() {
        let names = |text: &str| audience(text).map(|audience| audience.to_string());
        assert_eq!(names("all"), Ok("all".to_owned()));
        assert_eq!(names(""), Ok("none".to_owned()));
        assert_eq!(names("b, a"), Ok("a, b".to_owned()));
        assert!(names("a,all").is_err());
    }

    #[test]
    fn a_sweep_is_every_so_many_seconds_or_off() {
        assert_eq!(sweep("5"), Ok(Some(Duration::from_secs(5))));
        assert_eq!(sweep("off"), Ok(None));
        assert!(sweep("0").is_err() && sweep("never").is_err());
    }

    #[test]
    fn a_limit_leaves_room_for_something() {
        assert_eq!(room("1"), Ok(1));
        assert!(room("0").is_err() && room("-1").is_err() && room("none").is_err());
    }

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        let seconds = |text: &str| duration(text).map(|it| it.as_secs());
        assert_eq!(
            [seconds("24h"), seconds("7d"), seconds("30m"), seconds("0s"), seconds("9")].map(Result::unwrap),
            [86_400, 604_800, 1800, 0, 9]
        );
        for wrong in ["", "h", "-1h", "1.5h", "1w", "99999999999999999999", "999999999999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_origin_has_a_scheme_and_a_host_and_nothing_behind() {
        assert!(origin("https://board.example").is_ok() && origin("http://localhost:5173").is_ok());
        for wrong in ["board.example", "https://", "https://board.example/", "file:///x", "https://me@board.example"] {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }
}
