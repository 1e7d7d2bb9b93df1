//! The part that names the open tabs of the browser.

use callboard_core::{
    prompt::{
        escape::one_line,
        observed::{Observed, Tab},
    },
    rights::Share,
};

use crate::parts::{Changes, Gathered, Part, Source};

pub(crate) const PART: Part<'static> = Part { heading: HEADING, ..Part::new("browser_state", Changes::Always, gather) };

const HEADING: &str = "BROWSER STATE:";

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    if !from.view.may_see(Share::Browser) {
        return Ok(None);
    }
    let state = match &from.spec.observed.tabs {
        Observed::Absent => "No browser session active\n".to_owned(),
        Observed::Failed(why) => return Ok(from.failed(HEADING, why)),
        Observed::Seen(tabs) => open(tabs),
    };
    Ok(from.whole(format!("{HEADING}\n{state}\n")))
}

fn open(tabs: &[Tab]) -> String {
    let count = match tabs.len() {
        1 => "1 tab open:\n".to_owned(),
        many => format!("{many} tabs open:\n"),
    };
    let line = |tab: &Tab| {
        let active = if tab.active { " (Active)" } else { "" };
        format!("- {}{active} = {}\n", one_line(&tab.name), one_line(&tab.url))
    };
    count + &tabs.iter().map(line).collect::<String>()
}
