//! The address of a database: what its URL says.

use std::{fmt, str::FromStr as _, time::Duration};

use tokio_postgres::{Config, config::Host};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::Tls;
use crate::Error;

/// The default schema.
const NAMESPACE: &str = "callboard";

/// The default for the most connections of a handle, besides the one that listens.
const CONNECTIONS: usize = 8;

/// The default timeout for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// The form of a URL, for error messages.
const FORM: &str =
    "write postgres://USER:PASSWORD@HOST:PORT/DATABASE?namespace=NAME, where all but HOST may be left out";

/// A namespace in a database, and how to connect to it. `Display` shows no password.
#[derive(Clone)]
pub(super) struct Address {
    /// How to connect.
    pub(super) config: Config,
    /// The schema.
    pub(super) namespace: String,
    /// The most connections.
    pub(super) connections: usize,
    /// Encrypts connections if the URL asks for it.
    pub(super) tls: MakeRustlsConnect,
}

impl Address {
    /// Parses a URL with the scheme of Postgres.
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let (base, options) = url.split_once('?').unwrap_or((url, ""));
        let (mut namespace, mut connections) = (NAMESPACE.to_owned(), CONNECTIONS);
        let (mut tls, mut rest) = (Tls::default(), Vec::new());
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("namespace", name)) => namespace = checked_namespace(name)?,
                Some(("connections", count)) => connections = checked_connections(count)?,
                Some((name, value)) => match tls.take(name, value) {
                    Some(taken) => taken.map_err(refused)?,
                    None => rest.push(option),
                },
                None => rest.push(option),
            }
        }
        let mut config = parse_config(base, &rest)?;
        config.ssl_mode(tls.mode());
        let mut address = Self { config, namespace, connections, tls: tls.connector().map_err(refused)? };
        address.check()?;
        address.configure();
        Ok(address)
    }

    fn check(&self) -> Result<(), Error> {
        match self.config.get_hosts() {
            [] => return Err(refused(format!("the host is missing: {FORM}"))),
            hosts if hosts.iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) => {
                return Err(refused("an `@` in a password is written %40".to_owned()));
            }
            _ => {}
        }
        Ok(())
    }

    /// Sets the options with which every connection begins.
    fn configure(&mut self) {
        let asked = self.config.get_options().unwrap_or_default().to_owned();
        // Every statement consists of ordered reads of indexes. Statistics of a table, which may be outdated or missing,
        // must not lead the planner to anything else, and each statement is planned once.
        let plans = "-c plan_cache_mode=force_generic_plan -c jit=off -c enable_seqscan=off -c enable_bitmapscan=off \
                     -c enable_hashjoin=off -c enable_mergejoin=off -c enable_material=off";
        let limits = "-c statement_timeout=60s -c lock_timeout=30s -c idle_in_transaction_session_timeout=60s";
        self.config.options(format!("{plans} {limits} {asked} -c search_path={}", self.namespace));
        if self.config.get_connect_timeout().is_none() {
            self.config.connect_timeout(CONNECT);
        }
        if self.config.get_application_name().is_none() {
            self.config.application_name("callboard");
        }
        self.config.keepalives_idle(Duration::from_secs(30)).keepalives_interval(Duration::from_secs(10));
        self.config.keepalives_retries(3);
    }

    /// The channel on which nodes tell each other what changed.
    pub(super) fn channel(&self) -> String {
        format!("callboard:{}", self.namespace)
    }

    /// The user.
    pub(super) fn user(&self) -> &str {
        self.config.get_user().unwrap_or("(that of the operating system)")
    }

    /// The database.
    pub(super) fn database(&self) -> &str {
        self.config.get_dbname().or(self.config.get_user()).unwrap_or_default()
    }

    /// The first host and its port.
    pub(super) fn host(&self) -> String {
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => format!("{name}:{port}"),
            #[cfg(unix)]
            Some(Host::Unix(path)) => format!("{}:{port}", path.display()),
            None => String::new(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}/{}?namespace={}", self.host(), self.database(), self.namespace)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn parse_config(base: &str, options: &[&str]) -> Result<Config, Error> {
    let url = if options.is_empty() { base.to_owned() } else { format!("{base}?{}", options.join("&")) };
    Config::from_str(&url).map_err(|_| {
        // The wrong part may be in the password, so the message does not repeat it.
        let name = |option: &&str| option.split('=').next().unwrap_or_default().to_owned();
        let plain =
            |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let names: Vec<_> = options.iter().map(name).filter(plain).collect();
        if names.is_empty() {
            return refused(FORM.to_owned());
        }
        let known = "`namespace`, `connections`, and these options of libpq: `application_name`, `connect_timeout`, \
                     `options`, `sslmode`, `sslrootcert`, `target_session_attrs` …";
        refused(format!("an option or its value is unknown ({}): use {known}", names.join(", ")))
    })
}

fn checked_namespace(name: &str) -> Result<String, Error> {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let begins_well = name.bytes().next().is_some_and(letter) && !name.starts_with("pg_");
    if begins_well && name.len() <= 48 && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit()) {
        return Ok(name.to_owned());
    }
    Err(refused(format!(
        "{name:?} is no namespace: use up to 48 of a-z, 0-9 and _; it begins with neither a digit nor `pg_`"
    )))
}

fn checked_connections(count: &str) -> Result<usize, Error> {
    let checked = count.parse().ok().filter(|count| (1..=1000).contains(count));
    checked.ok_or_else(|| refused(format!("connections={count:?} is not a number from 1 to 1000")))
}

fn refused(why: String) -> Error {
    Error::cannot_open("the store \"postgres:…\"", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(url: &str) -> String {
        Address::parse(url).unwrap_err().to_string()
    }

    #[test]
    fn a_url_says_where_and_which_namespace() {
        let address =
            Address::parse("postgres://me:se%40cret@db.example:6000/board?namespace=team_7&connections=3").unwrap();
        assert_eq!(address.to_string(), "postgres://db.example:6000/board?namespace=team_7");
        assert_eq!((address.connections, address.user()), (3, "me"));
        assert_eq!(address.config.get_password(), Some(&b"se@cret"[..]));
        let plain = Address::parse("postgresql://localhost").unwrap();
        assert_eq!((plain.namespace.as_str(), plain.connections), (NAMESPACE, CONNECTIONS));
    }

    #[test]
    fn what_is_asked_of_a_connection_stands_before_what_must_be() {
        let address = Address::parse("postgres://h/d?options=-c%20synchronous_commit%3Doff&namespace=n").unwrap();
        let options = address.config.get_options().unwrap();
        assert!(options.ends_with("-c synchronous_commit=off -c search_path=n"), "{options}");
    }

    #[test]
    fn no_password_is_in_what_is_shown() {
        let address = Address::parse("postgres://me:hunter2@h/d").unwrap();
        assert!(!format!("{address:?} {address}").contains("hunter2"));
        for url in [
            "postgres://me:hunter2@x@h/d",
            "postgres://me:hunter2@h:port/d",
            "postgres://me:hunter2@h/d?sslmode=maybe",
            "postgres://me:hunter2@/d",
        ] {
            assert!(!why(url).contains("hunter2"), "{}", why(url));
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_words() {
        assert!(why("postgres:///d").contains("the host is missing"));
        assert!(why("postgres://h/d?namespce=x").contains("(namespce): use `namespace`"));
        assert!(
            why("postgres://h/d?sslmode=maybe").contains("`sslmode` is disable, require, verify-ca or verify-full")
        );
        let missing = why("postgres://h/d?sslmode=verify-full&sslrootcert=/none.pem");
        assert!(missing.contains("the certificates of `sslrootcert=/none.pem` cannot be used"), "{missing}");
        for name in ["", "Big", "1st", "a-b", "pg_x", "a\"b", &"x".repeat(49)] {
            assert!(why(&format!("postgres://h/d?namespace={name}")).contains("is no namespace"), "{name}");
        }
        assert!(why("postgres://h/d?connections=0").contains("from 1 to 1000"));
    }
}
