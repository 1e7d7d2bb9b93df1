//! Results of nodes. The state only says which entries have them.

use std::sync::Arc;

use callboard_core::{
    fact::read,
    id::{NodeId, Seq},
    time::Timestamp,
    viewer::Viewer,
    workflow::{NodeStatus, facts::ResultRecorded},
};

use crate::{error::Error, session::Session};

/// What the last execution of a node gave.
#[derive(Clone, Debug)]
pub struct NodeResult {
    /// How it went.
    pub status: NodeStatus,
    /// What it gave, as JSON, with `[hidden]` in the place of each secret.
    pub result: Arc<str>,
    /// When it was recorded.
    pub at: Timestamp,
}

impl Session {
    /// The result of a node that `viewer` sees.
    pub async fn node_result(&self, viewer: &Viewer, id: NodeId) -> Result<NodeResult, Error> {
        let state = self.state().await?;
        let seq = self.view(viewer, |view| view.node_result(id)).await?;
        let result = self.result_in(seq).await?;
        self.live.confirm(&state).await?;
        Ok(result)
    }

    /// The result that an entry has.
    pub(crate) async fn result_in(&self, seq: Seq) -> Result<NodeResult, Error> {
        let entry = self.entry(seq).await?.ok_or_else(|| self.live.gone())?;
        let ResultRecorded { status, result, long_result, .. } = read(&entry)?;
        let result = match (result, long_result) {
            (_, Some(long)) => self.text(&long).await?,
            (result, None) => result.unwrap_or_default().to_string().into(),
        };
        Ok(NodeResult { status, result, at: entry.header.at })
    }
}
