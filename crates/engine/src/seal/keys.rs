//! Keys: a master key wraps a data key for each session, and the data key seals the secrets of its session.

use std::{fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use callboard_core::{entry::Hash, id::SessionId};
use chacha20poly1305::{
    Key, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, KeyInit as _, Payload},
};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Gives the master keys, whenever one is needed. They may change meanwhile, by a rotation for instance.
pub trait MasterKeys: fmt::Debug + Send + Sync + 'static {
    /// The keys. The first one wraps new keys; the others still open what they once wrapped.
    ///
    /// # Errors
    /// Why there are none, and what to do about it.
    fn keys(&self) -> Result<Vec<MasterKey>, String>;

    /// The keys, to wrap a new key: the first of them may be made now.
    ///
    /// # Errors
    /// Why there are none, and what to do about it.
    fn keys_or_make(&self) -> Result<Vec<MasterKey>, String> {
        self.keys()
    }
}

/// There are no master keys: secrets cannot be sealed.
#[derive(Clone, Copy, Debug)]
pub struct NoMasterKeys;

impl MasterKeys for NoMasterKeys {
    fn keys(&self) -> Result<Vec<MasterKey>, String> {
        Err("no master key is given: set Settings::master_keys".to_owned())
    }
}

/// These master keys.
impl MasterKeys for Vec<MasterKey> {
    fn keys(&self) -> Result<Vec<MasterKey>, String> {
        Ok(self.clone())
    }
}

/// A key that wraps the data keys of sessions.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl MasterKey {
    /// The key with these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A new key that nobody knows; `None` where the machine has no randomness.
    pub fn random() -> Option<Self> {
        random().map(|bytes| Self(Zeroizing::new(bytes)))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// What tells it from other keys. It says nothing of its bytes.
    pub(crate) fn id(&self) -> String {
        let hash = Hash::of(&[b"callboard master key\0", &self.0[..]].concat()).to_string();
        hash.get(..16).unwrap_or_default().to_owned()
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({})", self.id())
    }
}

/// A key that seals the secrets of one session.
#[derive(Clone)]
pub(crate) struct DataKey {
    key: Arc<Zeroizing<[u8; 32]>>,
    /// The session for which it was made, to which all that it seals is bound.
    made_for: SessionId,
}

/// What wrapped keys begin with.
const WRAPPED: &str = "callboard-key:1";

/// What sealed values begin with.
const SEALED: &str = "callboard-sealed:1";

impl DataKey {
    /// A new key; `None` where the machine has no randomness.
    pub(crate) fn random(made_for: SessionId) -> Option<Self> {
        let key = Arc::new(Zeroizing::new(random()?));
        Some(Self { key, made_for })
    }

    /// The key as it is stored, with the id of the master key that opens it.
    pub(crate) fn wrap(&self, master: &MasterKey) -> Option<String> {
        let sealed = encrypt(&master.0, &self.key[..], &bound("data key", &self.made_for, ""))?;
        Some(format!("{WRAPPED}:{}:{sealed}", master.id()))
    }

    /// Opens a wrapped key with whichever of `masters` wrapped it.
    pub(crate) fn unwrap(wrapped: &str, masters: &[MasterKey], made_for: &SessionId) -> Result<Self, String> {
        let parts = wrapped.strip_prefix(WRAPPED).and_then(|rest| rest.strip_prefix(':')?.split_once(':'));
        let Some((id, sealed)) = parts else { return Err("the wrapped key is damaged".to_owned()) };
        let Some(master) = masters.iter().find(|master| master.id() == id) else {
            return Err(format!("the master key {id}, which wrapped its key, is not given"));
        };
        let key = decrypt(&master.0, sealed, &bound("data key", made_for, ""));
        let key = key.and_then(|bytes| <[u8; 32]>::try_from(bytes.as_slice()).ok());
        let key = key.ok_or_else(|| "the wrapped key is damaged, or of another session".to_owned())?;
        Ok(Self { key: Arc::new(Zeroizing::new(key)), made_for: made_for.clone() })
    }

    /// Whether `wrapped` was wrapped by this master key.
    pub(crate) fn is_wrapped_by(wrapped: &str, master: &MasterKey) -> bool {
        wrapped.starts_with(&format!("{WRAPPED}:{}:", master.id()))
    }

    /// Seals a text that is of use for `name` only.
    pub(crate) fn seal(&self, text: &str, name: &str) -> Option<String> {
        let sealed = encrypt(&self.key, text.as_bytes(), &bound("secret", &self.made_for, name))?;
        Some(format!("{SEALED}:{sealed}"))
    }

    /// The text that was sealed for `name`; `None` where it was not sealed with this key for this name.
    pub(crate) fn unseal(&self, sealed: &str, name: &str) -> Option<Zeroizing<String>> {
        let sealed = sealed.strip_prefix(SEALED)?.strip_prefix(':')?;
        let mut bytes = decrypt(&self.key, sealed, &bound("secret", &self.made_for, name))?;
        String::from_utf8(std::mem::take(&mut *bytes)).ok().map(Zeroizing::new)
    }

    /// A hash of `hash` that nobody can compute without the key.
    pub(crate) fn keyed(&self, hash: Hash) -> Hash {
        // HMAC takes keys of any length.
        let Ok(mut code) = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&self.key[..]) else { return hash };
        code.update(b"callboard request\0");
        code.update(&hash.0);
        Hash(code.finalize().into_bytes().into())
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataKey").field("made_for", &self.made_for).finish_non_exhaustive()
    }
}

/// What a ciphertext is bound to: it opens nowhere else.
fn bound(what: &str, session: &SessionId, name: &str) -> Vec<u8> {
    format!("callboard 1\0{what}\0{session}\0{name}").into_bytes()
}

fn encrypt(key: &[u8; 32], text: &[u8], bound: &[u8]) -> Option<String> {
    let nonce: [u8; 24] = random()?;
    let cipher = XChaCha20Poly1305::new(&Key::from(*key));
    let sealed = cipher.encrypt(&XNonce::from(nonce), Payload { msg: text, aad: bound }).ok()?;
    Some(STANDARD_NO_PAD.encode([&nonce[..], &sealed].concat()))
}

fn decrypt(key: &[u8; 32], sealed: &str, bound: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let bytes = STANDARD_NO_PAD.decode(sealed).ok()?;
    let (nonce, sealed) = bytes.split_at_checked(24)?;
    let nonce = <[u8; 24]>::try_from(nonce).ok()?;
    let cipher = XChaCha20Poly1305::new(&Key::from(*key));
    cipher.decrypt(&XNonce::from(nonce), Payload { msg: sealed, aad: bound }).ok().map(Zeroizing::new)
}

/// Bytes that nobody can foretell; `None` where the machine has no randomness: nothing is sealed then.
fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok().map(|()| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(name: &str) -> SessionId {
        name.parse().unwrap()
    }

    #[test]
    fn what_is_sealed_opens_only_with_its_key_in_its_session_under_its_name() {
        let (key, other) = (DataKey::random(session("a")).unwrap(), DataKey::random(session("a")).unwrap());
        let sealed = key.seal("hunter22", "pw").unwrap();
        assert!(!sealed.contains("hunter22"));
        assert_eq!(key.unseal(&sealed, "pw").unwrap().as_str(), "hunter22");
        assert!(key.unseal(&sealed, "pin").is_none(), "another name");
        assert!(other.unseal(&sealed, "pw").is_none(), "another key");
        let elsewhere = DataKey { made_for: session("b"), ..key.clone() };
        assert!(elsewhere.unseal(&sealed, "pw").is_none(), "another session");
        assert_ne!(sealed, key.seal("hunter22", "pw").unwrap(), "the same text is sealed differently each time");
        for damaged in [String::new(), sealed.replace("sealed:1", "sealed:2"), sealed[..sealed.len() - 4].to_owned()] {
            assert!(key.unseal(&damaged, "pw").is_none(), "{damaged}");
        }
    }

    #[test]
    fn a_wrapped_key_opens_with_the_master_key_that_wrapped_it_and_with_no_other() {
        let (old, new) = (MasterKey::random().unwrap(), MasterKey::random().unwrap());
        let key = DataKey::random(session("a")).unwrap();
        let wrapped = key.wrap(&old).unwrap();
        assert!(DataKey::is_wrapped_by(&wrapped, &old) && !DataKey::is_wrapped_by(&wrapped, &new));
        let opened = DataKey::unwrap(&wrapped, &[new.clone(), old.clone()], &session("a")).unwrap();
        assert_eq!(opened.key, key.key);
        let lost = DataKey::unwrap(&wrapped, &[new], &session("a")).unwrap_err();
        assert!(lost.contains("is not given"), "{lost}");
        let moved = DataKey::unwrap(&wrapped, &[old], &session("b")).unwrap_err();
        assert!(moved.contains("of another session"), "{moved}");
    }

    #[test]
    fn keys_are_not_shown() {
        let master = MasterKey::new([7; 32]);
        assert_eq!(format!("{master:?}"), format!("MasterKey({})", master.id()));
        assert!(!format!("{:?}", DataKey::random(session("a")).unwrap()).contains("key:"));
    }
}
