//! PDFs in messages: as files of OpenAI's chat completions or of its Responses API, or as documents of Anthropic. Documents that
//! were uploaded are among them, of whatever kind they are.

use serde_json::{Map, Value, json};

use super::{MessageShape, uploaded::Uploaded};
use crate::{
    base64::{decoded, is_base64},
    json,
    text::{MAX_BYTES, first_chars},
    variable::HIDDEN,
};

/// A PDF that a part of a message has or names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pdf<'a> {
    /// Where it is.
    pub place: PdfPlace<'a>,
    /// What it is called.
    pub name: Option<&'a str>,
    /// What is said of it beside it.
    pub context: Option<&'a str>,
    /// The field of the part that has its data.
    field: &'static str,
}

/// Where a PDF is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PdfPlace<'a> {
    /// In the message, in base64.
    Inline(&'a str),
    /// At an address.
    At(&'a str),
    /// With a provider.
    Uploaded(Uploaded<'a>),
}

/// The media type of PDFs.
const KIND: &str = "application/pdf";

/// How a PDF begins.
const BEGIN: &[u8] = b"%PDF-";

/// The same in base64, as far as it does not depend on what follows.
const BEGIN_IN_BASE64: &str = "JVBERi";

/// So much of its data is looked at to find its beginning: other bytes may stand before it.
const LOOKED_AT: usize = 1368;

/// How long a name is at the most.
const MOST_CHARS: usize = 100;

impl<'a> Pdf<'a> {
    /// The PDF that a part is, in the shape of whichever provider. None where it is something else.
    pub fn of(part: &'a Map<String, Value>) -> Option<Self> {
        match part.get("type")?.as_str()? {
            "file" => Self::of_file(part.get("file")?.as_object()?, "file/file_data"),
            "input_file" => Self::of_file(part, "file_data"),
            "document" => Self::of_document(part),
            _ => None,
        }
    }

    fn of_file(file: &'a Map<String, Value>, field: &'static str) -> Option<Self> {
        let text = |name: &str| file.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let name = text("filename");
        let is_named = name.is_some_and(is_pdf);
        let place = match (text("file_data"), Uploaded::of(file, MessageShape::OpenAi)) {
            (Some(data), _) => PdfPlace::Inline(match data.strip_prefix("data:") {
                Some(url) => url.strip_prefix(KIND)?.split_once("base64,")?.1,
                None if is_named || data.starts_with(BEGIN_IN_BASE64) => data,
                None => return None,
            }),
            (None, Some(uploaded)) => PdfPlace::Uploaded(uploaded),
            (None, None) => PdfPlace::At(text("file_url").filter(|url| is_pdf(before_query(url)))?),
        };
        Some(Self { place, name, context: None, field })
    }

    fn of_document(part: &'a Map<String, Value>) -> Option<Self> {
        let text = |name: &str| part.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let source = part.get("source")?.as_object()?;
        let of_source = |name: &str| source.get(name).and_then(Value::as_str);
        let place = match of_source("type")? {
            "base64" => PdfPlace::Inline(of_source("data").filter(|_| of_source("media_type") == Some(KIND))?),
            "url" => PdfPlace::At(of_source("url")?),
            "file" => PdfPlace::Uploaded(Uploaded::of(source, MessageShape::Anthropic)?),
            _ => return None,
        };
        Some(Self { place, name: text("title"), context: text("context"), field: "source/data" })
    }

    /// What is wrong with its data, and in which field of the part they are.
    pub(crate) fn fault(&self) -> Option<(&'static str, String)> {
        let PdfPlace::Inline(data) = self.place else { return None };
        // Where a secret was in the data, the PDF can be kept, and is only named in prompts.
        if data.contains(HIDDEN) {
            return None;
        }
        let begin = || decoded(data.get(..LOOKED_AT.min(data.len())).unwrap_or_default());
        let problem = if data.len() > MAX_BYTES {
            let bytes = data.len();
            format!("the PDF has {bytes} bytes in base64, and a message has at most {MAX_BYTES}: send a part of it")
        } else if !is_base64(data) {
            "this is no base64 with its padding: encode all bytes of the PDF, on one line".to_owned()
        } else if !begin().windows(BEGIN.len()).any(|bytes| bytes == BEGIN) {
            "this is no PDF: it does not begin with `%PDF-`".to_owned()
        } else {
            return None;
        };
        Some((self.field, problem))
    }

    /// Whether it was uploaded and is no PDF by its name. Chat completions take no such file.
    pub fn is_other_upload(&self) -> bool {
        matches!(self.place, PdfPlace::Uploaded(_)) && self.name.is_some_and(|name| !is_pdf(name))
    }

    /// What it is called, in characters that can stand in a line of a prompt.
    pub fn shown_name(&self) -> Option<String> {
        let allowed = |c: char| if c.is_alphanumeric() || "_-. ".contains(c) { c } else { '_' };
        let name: String = self.name?.trim().chars().take(MOST_CHARS).map(allowed).collect();
        name.contains(char::is_alphanumeric).then_some(name)
    }

    /// The part that it is in OpenAI's chat completions, which take no address and know no file of Anthropic's.
    pub fn openai(&self) -> Option<Value> {
        let file = match self.place {
            PdfPlace::Inline(data) => {
                let name = self.name.map_or("document".to_owned(), |name| first_chars(name, MOST_CHARS));
                let name = if is_pdf(&name) { name } else { name + ".pdf" };
                json!({"filename": name, "file_data": format!("data:{KIND};base64,{data}")})
            }
            PdfPlace::Uploaded(Uploaded { to: MessageShape::OpenAi, id }) => json!({"file_id": id}),
            PdfPlace::Uploaded(_) | PdfPlace::At(_) => return None,
        };
        Some(json!({"type": "file", "file": file}))
    }

    /// The block that it is in Anthropic's Messages API, which knows no file of OpenAI's.
    pub fn anthropic(&self) -> Option<Value> {
        let source = match self.place {
            PdfPlace::Inline(data) => json!({"type": "base64", "media_type": KIND, "data": data}),
            PdfPlace::At(url) => json!({"type": "url", "url": url}),
            PdfPlace::Uploaded(Uploaded { to: MessageShape::Anthropic, id }) => json!({"type": "file", "file_id": id}),
            PdfPlace::Uploaded(_) => return None,
        };
        let fields = json::object([
            ("type", Some("document".into())),
            ("source", Some(source)),
            ("title", self.name.map(|name| first_chars(name, MOST_CHARS).into())),
            ("context", self.context.map(Value::from)),
        ]);
        Some(fields.into())
    }
}

/// Whether a name is that of a PDF.
fn is_pdf(name: &str) -> bool {
    let end = name.len().checked_sub(4).and_then(|begin| name.get(begin..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(".pdf"))
}

/// An address without what stands behind its path.
fn before_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}
