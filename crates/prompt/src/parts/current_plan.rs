//! The part that holds the plan as it is now.

use callboard_core::{
    prompt::{PartName, Shares},
    rights::Share,
};

use crate::{
    Lacking,
    parts::{Changes, Content, Part, Source, unsaid::Json},
};

pub(crate) struct CurrentPlan;

const HEADING: &str = "CURRENT PLAN:";

impl Part for CurrentPlan {
    fn name(&self) -> &'static str {
        PartName::CURRENT_PLAN.as_str()
    }

    fn heading(&self) -> &'static str {
        HEADING
    }

    fn changes(&self) -> Changes {
        Changes::Sometimes
    }

    fn shares(&self) -> Option<(PartName, Shares)> {
        Some((PartName::CURRENT_PLAN, Shares::OF_STATE))
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
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
}
