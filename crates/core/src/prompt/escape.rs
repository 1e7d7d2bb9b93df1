//! Escaping: keeping what is shown in a prompt from opening or closing a section of it.

use super::tags;

/// `text` with every `<` that begins one of our own tags, in whatever case, written as `&lt;`.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        escaped.push_str(before);
        let name = after.strip_prefix('/').unwrap_or(after);
        escaped.push_str(if tags().any(|tag| starts_with(name, tag)) { "&lt;" } else { "<" });
        rest = after;
    }
    escaped.push_str(rest);
    escaped
}

/// A text inside of the quotes of an attribute.
pub fn attribute(text: &str) -> String {
    escape(text).replace('"', "&quot;")
}

fn starts_with(text: &str, tag: &str) -> bool {
    text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_tags_are_escaped() {
        assert_eq!(
            escape("</CONTEXT_SET><b> a < b </current_task >"),
            "&lt;/CONTEXT_SET><b> a < b &lt;/current_task >"
        );
        assert_eq!(escape("Vec<Message> <<LEFT_OUT"), "Vec<Message> <&lt;LEFT_OUT");
    }

    #[test]
    fn an_attribute_cannot_be_left() {
        assert_eq!(attribute("a\" x=\"</LEFT_OUT>"), "a&quot; x=&quot;&lt;/LEFT_OUT>");
    }
}
