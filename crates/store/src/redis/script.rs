//! The scripts that run inside of the server. What they are given and what they give stands in `scripts/`.

use std::{fmt, sync::LazyLock};

/// A script that begins like all of them.
pub(super) struct Script {
    code: &'static str,
    hashed: LazyLock<redis::Script>,
}

impl Script {
    /// The name by which a server knows it that has run it before.
    pub(super) fn hash(&self) -> &str {
        self.hashed.get_hash()
    }

    /// All of it.
    pub(super) fn code(&self) -> &'static str {
        self.code
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.hash())
    }
}

/// Makes scripts of the files of these names.
macro_rules! scripts {
    ($($name:ident: $file:literal),+ $(,)?) => {$(
        pub(super) static $name: Script = {
            const CODE: &str = concat!(include_str!("scripts/session.lua"), include_str!($file));
            Script { code: CODE, hashed: LazyLock::new(|| redis::Script::new(CODE)) }
        };
    )+};
}

scripts! {
    APPEND: "scripts/append.lua",
    DELETE: "scripts/delete.lua",
    FIELDS: "scripts/fields.lua",
    LAST_ACTIVITY: "scripts/last_activity.lua",
    LEASE: "scripts/lease.lua",
    PUT_SNAPSHOT: "scripts/put_snapshot.lua",
    READ: "scripts/read.lua",
    ROW: "scripts/row.lua",
    SNAPSHOT: "scripts/snapshot.lua",
    SWEEP: "scripts/sweep.lua",
    TOUCH: "scripts/touch.lua",
    UPGRADE: "scripts/upgrade.lua",
}
