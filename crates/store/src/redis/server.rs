//! Checking the server: its version, its settings, and the format of the namespace.

use std::collections::HashMap;

use super::{
    address::Address,
    client::Client,
    command::{Command, Reply},
    error::RedisFailure,
};
use crate::{Durability, Error};

/// The oldest supported version. In older ones a script that reads the time cannot write.
const OLDEST: u32 = 7;

/// The format that this version reads and writes.
const FORMAT: i64 = 6;

/// The settings and properties of the server that matter, by the server's names.
struct Server(HashMap<String, String>);

/// Checks the server. Returns its durability, which must be at least `asked`, and warnings.
pub(super) async fn check(
    client: &Client,
    address: &Address,
    asked: Durability,
) -> Result<(Durability, Vec<String>), Error> {
    let refuse = |why: String| Error::cannot_open(address.shown(), why);
    if !client.transport.is_native() {
        // Over REST the settings cannot be read.
        let promised = address.options.durability.unwrap_or(Durability::Normal);
        return if promised >= asked {
            Ok((promised, Vec::new()))
        } else {
            Err(refuse(
                "over REST its durability cannot be checked: say what the provider promises with ?durability=full"
                    .to_owned(),
            ))
        };
    }
    let server = Server::ask(client).await.map_err(|fault| unusable(address, fault))?;
    server.refusal(address).map_or(Ok(()), |why| Err(refuse(why)))?;
    let given = server.durability();
    let asked = address.options.durability.unwrap_or(asked);
    if given < asked { Err(refuse(server.too_little(asked))) } else { Ok((given, server.warnings(address))) }
}

/// Refuses a namespace of another version. Writes the format into a new one, which also shows that the server can be written to.
pub(super) async fn check_format(client: &Client, address: &Address) -> Result<(), Error> {
    let found = async {
        client.call(&Command::new(["SET", &client.layout.shared("format"), &FORMAT.to_string(), "NX"])).await?;
        client.call(&Command::new(["GET", &client.layout.shared("format")])).await?.number()
    };
    let found = found.await.map_err(|fault| unusable(address, fault))?;
    Error::check_format(address.shown(), found, FORMAT)
}

/// The error for a server that cannot be used.
pub(super) fn unusable(address: &Address, fault: RedisFailure) -> Error {
    Error::cannot_open(address.shown(), fault.to_string())
}

impl Server {
    async fn ask(client: &Client) -> Result<Self, RedisFailure> {
        let mut facts = HashMap::new();
        for section in ["server", "replication", "persistence", "memory"] {
            let info = client.call(&Command::new(["INFO", section])).await?.text()?;
            let lines = info.lines().filter_map(|line| line.split_once(':'));
            facts.extend(lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())));
        }
        for setting in ["appendonly", "appendfsync", "maxmemory-policy"] {
            // Some services forbid this command. Then INFO has to suffice.
            if let Ok(Reply::List(found)) = client.call(&Command::new(["CONFIG", "GET", setting])).await
                && let Ok([_, value]) = Reply::List(found).exactly()
            {
                facts.insert(setting.to_owned(), value.text()?);
            }
        }
        Ok(Self(facts))
    }

    fn says(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Why the server cannot be used, if it cannot.
    fn refusal(&self, address: &Address) -> Option<String> {
        let version = self.says("redis_version").unwrap_or("0");
        let major = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
        if major < OLDEST {
            return Some(format!(
                "it has version {version}, and version {OLDEST} or newer is needed: update the server"
            ));
        }
        if self.says("role") == Some("slave") {
            return Some("it is a replica, which is read-only: name the primary".to_owned());
        }
        let policy = self.policy();
        if policy != "noeviction" && !address.options.allow_eviction {
            return Some(format!(
                "it drops data when its memory is full (maxmemory-policy {policy}), even acknowledged data: set \
                 `maxmemory-policy noeviction`, or add ?allow_eviction=true to the URL"
            ));
        }
        None
    }

    /// What it does when its memory is full.
    fn policy(&self) -> &str {
        self.says("maxmemory-policy").or(self.says("maxmemory_policy")).unwrap_or("noeviction")
    }

    /// Warnings about settings that the URL allows and that put data at risk.
    fn warnings(&self, address: &Address) -> Vec<String> {
        let (at, policy) = (address.shown(), self.policy());
        let evicts = format!(
            "{at} drops data when its memory is full (maxmemory-policy {policy}), as the URL allows: set \
             `maxmemory-policy noeviction` where that matters"
        );
        let forgets = format!(
            "{at} keeps data in memory only (appendonly no), as the URL allows: set `appendonly yes` where that matters"
        );
        let warnings = [(policy != "noeviction", evicts), (!self.appends(), forgets)];
        warnings.into_iter().filter(|(holds, _)| *holds).map(|(_, warning)| warning).collect()
    }

    /// The durability that the settings give.
    fn durability(&self) -> Durability {
        match (self.appends(), self.says("appendfsync")) {
            (false, _) => Durability::Process,
            (true, Some("always")) => Durability::Full,
            (true, _) => Durability::Normal,
        }
    }

    /// Whether it writes an append-only file.
    fn appends(&self) -> bool {
        self.says("appendonly").map_or(self.says("aof_enabled") == Some("1"), |setting| setting == "yes")
    }

    /// The message for a server with less durability than `asked`.
    fn too_little(&self, asked: Durability) -> String {
        match asked {
            Durability::Full => {
                "to survive a loss of power it needs the settings `appendonly yes` and `appendfsync always`: set them, or \
                 ask for normal durability"
            }
            Durability::Normal | Durability::Process => {
                "it keeps data in memory only: set `appendonly yes`, or add ?durability=process to the URL if data may \
                 be lost with the server"
            }
        }
        .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(facts: &[(&str, &str)]) -> Server {
        Server(facts.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    #[test]
    fn durability_is_what_the_settings_give() {
        for (facts, expected) in [
            (&[("appendonly", "no")][..], Durability::Process),
            (&[("appendonly", "yes"), ("appendfsync", "everysec")], Durability::Normal),
            (&[("appendonly", "yes"), ("appendfsync", "always")], Durability::Full),
            (&[("aof_enabled", "1")], Durability::Normal),
            (&[], Durability::Process),
        ] {
            assert_eq!(server(facts).durability(), expected, "{facts:?}");
        }
    }

    #[test]
    fn a_server_that_will_not_do_is_refused_with_what_would() {
        let address = Address::parse("redis://host").unwrap();
        let why = |facts: &[(&str, &str)]| server(facts).refusal(&address).unwrap();
        assert_eq!(
            why(&[("redis_version", "6.2.14")]),
            "it has version 6.2.14, and version 7 or newer is needed: update the server"
        );
        assert!(why(&[("redis_version", "7.0"), ("role", "slave")]).contains("name the primary"));
        let evicts = [("redis_version", "8.0"), ("maxmemory-policy", "allkeys-lru")];
        assert!(why(&evicts).contains("`maxmemory-policy noeviction`"));
        let allowed = Address::parse("redis://host?allow_eviction=true").unwrap();
        assert_eq!(server(&evicts).refusal(&allowed), None);
    }
}
