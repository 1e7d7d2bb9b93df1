//! Encrypted connections: to a server whose certificate was made by an authority of our own.

use callboard_store::{
    Error, PostgresStore, Settings, Store, conformance::journal_writer::JournalWriter, open, testing::PostgresServer,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::sql;

/// A server for this name, and a file with the certificate of who vouches for it.
struct Stage {
    server: Option<PostgresServer>,
    folder: tempfile::TempDir,
}

impl Stage {
    async fn of(name: &str) -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("authority.pem"), authority.pem()).unwrap();
        let (certificate, key) = (certificate.pem(), key.serialize_pem());
        let start = move || PostgresServer::start_encrypting(&certificate, &key);
        Self { server: Some(tokio::task::spawn_blocking(start).await.unwrap()), folder }
    }

    fn url(&self, user: &str, options: &str) -> String {
        let port = self.server.as_ref().unwrap().port();
        let root = self.folder.path().join("authority.pem").display().to_string();
        let options = options.replace("ROOT", &format!("sslrootcert={root}"));
        format!("postgres://{user}@127.0.0.1:{port}/postgres?namespace=n&{options}")
    }

    async fn refusal(&self, user: &str, options: &str) -> String {
        match PostgresStore::open(&self.url(user, options), Settings::default()).await {
            Err(error @ Error::CannotOpen { .. }) => error.to_string(),
            other => panic!("expected a refusal, not {other:?}"),
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let server = self.server.take();
        std::thread::spawn(move || drop(server)).join().unwrap();
    }
}

/// How many connections of a store are encrypted, and how many there are.
async fn encrypted(store: &dyn Store, url: &str) -> (usize, usize) {
    store.now().await.unwrap();
    let (plain, name) = url.split_once("&application_name=").unwrap();
    let name = name.split('&').next().unwrap();
    let found = "SELECT s.ssl::text FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name";
    let found = sql(plain, &format!("{found} = '{name}'")).await;
    (found.iter().filter(|ssl| *ssl == "true").count(), found.len())
}

#[tokio::test]
async fn connections_are_encrypted_where_the_url_asks_for_it() {
    let stage = Stage::of("127.0.0.1").await;
    for options in ["sslmode=require", "sslmode=verify-ca&ROOT", "sslmode=verify-full&ROOT"] {
        let url = stage.url("postgres", &format!("application_name=in_{}&{options}", options.len()));
        let store = open(&url, Settings::default()).await.unwrap();
        // It is also heard what others change, on a connection of its own.
        let mut changes = store.watch();
        let other = open(&url, Settings::default()).await.unwrap();
        let journal = JournalWriter::with(&other, &format!("s{}", options.len()), "a b").await;
        assert_eq!(changes.recv().await.unwrap(), journal.session);
        let (some, all) = encrypted(&*store, &url).await;
        assert!(some == all && all >= 4, "{options}: {some} of {all}");
        assert_eq!(journal.texts().await, ["a", "b"]);
    }
    let url = stage.url("postgres", "application_name=in_15&sslmode=disable");
    let store = open(&url, Settings::default()).await.unwrap();
    assert_eq!(encrypted(&*store, &url).await.0, 0);
}

#[tokio::test]
async fn who_is_not_trusted_is_refused_in_words() {
    let stage = Stage::of("elsewhere.example").await;
    let words = stage.refusal("postgres", "sslmode=verify-full&ROOT").await;
    assert!(words.contains("is not trusted") && words.contains("use the host name of the certificate"), "{words}");
    let words = stage.refusal("postgres", "sslmode=verify-ca").await;
    assert!(words.contains("is not trusted") || words.contains("this system has no root certificates"), "{words}");
    assert!(words.contains("sslrootcert="), "{words}");
    PostgresStore::open(&stage.url("postgres", "sslmode=verify-ca&ROOT"), Settings::default()).await.unwrap();

    sql(stage.url("postgres", "").trim_end_matches('&'), "CREATE ROLE discreet LOGIN SUPERUSER").await;
    let words = stage.refusal("discreet", "sslmode=disable").await;
    assert!(words.contains("requires encryption") && words.contains("sslmode=verify-full"), "{words}");
    PostgresStore::open(&stage.url("discreet", "sslmode=require"), Settings::default()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_does_not_encrypt_is_not_talked_to_in_the_open() {
    let server = tokio::task::spawn_blocking(PostgresServer::shared).await.unwrap();
    let url = format!("{}&sslmode=require", server.url("n"));
    let words = PostgresStore::open(&url, Settings::default()).await.unwrap_err().to_string();
    assert!(words.contains("does not encrypt: set `ssl = on` there"), "{words}");
}
