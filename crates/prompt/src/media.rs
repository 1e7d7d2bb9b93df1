//! Pictures, audio and PDFs in messages: which of them go out to a provider, in which form, and what they cost there. What stands for
//! all others, and for parts of other kinds, is a line that names them.
//!
//! Sources of the sizes, as documented in November 2026.
//!
//! Anthropic, "Images and vision" (platform.claude.com/docs/en/build-with-claude/vision): one token for each 28 by 28 pixels, before
//! that width times height by 750; larger pictures are made smaller, so that none has more than 4,784. 8,000 pixels a side, or 2,000
//! where a request has more than 20 pictures; 5 MB in base64.
//!
//! OpenAI, "Images and vision" (developers.openai.com/api/docs/guides/images-vision): with the detail `high`, either 85 tokens and 170
//! for each of at most 8 tiles of 512 by 512 pixels (1,445), or for each 32 by 32 pixels 1.62, 1.72 or 2.46 of at most 1,536 (3,779),
//! or 1.2 of at most 2,500 (3,000). Without a detail, models from GPT-5.5 on make large pictures no smaller, so it is always said.
//! `gpt-4o-mini` has 2,833 and 5,667 for each tile.
//!
//! Gemini, "Image understanding" (ai.google.dev/gemini-api/docs/image-understanding and cloud.google.com/vertex-ai): up to Gemini 2.5,
//! 258 for each tile; a picture is made smaller to 3,072 pixels a side, and a tile has two thirds of its shorter side, 256 to 768
//! pixels, so that there are at most 24 (6,192). "Media resolution": from Gemini 3 on, 1,120 where nothing is said.
//! A second of audio has 32 tokens there ("Understand and count tokens"), and 10 with OpenAI ("Managing costs").
//!
//! PDFs. Anthropic, "PDF support" (platform.claude.com/docs/en/build-with-claude/pdf-support): for each page its text, 1,500 to 3,000
//! tokens, and a picture of it; at most 100 pages where a window has less than a million tokens; none with a password. OpenAI, "File
//! inputs" (developers.openai.com/api/docs/guides/pdf-files): text and a picture of each page, too, with models that take pictures;
//! addresses in the Responses API alone.
//!
//! Files that were uploaded. Anthropic, "Files API" (platform.claude.com/docs/en/build-with-claude/files): pictures and documents with
//! `source.type` `file`. OpenAI, "Images and vision" and "File inputs": `file_id` of `input_image`, `input_file` and, in chat
//! completions, of `file`, which has to be a PDF there. Only their provider knows how large they are.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use callboard_core::{
    base64::{decoded, is_base64},
    conversation::{
        MessageShape,
        pdf::{Pdf, PdfPlace},
        uploaded::Uploaded,
    },
    count::Tokens,
    prompt::{Format, escape::escape},
    state::State,
};

use crate::{
    pdf::pages,
    provider::{Provider, is_blank},
    spec::ResolvedSpec,
};

/// How many pictures, and how much else, a prompt shows where its profile does not say.
const SHOWN: usize = 4;

/// The most bytes that the pictures of a prompt have together, as they are written: requests have limits, too.
pub(super) const MOST_BYTES: usize = 20 << 20;

/// The most bytes that one picture has, as it is written.
const MOST_BYTES_OF_ONE: usize = 5 << 20;

/// The longest address of a picture.
const LONGEST_ADDRESS: usize = 2048;

/// The most pixels that a side of a picture has.
const LONGEST_SIDE: u64 = 8000;

/// The same in a request to Anthropic that may have more than so many pictures.
const LONGEST_SIDE_OF_MANY: u64 = 2000;
const MANY: usize = 20;

/// How closely OpenAI's models are to look at a picture: other details have no bound of what they cost.
pub(super) const DETAIL: &str = "high";

/// How the picture formats that all providers take begin, in base64. What a client says of them may be wrong.
const KINDS: [(&str, &str); 3] = [(PNG, "image/png"), (JPEG, "image/jpeg"), ("UklGR", "image/webp")];

const PNG: &str = "iVBORw0KGgo";
const JPEG: &str = "/9j/";

/// So much of a picture in base64 is read at the most, to find its size. Photographs may begin with a small picture of themselves.
const READ: usize = 128 << 10;

/// What a second of audio costs.
const SECOND: u64 = 32;

/// The fewest bytes that a second of an MP3 has: at 8,000 bits a second.
const LEAST_OF_MP3: u64 = 1000;

/// What a page of a PDF costs: 3,000 tokens of text, and the largest picture of Anthropic.
const PAGE: u64 = 7784;

/// So many pages a PDF counts as that is at an address.
const UNKNOWN_PAGES: u64 = 100;

/// So many pages a document counts as that was uploaded. It may have more. But nothing except the model can read it, so it has to have
/// room in the windows in use, beside others. With what [a page](PAGE) costs, that comes to some 20 pages as they usually are.
const UPLOADED_PAGES: u64 = 5;

/// Where a part that is a PDF says, until the prompt is put together, how many pages it counts as.
const PAGES: &str = "pages";

/// A picture, audio or a PDF in a message.
#[derive(Clone, Debug)]
pub(super) struct Medium {
    /// What stands for it where it is not shown: a line of the message's text.
    line: Arc<str>,
    /// The part of a message that it is in the format of the prompt.
    part: Arc<Value>,
    pub(super) is_shown: bool,
}

impl Medium {
    /// What a part of a message is, as it goes out in a format. None where it is nothing that the provider takes.
    /// `most` says how many pictures the prompt has at the most.
    pub(super) fn of(
        part: &Map<String, Value>,
        line: &str,
        format: Format,
        provider: Provider,
        most: usize,
    ) -> Option<Self> {
        let (sees, hears, reads) = match format {
            Format::Text => (false, false, false),
            Format::OpenAi => (provider.sees(), provider.hears(), provider.reads()),
            Format::Responses => (provider.sees(), false, provider.reads()),
            // Where no model is named, it is Claude.
            Format::Anthropic => (true, false, matches!(provider, Provider::Anthropic | Provider::OpenAi)),
        };
        let longest = if format == Format::Anthropic && most > MANY { LONGEST_SIDE_OF_MANY } else { LONGEST_SIDE };
        let picture = Picture::of(part, longest).filter(|picture| sees && (reads || !picture.is_uploaded()));
        let picture = picture.and_then(|picture| picture.written(format, provider));
        let heard = || audio(part).filter(|_| hears);
        let read = || if reads { document(part, format) } else { None };
        let part = picture.or_else(heard).or_else(read)?;
        Some(Self { line: line.into(), part: Arc::new(part), is_shown: true })
    }

    /// Names it from now on, and keeps nothing else of it.
    pub(super) fn forget(&mut self) {
        (self.is_shown, self.part) = (false, Arc::default());
    }

    /// About how many bytes it has as it is written.
    pub(super) fn bytes(&self) -> usize {
        self.line.len() + address(&self.part).map_or(0, str::len)
    }
}

/// How many pictures, and how much else, a prompt shows at the most.
pub(super) fn most(spec: &ResolvedSpec, state: &State) -> usize {
    let default = match (spec.format, spec.provider) {
        (Format::Text, _) => return 0,
        (Format::Anthropic, _) => SHOWN,
        (_, Provider::OpenAiText | Provider::DeepSeek | Provider::Mistral) => return 0,
        (_, Provider::OpenAi | Provider::OpenAiAudio | Provider::Anthropic | Provider::Gemini) => SHOWN,
        // Servers refuse pictures where their model does not see.
        (_, Provider::Unknown) => 0,
    };
    spec.profile(state).media.map_or(default, usize::from)
}

/// A text with pictures in the places of the lines that name them, as parts. None where no picture is shown.
pub(super) fn parts(text: &str, media: &[Medium]) -> Option<Vec<Value>> {
    let (mut parts, mut written, mut searched, mut has_any) = (Vec::new(), 0, 0, false);
    for medium in media {
        let line = escape(&medium.line);
        let Some(before) = text.get(searched..).and_then(|rest| rest.find(&line)) else { continue };
        let begin = searched + before;
        searched = begin + line.len();
        if medium.is_shown {
            parts.extend(text.get(written..begin).and_then(text_part));
            parts.push(Value::clone(&medium.part));
            (written, has_any) = (searched, true);
        }
    }
    parts.extend(text.get(written..).and_then(text_part));
    has_any.then_some(parts)
}

/// A part that is text; none where that is blank.
fn text_part(text: &str) -> Option<Value> {
    let text = text.trim_matches('\n').trim_end();
    (!is_blank(text)).then(|| json!({"type": "text", "text": text}))
}

/// Takes from parts what they say for their count alone.
pub(super) fn settle(messages: &mut [Value]) {
    for part in messages.iter_mut().filter_map(|message| message.get_mut("content")?.as_array_mut()).flatten() {
        if let Some(fields) = part.as_object_mut() {
            fields.remove(PAGES);
        }
        // A result of Anthropic's has parts of its own.
        settle(std::slice::from_mut(part));
    }
}

/// Whether messages have pictures, audio or PDFs.
pub(super) fn has_any(messages: &[Value]) -> bool {
    messages.iter().flat_map(parts_in).any(|part| is_medium(part) || parts_in(part).any(is_medium))
}

fn is_medium(part: &Value) -> bool {
    let kind = part.get("type").and_then(Value::as_str);
    matches!(kind, Some("image" | "image_url" | "input_image" | "input_audio" | "file" | "input_file" | "document"))
}

/// The parts of a message, or of a result.
fn parts_in(holder: &Value) -> impl Iterator<Item = &Value> {
    let parts = holder.get("content").or_else(|| holder.get("output"));
    parts.and_then(Value::as_array).into_iter().flatten()
}

/// What a part that is a picture, audio or a PDF costs; others cost nothing here.
pub(super) fn tokens(part: &Value) -> Tokens {
    let rule = match part.get("type").and_then(Value::as_str) {
        Some("image") => Rule::Anthropic,
        Some("image_url") if part.pointer("/image_url/detail").is_some() => Rule::OpenAi,
        Some("image_url") => Rule::Any,
        Some("input_audio") => return Tokens(seconds(part).unwrap_or_default().saturating_mul(SECOND)),
        Some("file" | "document") => return of_document(part),
        _ => return Tokens(0),
    };
    let address = address(part).unwrap_or_default();
    let data = address.rsplit_once(";base64,").map_or(address, |(_, data)| data);
    Tokens(size(data).map_or(rule.most(), |(width, height)| rule.cost(width, height)))
}

/// Whose rule says what a picture costs.
#[derive(Clone, Copy)]
enum Rule {
    Anthropic,
    /// Where the detail is said.
    OpenAi,
    /// In the form of OpenAI's chat completions, for whatever model: the most of all.
    Any,
}

impl Rule {
    /// What a picture costs at the most, whatever its size.
    fn most(self) -> u64 {
        match self {
            Self::Anthropic => 4784,
            Self::OpenAi => 3779,
            Self::Any => 6192,
        }
    }

    /// What a picture of this size costs.
    fn cost(self, width: u64, height: u64) -> u64 {
        let patches = |pixels: u64| width.div_ceil(pixels).saturating_mul(height.div_ceil(pixels));
        let cost = match self {
            Self::Anthropic => patches(28).max(width.saturating_mul(height).div_ceil(750)),
            Self::OpenAi => {
                let of_tiles = 85 + 170 * patches(512).min(8);
                patches(32).saturating_mul(246).div_ceil(100).max(of_tiles)
            }
            Self::Any => {
                let gemini = tiles(width, height).saturating_mul(258).max(1120);
                Self::Anthropic.cost(width, height).max(Self::OpenAi.cost(width, height)).max(gemini)
            }
        };
        cost.min(self.most())
    }
}

/// How many tiles Gemini makes of a picture.
fn tiles(width: u64, height: u64) -> u64 {
    let longest = width.max(height);
    if longest <= 384 {
        return 1;
    }
    let scaled = |side: u64| side.saturating_mul(3072).div_ceil(longest.max(3072));
    let (width, height) = (scaled(width), scaled(height));
    let tile = (width.min(height) * 2 / 3).clamp(256, 768);
    width.div_ceil(tile).saturating_mul(height.div_ceil(tile))
}

/// The PDF that a part is, as a format takes it, with how many pages it counts as.
fn document(part: &Map<String, Value>, format: Format) -> Option<Value> {
    let pdf = Pdf::of(part)?;
    let pages = match pdf.place {
        PdfPlace::Inline(data) if is_base64(data) => pages(&decoded(data))?,
        PdfPlace::At(address) if is_address(address) => UNKNOWN_PAGES,
        PdfPlace::Uploaded(_) => UPLOADED_PAGES,
        PdfPlace::Inline(_) | PdfPlace::At(_) => return None,
    };
    let mut part = match (format, pdf.place) {
        (Format::Anthropic, _) => pdf.anthropic()?,
        (Format::OpenAi, _) if pdf.is_other_upload() => return None,
        (Format::Responses, PdfPlace::At(address)) => json!({"type": "file", "file": {"file_url": address}}),
        _ => pdf.openai()?,
    };
    part.as_object_mut()?.insert(PAGES.to_owned(), pages.into());
    Some(part)
}

/// What a PDF costs that stands in the result of a tool that its provider ran. None where a part is none, or nobody can read it.
pub(super) fn pdf_tokens(part: &Map<String, Value>) -> Option<Tokens> {
    let is_inline = matches!(Pdf::of(part)?.place, PdfPlace::Inline(_));
    let document = document(part, Format::Anthropic).filter(|_| is_inline)?;
    Some(of_document(&document))
}

/// What a part that is a PDF costs. No text beside it has more tokens than bytes.
fn of_document(part: &Value) -> Tokens {
    let pages = part.get(PAGES).and_then(Value::as_u64).unwrap_or(UNKNOWN_PAGES);
    let beside = ["/file/filename", "/title", "/context"].map(|place| part.pointer(place).and_then(Value::as_str));
    let bytes: usize = beside.into_iter().flatten().map(str::len).sum();
    Tokens(pages.saturating_mul(PAGE).saturating_add(bytes as u64))
}

/// Whether providers take what is at an address.
fn is_address(address: &str) -> bool {
    address.starts_with("https://")
        && address.len() <= LONGEST_ADDRESS
        && address.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The audio that a part is, as chat completions take it.
fn audio(part: &Map<String, Value>) -> Option<Value> {
    let given = part.get("input_audio")?;
    let part = json!({"type": "input_audio", "input_audio": {
        "data": given.get("data")?.as_str()?, "format": given.get("format")?.as_str()?,
    }});
    let data = address(&part)?;
    (is_base64(data) && data.len() <= MOST_BYTES_OF_ONE && seconds(&part).is_some()).then_some(part)
}

/// How many seconds a part that is audio has at the most. None where it is not in the format that it names.
fn seconds(part: &Value) -> Option<u64> {
    let data = address(part)?;
    let bytes_of_second = match part.pointer("/input_audio/format")?.as_str()? {
        "mp3" if data.starts_with("SUQz") || data.starts_with("//") => LEAST_OF_MP3,
        "wav" if data.starts_with("UklGR") => {
            let head = decoded(data.get(..48)?);
            let has_format = head.get(12..16)? == b"fmt ";
            let short = |at: usize| Some(u64::from(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?)));
            let long = |at: usize| Some(u64::from(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?)));
            // What its samples come to, or what it says of itself if that is less: only one of them may be right.
            let of_samples = long(24)?.saturating_mul(short(22)?).saturating_mul(short(34)?) / 8;
            long(28).filter(|_| has_format)?.min(of_samples).max(1)
        }
        _ => return None,
    };
    Some((data.len() as u64).div_ceil(bytes_of_second))
}

/// The data or the address of a picture, of audio or of a PDF in a prompt.
fn address(part: &Value) -> Option<&str> {
    let source = ["source", "input_audio", "file"].iter().find_map(|field| part.get(*field));
    let source = source.and_then(|source| ["data", "url", "file_data"].iter().find_map(|field| source.get(*field)));
    source.or_else(|| part.get("image_url")?.get("url"))?.as_str()
}

/// The width and the height of a picture in base64, where its first bytes say them.
fn size(data: &str) -> Option<(u64, u64)> {
    let read = |bytes: usize| data.get(..bytes.min(data.len())).map(decoded);
    if data.starts_with(PNG) {
        let head = read(32)?;
        let number = |at: usize| Some(u64::from(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?)));
        return Some((number(16)?, number(20)?));
    }
    if data.starts_with(JPEG) { size_of_jpeg(&read(READ)?) } else { None }
}

/// The size of a JPEG: segments with their lengths stand before the frame, which begins with its height and its width.
fn size_of_jpeg(head: &[u8]) -> Option<(u64, u64)> {
    let number = |at: usize| Some(u16::from_be_bytes(head.get(at..at + 2)?.try_into().ok()?));
    let mut at = 2;
    loop {
        match (head.get(at)?, head.get(at + 1)?) {
            (0xFF, 0xFF) => at += 1,
            (0xFF, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF) => {
                return Some((number(at + 7)?.into(), number(at + 5)?.into()));
            }
            (0xFF, _) => at += 2 + usize::from(number(at + 2)?),
            _ => return None,
        }
    }
}

/// A picture that providers take.
enum Picture<'a> {
    Inline {
        kind: &'static str,
        data: &'a str,
    },
    At(&'a str),
    /// Its own provider takes it alone.
    Uploaded(Uploaded<'a>),
}

impl<'a> Picture<'a> {
    /// The picture that a part is, in the shape of whichever provider, with at most `longest` pixels a side as far as that can be read.
    fn of(part: &'a Map<String, Value>, longest: u64) -> Option<Self> {
        match part.get("type")?.as_str()? {
            "image_url" | "input_image" => match part.get("image_url").filter(|image| !image.is_null()) {
                Some(image) => Self::at(image.get("url").unwrap_or(image).as_str()?, longest),
                None => Uploaded::of(part, MessageShape::OpenAi).map(Self::Uploaded),
            },
            "image" => {
                let source = part.get("source")?;
                match source.get("type")?.as_str()? {
                    "base64" => Self::inline(source.get("data")?.as_str()?, longest),
                    "url" => Self::at(source.get("url")?.as_str()?, longest),
                    "file" => Uploaded::of(source.as_object()?, MessageShape::Anthropic).map(Self::Uploaded),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn at(address: &'a str, longest: u64) -> Option<Self> {
        if address.starts_with("data:") {
            return Self::inline(address.split_once(";base64,")?.1, longest);
        }
        is_address(address).then_some(Self::At(address))
    }

    fn inline(data: &'a str, longest: u64) -> Option<Self> {
        let (_, kind) = KINDS.iter().find(|(begin, _)| data.starts_with(begin))?;
        let sides = 1..=longest;
        let fits = size(data).is_none_or(|(width, height)| sides.contains(&width) && sides.contains(&height));
        (is_base64(data) && fits && data.len() <= MOST_BYTES_OF_ONE).then_some(Self::Inline { kind, data })
    }

    fn is_uploaded(&self) -> bool {
        matches!(self, Self::Uploaded(_))
    }

    /// The part that it is in a format. The Responses API gets it as chat completions do until its items are made. Others than
    /// OpenAI are told no detail: not all of them know it. None where the format cannot name a file that was uploaded.
    fn written(&self, format: Format, provider: Provider) -> Option<Value> {
        let url = match (format, self) {
            (Format::Anthropic, Self::Inline { kind, data }) => {
                return Some(json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}));
            }
            (Format::Anthropic, Self::At(url)) => {
                return Some(json!({"type": "image", "source": {"type": "url", "url": url}}));
            }
            (Format::Anthropic, Self::Uploaded(Uploaded { to: MessageShape::Anthropic, id })) => {
                return Some(json!({"type": "image", "source": {"type": "file", "file_id": id}}));
            }
            (Format::Responses, Self::Uploaded(Uploaded { to: MessageShape::OpenAi, id })) => {
                return Some(json!({"type": "image_url", "image_url": {"file_id": id, "detail": DETAIL}}));
            }
            (_, Self::Uploaded(_)) => return None,
            (_, Self::Inline { kind, data }) => format!("data:{kind};base64,{data}"),
            (_, Self::At(url)) => (*url).to_owned(),
        };
        Some(match provider {
            Provider::OpenAi => json!({"type": "image_url", "image_url": {"url": url, "detail": DETAIL}}),
            _ => json!({"type": "image_url", "image_url": {"url": url}}),
        })
    }
}
