//! Actions as a caller writes them, as the browser takes them.

use std::time::Duration;

use callboard_browser::{Action, Piece, Secret, WaitFor};
use callboard_core::{
    browser::{Action as Step, ActionKind},
    error::Error as Refusal,
    variable::HIDDEN,
};
use callboard_engine::{Error, SecretForPages, Session};

/// What begins the name of a secret in a text to type, and what ends it.
const OPENS: &str = "{{secret:";
const CLOSES: &str = "}}";

/// How far is scrolled where nothing else is said.
const SCROLLED: i32 = 600;

/// An action for the browser. `pointer` is where it stands in what was sent.
pub(super) async fn action(session: &Session, step: &Step, pointer: &str) -> Result<Action, Error> {
    let Step { action, selector, value } = step;
    if *action != ActionKind::Type {
        for (name, text) in [("selector", selector), ("value", value)] {
            no_secret(text.as_deref().unwrap_or_default(), &format!("{pointer}/{name}"))?;
        }
    }
    let missing = |name: &str, problem: &str| Error::from(Refusal::invalid(format!("{pointer}/{name}"), problem));
    let place = || selector.clone().ok_or_else(|| missing("selector", "say where, with a selector"));
    let given = |problem: &str| value.clone().ok_or_else(|| missing("value", problem));
    Ok(match action {
        ActionKind::Click => Action::Click { selector: place()? },
        ActionKind::Type => {
            let (selector, text) = (place()?, given("say what is typed")?);
            no_secret(&selector, &format!("{pointer}/selector"))?;
            Action::Type { selector, text: pieces(session, &text, pointer).await? }
        }
        ActionKind::Press => Action::Press { selector: selector.clone(), key: given("say which key")? },
        ActionKind::Select => Action::Select { selector: place()?, options: vec![given("say which option")?] },
        ActionKind::Wait => Action::Wait(match (selector, value) {
            (Some(selector), _) => WaitFor::Selector(selector.clone()),
            (None, Some(value)) => match value.trim().parse() {
                Ok(milliseconds) => WaitFor::Time(Duration::from_millis(milliseconds)),
                Err(_) => WaitFor::Text(value.clone()),
            },
            (None, None) => {
                return Err(missing("value", "say what is waited for: a text or milliseconds, or a selector"));
            }
        }),
        ActionKind::Scroll => {
            let pixels = value.as_ref().map(|value| value.trim().parse::<i32>());
            let pixels = pixels.transpose().map_err(|_| missing("value", "it is the number of pixels"))?;
            Action::Scroll { selector: selector.clone(), pixels: pixels.unwrap_or(SCROLLED) }
        }
    })
}

/// An action in a few words, without what was typed.
pub(super) fn in_words(step: &Step) -> String {
    let kind = match step.action {
        ActionKind::Click => "click",
        ActionKind::Type => "type into",
        ActionKind::Press => "press",
        ActionKind::Select => "select in",
        ActionKind::Wait => "wait for",
        ActionKind::Scroll => "scroll",
    };
    let shown = match (step.action, &step.selector, &step.value) {
        (_, Some(selector), _) => format!(" `{selector}`"),
        (ActionKind::Press | ActionKind::Wait | ActionKind::Scroll, None, Some(value)) => format!(" {value}"),
        _ => String::new(),
    };
    format!("{kind}{shown}")
}

/// Refuses the name of a secret where it is not typed: it would come back out of the page.
pub(super) fn no_secret(text: &str, pointer: &str) -> Result<(), Refusal> {
    match text.contains(OPENS) {
        true => Err(Refusal::invalid(pointer, "a secret is only typed into fields: use the action `type`")),
        false => Ok(()),
    }
}

/// A text to type, with the secrets that it names.
async fn pieces(session: &Session, text: &str, pointer: &str) -> Result<Vec<Piece>, Error> {
    let pointer = format!("{pointer}/value");
    if text.contains(HIDDEN) {
        let problem = "this stands for a secret: to type it, write {{secret:NAME}}";
        return Err(Refusal::invalid(pointer, problem).into());
    }
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, behind)) = rest.split_once(OPENS) {
        let Some((name, after)) = behind.split_once(CLOSES) else {
            return Err(Refusal::invalid(pointer, "the name of the secret does not end: write {{secret:NAME}}").into());
        };
        let name = name.trim();
        let Some(SecretForPages { value, origins }) = session.secret_for_pages(name).await? else {
            let problem =
                format!("no variable has the secret {name:?}: name a variable, with `.key` for a part of its value");
            return Err(Refusal::invalid(pointer, problem).into());
        };
        if !before.is_empty() {
            pieces.push(Piece::Plain(before.to_owned()));
        }
        let origins = origins.iter().map(ToString::to_string).collect();
        pieces.push(Piece::Secret(Secret { name: name.to_owned(), value, origins }));
        rest = after;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Plain(rest.to_owned()));
    }
    Ok(pieces)
}
