//! The part that shows the workflow as it is now: its nodes and what relates them. Results are never in it.

use callboard_core::{
    count::Tokens,
    prompt::{PartName, Shares, escape::escape},
    rights::Share,
    workflow::{Snapshot, SnapshotPieces},
};

use crate::parts::{
    Changes, Gathered, Part, Source,
    unsaid::{Shortens, TextPiece, left_out_note},
};

pub(crate) const PART: Part<'static> = Part {
    heading: HEADING,
    shares: Some((PartName::WORKFLOW_SNAPSHOT, Shares::OF_STATE)),
    ..Part::new("workflow_snapshot", Changes::Sometimes, gather)
};

const HEADING: &str = "WORKFLOW SNAPSHOT:";

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    if !from.view.may_see(Share::Workflow) {
        return Ok(None);
    }
    let workflow = &*from.view.state.workflow;
    if workflow.version == 0 {
        return Ok(from.whole(format!("{HEADING}\nThe workflow has no nodes yet.\n\n")));
    }
    let pieces = workflow.pieces(&from.view.state.session);
    Ok(from.bounded(Nodes { pieces, number: workflow.nodes.len(), fetch: from.renderer.by("read one", "get_node") }))
}

/// The nodes. Where not all fit, those that were changed longest ago are shown without their configuration; where that
/// does not suffice, they are left out.
struct Nodes {
    pieces: SnapshotPieces,
    /// How many there are.
    number: usize,
    /// How one can be read, where that is on offer.
    fetch: String,
}

impl Nodes {
    /// One unit for each node, and one more for its configuration.
    fn snapshot(&self, shown: usize) -> Snapshot {
        let whole = shown.saturating_sub(self.number);
        self.pieces.snapshot(whole, shown.min(self.number) - whole)
    }
}

impl Shortens for Nodes {
    fn whole(&self) -> usize {
        self.number * 2
    }

    fn pieces(&self, shown: usize, _: Tokens) -> Vec<TextPiece> {
        let Snapshot { json, without_config, left_out, shows } = self.snapshot(shown);
        let [one, many] = ["1 node that was changed longer ago", "# nodes that were changed longer ago"];
        let nodes = left_out_note(left_out.len(), one, many, &self.fetch);
        let [one, many] = [one, many].map(|nodes| format!("the configuration of {nodes}"));
        let configs = left_out_note(without_config.len(), &one, &many, &self.fetch);
        let text = format!("{HEADING}\n{}\n{nodes}{configs}\n", escape(&json));
        vec![TextPiece { text, shows, shortened: shown < self.whole() }]
    }

    fn omitted(&self, shown: usize) -> Vec<String> {
        let Snapshot { left_out, without_config, .. } = self.snapshot(shown);
        left_out.iter().chain(&without_config).map(ToString::to_string).collect()
    }
}
