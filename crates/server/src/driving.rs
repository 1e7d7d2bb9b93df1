//! How much of the work of sessions a server takes up.

/// Which runs a server drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driving {
    /// All running ones that no other server drives.
    All,
    /// Only those that are started or resumed here.
    Started,
    /// None: other servers drive them.
    None,
}

/// The most abandoned runs that are taken over in one call, so that several servers share them.
pub(crate) const TAKEN_AT_ONCE: usize = 16;
