//! The text of a context file.

use callboard_core::id::SessionId;

use crate::{Error, NewFile};

/// The text for a part that is not given.
const NONE: &str = "None given.";

/// What the recipient of a task has to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// What to do.
    pub request: String,
    /// What one needs to know for it.
    pub background: Option<String>,
    /// The expected result.
    pub expected: Option<String>,
    /// Limits and requirements.
    pub constraints: Option<String>,
}

/// The parts with their headings in a document and their placeholders in a template.
const PARTS: [(&str, &str); 4] = [
    ("Request Summary", "{request}"),
    ("Background", "{background}"),
    ("Expected Output", "{expected}"),
    ("Constraints", "{constraints}"),
];

impl Parts {
    /// Parses a text with headings into parts. A text without headings is the request.
    pub fn parse(text: &str) -> Self {
        let mut found: [Option<String>; 4] = Default::default();
        let mut at = None;
        for line in text.lines() {
            let heading = line.strip_prefix("## ").map(str::trim);
            if let Some(part) =
                heading.and_then(|heading| PARTS.iter().position(|(name, _)| name.eq_ignore_ascii_case(heading)))
            {
                at = Some(part);
                continue;
            }
            let is_head = at.is_none() && (line.starts_with("# Context:") || line.starts_with("Session:"));
            if let Some(part) = found.get_mut(at.unwrap_or(0)).filter(|_| !is_head) {
                let part = part.get_or_insert_default();
                part.push_str(line);
                part.push('\n');
            }
        }
        let [request, background, expected, constraints] = found.map(|part| trimmed(part.as_deref()));
        Self { request: request.unwrap_or_default(), background, expected, constraints }
    }

    /// These parts; those that are missing are taken from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            request: if self.request.trim().is_empty() { other.request } else { self.request },
            background: self.background.or(other.background),
            expected: self.expected.or(other.expected),
            constraints: self.constraints.or(other.constraints),
        }
    }
}

fn trimmed(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A template for documents. It may contain the placeholders `{task_name}`, `{session_id}`, `{for}`, `{request}`,
/// `{background}`, `{expected}` and `{constraints}`. Other text in braces stays as it is.
#[derive(Clone, Debug)]
pub struct Template(String);

impl Default for Template {
    fn default() -> Self {
        Self(include_str!("template.md").to_owned())
    }
}

impl Template {
    /// The template with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The document of a new file. It is an error if the template lacks the placeholder of one of its parts, or if there is no
    /// request.
    pub(crate) fn document(&self, id: &SessionId, file: &NewFile) -> Result<String, Error> {
        let NewFile { name, recipient, request, background, expected, constraints, .. } = file;
        let texts = [Some(request), background.as_ref(), expected.as_ref(), constraints.as_ref()];
        let texts = texts.map(|text| trimmed(text.map(String::as_str)));
        if texts.first().is_none_or(Option::is_none) {
            let wrong = "it is empty; say what is to be done".to_owned();
            return Err(Error::BadText { what: "the request", wrong });
        }
        let unplaced = PARTS.iter().zip(&texts).find(|((_, place), text)| text.is_some() && !self.0.contains(place));
        if let Some(((part, place), _)) = unplaced {
            let wrong = format!("it has no place for the part {part}; write {place} where it is to stand");
            return Err(Error::BadText { what: "the template", wrong });
        }
        let mut fillings =
            vec![("{task_name}", name.title()), ("{session_id}", id.to_string()), ("{for}", recipient.to_string())];
        let texts = texts.into_iter().map(|text| text.unwrap_or_else(|| NONE.to_owned()));
        fillings.extend(PARTS.iter().map(|(_, place)| *place).zip(texts));
        let mut document = fill(&self.0, &fillings);
        if !document.ends_with('\n') {
            document.push('\n');
        }
        Ok(document)
    }
}

/// Replaces the placeholders. Inserted text is not searched for placeholders.
fn fill(template: &str, fillings: &[(&str, String)]) -> String {
    let (mut filled, mut rest) = (String::with_capacity(template.len()), template);
    while let Some(at) = rest.find('{') {
        let (before, here) = rest.split_at(at);
        filled.push_str(before);
        let filling =
            fillings.iter().find_map(|(place, text)| here.strip_prefix(place).map(|after| (text.as_str(), after)));
        let (text, after) = filling.unwrap_or_else(|| here.split_at(1));
        filled.push_str(text);
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(template: &Template, parts: &Parts) -> Result<String, Error> {
        let id = "20250118-143022-a4f2".parse().unwrap();
        let (category, keywords) = Default::default();
        let (name, recipient) = ("user-auth".parse().unwrap(), "@coder".parse().unwrap());
        let Parts { request, background, expected, constraints } = parts.clone();
        let file = NewFile { category, name, recipient, keywords, request, background, expected, constraints };
        template.document(&id, &file)
    }

    fn parts() -> Parts {
        Parts {
            request: "Build {background}.".to_owned(),
            expected: Some("A login.\n\n".to_owned()),
            ..Parts::default()
        }
    }

    #[test]
    fn a_document_has_all_parts() {
        insta::assert_snapshot!(document(&Template::default(), &parts()).unwrap(), @r"
        # Context: User Auth
        Session: 20250118-143022-a4f2

        ## Request Summary
        Build {background}.

        ## Background
        None given.

        ## Expected Output
        A login.

        ## Constraints
        None given.
        ");
    }

    #[test]
    fn the_parts_of_a_document_are_found_again() {
        let text = document(&Template::default(), &parts()).unwrap().replace("None given.", "");
        let found = Parts::parse(&text);
        assert_eq!(found, Parts { expected: Some("A login.".to_owned()), ..parts() });
        assert_eq!(Parts::parse("Just do it.\n").request, "Just do it.");
    }

    #[test]
    fn a_template_of_ones_own_must_have_a_place_for_what_is_said() {
        let template = Template::new("{task_name} for {for}: {request} {\"json\": {expected}}");
        assert_eq!(
            document(&template, &parts()).unwrap(),
            "User Auth for @coder: Build {background}. {\"json\": A login.}\n"
        );
        let wrong = document(&Template::new("{request}"), &parts()).unwrap_err();
        assert!(wrong.to_string().contains("{expected}"), "{wrong}");
    }

    #[test]
    fn a_document_says_what_is_to_be_done() {
        assert_eq!(document(&Template::default(), &Parts::default()).unwrap_err().code(), "invalid");
    }
}
