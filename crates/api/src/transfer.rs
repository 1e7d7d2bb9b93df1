//! Export and import of sessions.

use callboard_core::id::SessionId;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// What is imported becomes which session.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportQuery {
    /// Its name here; the one it had where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
}
