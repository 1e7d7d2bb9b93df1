//! Rights, as types, and who has them. The table of them stands with the [list of calls](super).

use callboard_core::session::{Grant, Share};
use callboard_core::state::State;

/// The rank of a caller in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// A worker.
    Worker,
    /// The manager.
    Manager,
    /// The user.
    User,
}

/// Who may make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Only the user.
    User,
    /// The user and the manager.
    Manager,
    /// The user, the manager, and workers if the session grants it.
    Granted(Grant),
    /// The user, the manager, and workers if the session shares it.
    Shared(Share),
    /// The user and every agent of the team. Each sees only what it may see.
    Worker,
}

/// A right, as a type: a call has to name the right that it needs.
pub(crate) trait Right: Send + Sync + 'static {
    /// The thing, for messages.
    const RESOURCE: &'static str;
    /// What is done with the thing, for messages.
    const VERB: &'static str;
    /// Who has the right.
    const WHO: Who;
}

/// Makes the table: a right, the thing, what is done with it, and who may do it.
macro_rules! rights {
    ($($right:ident, $resource:literal, $verb:literal, $who:expr;)*) => {
        $(
            #[doc = concat!($verb, " ", $resource)]
            pub(crate) struct $right;

            impl Right for $right {
                const RESOURCE: &'static str = $resource;
                const VERB: &'static str = $verb;
                const WHO: Who = $who;
            }
        )*
    };
}

impl Who {
    /// Whether a caller of this rank has the right, in a session with this state.
    pub(crate) fn allows(self, rank: Rank, state: &State) -> bool {
        let settings = &state.session.settings;
        match self {
            Self::User => rank == Rank::User,
            Self::Manager => rank >= Rank::Manager,
            Self::Granted(grant) => rank >= Rank::Manager || settings.grant.contains(&grant),
            Self::Shared(share) => rank >= Rank::Manager || settings.share.contains(&share),
            Self::Worker => true,
        }
    }

    /// Whom to ask for it.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::User | Self::Worker => "ask the user",
            Self::Manager | Self::Granted(_) | Self::Shared(_) => "ask the manager or the user",
        }
    }
}

pub(super) use rights;
