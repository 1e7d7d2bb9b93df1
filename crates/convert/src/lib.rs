//! Turns files into texts: text of any kind as it is, HTML as Markdown. What is no text is refused with what to do.
//!
//! This crate reads no files: it is given their names and bytes.

pub mod html;

/// The most bytes of a text.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The text.
    pub text: String,
    /// What the text is.
    pub media_type: &'static str,
}

/// Why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is too large.
    #[error("it has {size_bytes} bytes, and {MAX_BYTES} is the most: split it")]
    TooLarge {
        /// How large it is.
        size_bytes: u64,
    },
    /// It says nothing.
    #[error("it is blank")]
    Blank,
    /// It is a PDF.
    #[error("it is a PDF: turn it into text first, for instance with `pdftotext FILE.pdf FILE.txt`")]
    Pdf,
    /// It is a text in UTF-16 or UTF-32.
    #[error("it is text in {0}, not in UTF-8: convert it, for instance with `iconv -f {0} -t UTF-8`")]
    Utf16(&'static str),
    /// It is no text.
    #[error("it is no text: it has a zero byte at offset {at}")]
    Binary {
        /// Where.
        at: usize,
    },
    /// It is text in another encoding, or no text.
    #[error(
        "it is not UTF-8 text: invalid byte at offset {at}; convert it, for instance with `iconv -f LATIN1 -t UTF-8`"
    )]
    NotUtf8 {
        /// Where.
        at: usize,
    },
}

/// The text of a file with this name and these bytes. A media type that is given holds, whatever the name says.
pub fn convert(name: &str, bytes: Vec<u8>, media_type: Option<&str>) -> Result<Converted, Refusal> {
    if bytes.len() > MAX_BYTES {
        return Err(Refusal::TooLarge { size_bytes: bytes.len() as u64 });
    }
    let text = text(bytes)?;
    let media_type = media_type.map_or_else(|| media_type_of(name, &text), known);
    let converted = match media_type {
        HTML => Converted { text: html::to_markdown(&text), media_type: MARKDOWN },
        media_type => Converted { text, media_type },
    };
    if converted.text.trim().is_empty() { Err(Refusal::Blank) } else { Ok(converted) }
}

/// The media type of HTML.
pub const HTML: &str = "text/html";
/// The media type of Markdown.
pub const MARKDOWN: &str = "text/markdown";
const PLAIN: &str = "text/plain";

/// The media types of files, by the ends of their names.
const ENDINGS: [(&str, &str); 13] = [
    (".md", MARKDOWN),
    (".markdown", MARKDOWN),
    (".html", HTML),
    (".htm", HTML),
    (".xhtml", HTML),
    (".csv", "text/csv"),
    (".css", "text/css"),
    (".js", "text/javascript"),
    (".json", "application/json"),
    (".toml", "application/toml"),
    (".xml", "application/xml"),
    (".yaml", "application/yaml"),
    (".yml", "application/yaml"),
];

fn media_type_of(name: &str, text: &str) -> &'static str {
    let name = name.to_ascii_lowercase();
    let ending = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
    let begins = |with: &str| text.trim_start().get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    match ending {
        Some((_, media_type)) => media_type,
        None if begins("<!doctype html") || begins("<html") => HTML,
        None => PLAIN,
    }
}

fn known(media_type: &str) -> &'static str {
    ENDINGS.iter().map(|(_, known)| *known).find(|known| *known == media_type).unwrap_or(PLAIN)
}

fn text(bytes: Vec<u8>) -> Result<String, Refusal> {
    if bytes.starts_with(b"%PDF-") {
        return Err(Refusal::Pdf);
    }
    for (mark, encoding) in [
        (&b"\xff\xfe\0\0"[..], "UTF-32"),
        (&b"\0\0\xfe\xff"[..], "UTF-32"),
        (&b"\xff\xfe"[..], "UTF-16"),
        (&b"\xfe\xff"[..], "UTF-16"),
    ] {
        if bytes.starts_with(mark) {
            return Err(Refusal::Utf16(encoding));
        }
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        // Text in UTF-16 without a mark: each second byte of its first words is zero.
        let start = bytes.get(..bytes.len().min(64)).unwrap_or_default();
        let is_wide = |odd: usize| start.len() > 3 && start.iter().skip(odd).step_by(2).all(|byte| *byte == 0);
        return Err(if is_wide(0) || is_wide(1) { Refusal::Utf16("UTF-16") } else { Refusal::Binary { at } });
    }
    let mut text =
        String::from_utf8(bytes).map_err(|error| Refusal::NotUtf8 { at: error.utf8_error().valid_up_to() })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
