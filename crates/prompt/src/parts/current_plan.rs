//! The part that holds the plan as it is now.

use callboard_core::{
    prompt::{PartName, Shares},
    rights::Share,
};

use crate::parts::{Changes, Gathered, Part, Source, unsaid::Json};

pub(crate) const PART: Part<'static> = Part {
    heading: HEADING,
    shares: Some((PartName::CURRENT_PLAN, Shares::OF_STATE)),
    ..Part::new("current_plan", Changes::Sometimes, gather)
};

const HEADING: &str = "CURRENT PLAN:";

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    if !from.view.may_see(Share::Plan) {
        return Ok(None);
    }
    let Ok(held) = from.view.plan() else {
        return Ok(from.whole(format!("{HEADING}\nThere is no plan yet.\n\n")));
    };
    let document = held.document(&from.view.state.session.workflow_id);
    let fetch = from.renderer.by("fetch the plan", "get_current_plan");
    let json = Json { heading: HEADING, fetch, shows: held.seq };
    Ok(from.json(json, &document))
}
