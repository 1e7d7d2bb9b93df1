//! The part that says who the reader is and what its user wrote for it and for the thread in which it speaks.

use callboard_core::{id::Seq, prompt::escape::escape};

use crate::parts::{Changes, Gather, Gathered, Part, Source, tagged};

/// In a tag, behind the name of the reader.
pub(crate) const TAGGED: Part<'static> = part(in_tag);

/// As they are.
pub(crate) const BARE: Part<'static> = part(bare);

const TAG: &str = "AGENT_INSTRUCTIONS";

const fn part(gather: Gather) -> Part<'static> {
    Part {
        subjects: |_, agent| vec![format!("agent:{}", agent.name)],
        ..Part::new("instructions", Changes::Seldom, gather)
    }
}

fn bare<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    let own = from.agent.instructions.as_deref().map(str::trim).filter(|own| !own.is_empty());
    let (of_thread, shows) = of_thread(from);
    let texts = own.into_iter().chain(of_thread);
    let texts: Vec<_> = texts.map(|text| format!("{}\n", escape(text))).collect();
    Ok((!texts.is_empty()).then(|| from.whole_of(texts.join("\n"), shows)).flatten())
}

fn in_tag<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    let agent = from.agent;
    let who = match &agent.title {
        Some(title) => format!("You are {}, {}.", agent.name, escape(title)),
        None => format!("You are {}.", agent.name),
    };
    let own = agent.instructions.as_deref().map(|text| format!("\n{}", escape(text))).unwrap_or_default();
    let (of_thread, shows) = of_thread(from);
    let of_thread = of_thread.map(|text| format!("\nIn this thread: {}", escape(text))).unwrap_or_default();
    Ok(from.whole_of(tagged(TAG, &(who + &own + &of_thread)), shows))
}

/// The instructions of the thread in which the reader speaks, and the entry that has them.
pub(super) fn of_thread<'a>(from: &Source<'a>) -> (Option<&'a str>, Vec<Seq>) {
    let Some(thread) = from.view.state.threads.get(&from.spec.thread) else { return (None, Vec::new()) };
    let text = thread.settings.instructions.as_deref().map(str::trim).filter(|text| !text.is_empty());
    (text, text.map(|_| thread.settings_seq).into_iter().collect())
}
