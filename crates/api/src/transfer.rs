//! Export and import of sessions.

use callboard_core::id::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;

/// The id of an imported session.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportQuery {
    /// The id of the new session. If absent: the id in the export.
    pub id: Option<SessionId>,
}
