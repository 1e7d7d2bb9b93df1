//! The part that holds the plan as it is now.

use callboard_core::{
    count::Tokens,
    id::Seq,
    prompt::{PartName, Shares, escape::escape},
    rights::Share,
};

use crate::{
    labels::marked,
    parts::{
        Changes, Gathered, Part, Source,
        unsaid::{Shortens, TextPiece},
    },
    shorten::ends_around,
};

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
    let fetch = from.renderer.by("fetch the plan", "get_current_plan");
    Ok(match serde_json::to_string_pretty(&held.document(&from.view.state.session.workflow_id)) {
        Ok(json) => from.bounded(Json { json: escape(&json), fetch, seq: held.seq }),
        Err(error) => from.failed(HEADING, &error.to_string()),
    })
}

/// The plan as JSON. What does not fit loses its middle.
struct Json {
    json: String,
    /// How to get the whole, where that is on offer.
    fetch: String,
    /// The entry that has it.
    seq: Seq,
}

impl Shortens for Json {
    fn whole(&self) -> usize {
        self.json.len()
    }

    fn pieces(&self, shown: usize, tokens: Tokens) -> Vec<TextPiece> {
        let shortened = shown < self.whole();
        let text = match shortened {
            false => format!("{HEADING}\n{}\n\n", self.json),
            true => {
                let note = format!("[shortened here: it has {tokens} tokens{}]", self.fetch);
                // What is behind the note may begin anywhere.
                format!("{HEADING}\n{}\n", marked(&ends_around(&self.json, &note, shown)))
            }
        };
        vec![TextPiece { text, shows: vec![self.seq], shortened }]
    }

    fn omitted(&self, _: usize) -> Vec<String> {
        Vec::new()
    }
}
