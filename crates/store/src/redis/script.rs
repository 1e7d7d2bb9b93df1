//! The scripts that the server executes. The files in `scripts/` document their arguments and results.

use std::sync::LazyLock;

/// A script. Its code begins with `scripts/session.lua`.
pub(super) struct Script {
    /// The complete code.
    pub(super) code: &'static str,
    /// The hash by which a server finds a script that it has run before.
    pub(super) hash: LazyLock<String>,
}

/// Declares scripts by the names of their files.
macro_rules! scripts {
    ($($name:ident: $file:literal),+ $(,)?) => {$(
        pub(super) static $name: Script = {
            const CODE: &str = concat!(include_str!("scripts/session.lua"), include_str!($file));
            Script { code: CODE, hash: LazyLock::new(|| redis::Script::new(CODE).get_hash().to_owned()) }
        };
    )+};
}

scripts! {
    APPEND: "scripts/append.lua",
    DELETE: "scripts/delete.lua",
    EXPIRED: "scripts/expired.lua",
    FIELDS: "scripts/fields.lua",
    LAST_ACTIVITY: "scripts/last_activity.lua",
    LEASE: "scripts/lease.lua",
    PUT_SNAPSHOT: "scripts/put_snapshot.lua",
    READ: "scripts/read.lua",
    ROW: "scripts/row.lua",
    SNAPSHOT: "scripts/snapshot.lua",
    SWEEP: "scripts/sweep.lua",
    TOUCH: "scripts/touch.lua",
}
