//! How access tokens are made and compared.

use callboard_core::{entry::Hash, id::SessionId};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::Error;

/// The secret from which access tokens of sessions are derived.
pub(crate) struct Secret([u8; 32]);

impl Secret {
    /// The given secret, or a random one.
    pub(crate) fn new(given: Option<[u8; 32]>) -> Result<Self, Error> {
        given.map_or_else(random, Ok).map(Self)
    }

    /// The token of a session for `nonce`: the session's id, so that a token of another session is recognised, and a code
    /// that nobody can guess.
    pub(crate) fn token(&self, session: &SessionId, nonce: Hash) -> String {
        let text = session.as_str().replace(':', "~");
        format!("callboard_{text}_{}", self.code(session, nonce))
    }

    fn code(&self, session: &SessionId, nonce: Hash) -> Hash {
        // HMAC takes keys of any length.
        let Ok(mut code) = Hmac::<Sha256>::new_from_slice(&self.0) else { return Hash::default() };
        code.update(session.as_str().as_bytes());
        code.update(&[0]);
        code.update(&nonce.0);
        Hash(code.finalize().into_bytes().into())
    }
}

/// Random bytes that nobody can predict.
pub(crate) fn random() -> Result<[u8; 32], Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(Error::NoRandomness)?;
    Ok(bytes)
}

/// The hash of a token, which is stored in its place. Hashes need no comparison in constant time: whoever measures how many
/// of their bytes agree would still have to find a token with such a hash.
pub(crate) fn hash(token: &str) -> Hash {
    Hash::of(token.as_bytes())
}

/// The session that a token names, if it is one of a session.
pub fn session_of(token: &str) -> Option<SessionId> {
    let (session, _) = token.strip_prefix("callboard_")?.rsplit_once('_')?;
    session.replace('~', ":").parse().ok()
}
