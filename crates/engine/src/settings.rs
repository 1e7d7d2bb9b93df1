//! What a board is told when it is opened: time and chance come from here.

use std::{fmt, sync::Arc, time::Duration};

use callboard_core::{entry::SaltSeed, session::Ttl};
use callboard_store::{Clock, Lease, SystemClock};
use callboard_tasks::Supervisor;

use crate::{
    prompt_memory::PromptMemory,
    recall::RecallSettings,
    seal::keys::{MasterKeys, NoMasterKeys},
    upkeep::{archive::Archive, lease::LEASE},
};

/// What a board is told when it is opened.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Says when entries are decided. Expiry goes by the store's clock.
    pub clock: Arc<dyn Clock>,
    /// Makes ids that nobody has yet.
    pub random: Arc<dyn Random>,
    /// How long a session lives without being used, where it does not say so itself. By default it never expires.
    pub ttl: Ttl,
    /// How long a session stays in memory after its last use.
    pub idle: Duration,
    /// After how many entries a snapshot is written.
    pub snapshot_every: u64,
    /// What is remembered of prompts, so that the next ones are quick.
    pub prompt_memory: PromptMemory,
    /// Who drives the runs that begin or go on through this board, and for how long nobody else takes them over: one name
    /// a board. A made-up one, unless it is given.
    pub lease: Lease,
    /// How often what has expired is removed from the store; absent, that is left to others.
    pub sweep: Option<Duration>,
    /// Where expired sessions are archived before they are removed; absent, they are not.
    pub archive: Option<Arc<Archive>>,
    /// The keys under which the keys of sessions are stored, without which no secret can be kept.
    pub master_keys: Arc<dyn MasterKeys>,
    /// Where the indices of recall are, and what they may take.
    pub recall: RecallSettings,
    /// Watches over what goes on in the background. Give it to the store as well, so that it knows of all.
    pub supervisor: Supervisor,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            ttl: Ttl::Never,
            idle: Duration::from_secs(60),
            snapshot_every: 1000,
            prompt_memory: PromptMemory::default(),
            lease: Lease { holder: format!("{:016x}", SystemRandom.next()).into(), lasts: LEASE },
            sweep: Some(Duration::from_secs(60)),
            archive: None,
            master_keys: Arc::new(NoMasterKeys),
            recall: RecallSettings::default(),
            supervisor: Supervisor::default(),
        }
    }
}

impl Settings {
    /// What the salts of the entries of one decision are made of.
    pub(crate) fn salt(&self) -> SaltSeed {
        SaltSeed([self.random.next(), self.random.next()])
    }

    /// A number that tells the entries of one writer from those of another.
    pub(crate) fn nonce(&self) -> Option<u32> {
        u32::try_from(self.random.next() >> 32).ok()
    }
}

/// Gives random numbers.
pub trait Random: fmt::Debug + Send + Sync + 'static {
    /// A number that nobody can foretell.
    fn next(&self) -> u64;
}

/// The random numbers of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    #[expect(clippy::expect_used, reason = "a number that is known beforehand would protect nothing")]
    fn next(&self) -> u64 {
        getrandom::u64().expect("the system gives random numbers: without them, salts and nonces could be guessed")
    }
}
