//! Log-ins of browsers. A cookie holds a random handle in the place of a token; what it stands for is in memory.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, header};
use callboard_core::entry::Hash;

use crate::{Error, secret};

/// The name of the cookie.
const COOKIE: &str = "callboard";

/// How long a log-in lasts that is not used.
const LASTS: Duration = Duration::from_secs(12 * 60 * 60);

/// The most log-ins that are kept.
const MOST: usize = 10_000;

/// The log-ins, by the hashes of their handles.
#[derive(Default)]
pub(crate) struct Logins(Mutex<HashMap<Hash, Login>>);

struct Login {
    token: String,
    used: Instant,
}

impl Logins {
    /// Lets a browser in with a token. Returns the handle. At the limit the one that was not used for longest ends.
    pub(crate) fn begin(&self, token: String) -> Result<String, Error> {
        let handle = Hash(secret::random()?).to_string();
        let mut all = self.lock();
        all.retain(|_, login| login.used.elapsed() < LASTS);
        if all.len() >= MOST {
            let oldest = all.iter().min_by_key(|(_, login)| login.used).map(|(key, _)| *key);
            oldest.and_then(|key| all.remove(&key));
        }
        all.insert(secret::hash(&handle), Login { token, used: Instant::now() });
        Ok(handle)
    }

    /// The token for which the cookie of a request stands, if it came from a page of this server.
    pub(crate) fn of(&self, headers: &HeaderMap) -> Option<String> {
        let key = key(headers)?;
        let mut all = self.lock();
        let login = all.get_mut(&key).filter(|login| login.used.elapsed() < LASTS)?;
        login.used = Instant::now();
        Some(login.token.clone())
    }

    /// Ends the log-in of a request.
    pub(crate) fn end(&self, headers: &HeaderMap) {
        if let Some(key) = key(headers) {
            self.lock().remove(&key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Hash, Login>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The hash of the handle in the cookie. It counts only where the browser says that a page of this server sends it.
fn key(headers: &HeaderMap) -> Option<Hash> {
    if headers.get("sec-fetch-site")? != "same-origin" {
        return None;
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, handle)| secret::hash(handle))
}

/// The cookie that a browser is to keep, for pages below `path`; without a handle it forgets the cookie.
pub(crate) fn cookie(handle: Option<&str>, path: &str, is_secure: bool) -> String {
    let (handle, age) = (handle.unwrap_or_default(), if handle.is_some() { "" } else { "; Max-Age=0" });
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{COOKIE}={handle}; Path={path}/; HttpOnly; SameSite=Strict{secure}{age}")
}
