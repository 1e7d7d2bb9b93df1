//! Rights: who may do what. A caller without the right is refused before anything is looked up, whatever it names.

use serde::{Deserialize, Serialize};

use crate::{entry::Actor, error::Error};

/// Something that workers see only if the session shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// The plan and its versions.
    Plan,
    /// The workflow.
    Workflow,
    /// The variables.
    Variables,
    /// The browser's tabs.
    Browser,
    /// Runs, directives and usage.
    Runs,
}

/// A change that workers, or for `fork` the manager, may make only if the session grants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// Changing the context sets that they see.
    ContextSets,
    /// Replacing and removing the documents that they see.
    Documents,
    /// Adding and removing context files.
    Files,
    /// Forking the session as it is now: for the manager.
    Fork,
}

/// A right: what it lets somebody do, and who has it.
#[derive(Clone, Copy, Debug)]
pub struct Right {
    what: &'static str,
    pub(crate) who: Who,
}

/// Who has a right.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Who {
    /// The user and every agent of the team. Each sees only what it may see.
    Everyone,
    /// The user, the manager, and workers if the session grants it.
    Granted(Grant),
    /// The user, the manager, and workers if the session shares it.
    Shared(Share),
    /// The user and the manager.
    Manager,
    /// The user, and the manager if the session grants it.
    ManagerGranted(Grant),
    /// The user.
    User,
    /// Callboard itself, such as the driver of a run.
    System,
}

impl Right {
    /// A right of the user and of every agent. `what` completes "may not …".
    pub const fn everyone(what: &'static str) -> Self {
        Self { what, who: Who::Everyone }
    }

    /// A right of the user and the manager, and of workers if the session grants it.
    pub const fn granted(grant: Grant, what: &'static str) -> Self {
        Self { what, who: Who::Granted(grant) }
    }

    /// A right of the user and the manager, and of workers if the session shares it.
    pub const fn shared(share: Share, what: &'static str) -> Self {
        Self { what, who: Who::Shared(share) }
    }

    /// A right of the user and the manager.
    pub const fn manager(what: &'static str) -> Self {
        Self { what, who: Who::Manager }
    }

    /// A right of the user, and of the manager if the session grants it.
    pub const fn manager_granted(grant: Grant, what: &'static str) -> Self {
        Self { what, who: Who::ManagerGranted(grant) }
    }

    /// A right of the user.
    pub const fn user(what: &'static str) -> Self {
        Self { what, who: Who::User }
    }

    /// A right of Callboard itself.
    pub const fn system(what: &'static str) -> Self {
        Self { what, who: Who::System }
    }

    /// The refusal of `by`, who does not have the right.
    pub fn refuse(self, by: &Actor) -> Error {
        let hint = match self.who {
            Who::Everyone | Who::User | Who::ManagerGranted(_) => "ask the user",
            Who::Granted(_) | Who::Shared(_) | Who::Manager => "ask the manager or the user",
            Who::System => "only Callboard itself does",
        };
        Error::Forbidden { who: by.called().to_owned(), what: self.what, hint }
    }
}
