//! The part that shows the variables, one a line.

use callboard_core::{
    count::Tokens,
    prompt::{
        PartName, Shares,
        escape::{escape, page_line},
    },
    rights::Share,
    variable::{Variable, is_cut},
};

use crate::parts::{
    Changes, Gathered, Part, Source,
    unsaid::{Shortens, TextPiece, left_out_note},
};

pub(crate) const PART: Part<'static> = Part {
    heading: HEADING,
    shares: Some((PartName::WORKFLOW_VARIABLES, Shares::OF_STATE)),
    ..Part::new("workflow_variables", Changes::Sometimes, gather)
};

const HEADING: &str = "WORKFLOW VARIABLES:";

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    if !from.view.may_see(Share::Variables) {
        return Ok(None);
    }
    let mut variables: Vec<_> = from.view.variables().collect();
    if variables.is_empty() {
        return Ok(from.whole(format!("{HEADING}\nNo variables are set.\n\n")));
    }
    variables.sort_by_key(|variable| variable.seq);
    // What nodes found may be what a page says, so it stands in tags of its own, as data.
    let line = |variable: &'a Variable| {
        let (name, value) = (escape(variable.name.as_str()), escape(&variable.display));
        let value = if from.view.may_quote_page(variable) { page_line(&value) } else { value };
        (variable, format!("- {name} = {value}\n"))
    };
    let variables = variables.into_iter().map(line).collect();
    Ok(from.bounded(Lines { variables, fetch: from.renderer.by("read one, or `all`,", "get_workflow_variable") }))
}

/// A variable, and the line that shows it.
type Line<'a> = (&'a Variable, String);

/// The variables, those that were set longest ago first: what changes often then spoils least of what a provider has
/// cached. Where not all fit, those that were set last are shown.
struct Lines<'a> {
    variables: Vec<Line<'a>>,
    /// How one can be read, where that is on offer.
    fetch: String,
}

impl<'a> Lines<'a> {
    /// The variables that are left out, and those that are shown.
    fn split(&self, shown: usize) -> (&[Line<'a>], &[Line<'a>]) {
        self.variables.split_at_checked(self.variables.len().saturating_sub(shown)).unwrap_or_default()
    }
}

impl Shortens for Lines<'_> {
    fn whole(&self) -> usize {
        self.variables.len()
    }

    fn pieces(&self, shown: usize, _: Tokens) -> Vec<TextPiece> {
        let (left_out, shown) = self.split(shown);
        let [one, many] = ["1 variable that was set longer ago", "# variables that were set longer ago"];
        let older = left_out_note(left_out.len(), one, many, &self.fetch);
        let head =
            TextPiece { text: format!("{HEADING}\n{older}"), shows: Vec::new(), shortened: !left_out.is_empty() };
        let is_cut = |(variable, _): &Line<'_>| is_cut(&variable.display);
        let lines = shown.iter().map(|line| TextPiece {
            text: line.1.clone(),
            shows: vec![line.0.seq],
            shortened: is_cut(line),
        });
        let mut pieces: Vec<_> = [head].into_iter().chain(lines).collect();
        let cut = match shown.iter().any(is_cut) {
            true => format!("[what ends with ... is shortened{}]\n", self.fetch),
            false => String::new(),
        };
        if let Some(last) = pieces.last_mut() {
            // An empty line is no piece of its own: how it is counted depends on what stands before it.
            last.text += &format!("{cut}\n");
        }
        pieces
    }

    fn omitted(&self, shown: usize) -> Vec<String> {
        self.split(shown).0.iter().map(|(variable, _)| variable.name.to_string()).collect()
    }
}
