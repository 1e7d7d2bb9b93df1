//! How many pages a PDF has. Its pages are objects of their own, which stand in it as they are, or compressed with others.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

/// A page is taken to have no fewer bytes than this, where pages cannot be told apart.
const LEAST_BYTES: u64 = 256;

/// The most bytes of compressed objects that are looked at.
const MOST_BYTES: u64 = 16 << 20;

/// So many of them a run of compressed objects counts as at the least, so that many short ones take no longer.
const LEAST_OF_RUN: u64 = 4 << 10;

/// How many pages a PDF has, at the most. None where it is locked with a password: no provider takes that.
pub(super) fn pages(file: &[u8]) -> Option<u64> {
    if find(file, b"/Encrypt", 0).is_some() {
        return None;
    }
    let by_bytes = file.len() as u64 / LEAST_BYTES + 1;
    let (mut pages, mut left, mut at) = (pages_in(file), MOST_BYTES, 0);
    while let Some(begin) = find(file, b"/ObjStm", at).and_then(|found| find(file, b"stream", found)) {
        let end = find(file, b"endstream", begin).unwrap_or(file.len());
        let objects = file.get(begin + b"stream".len()..end).unwrap_or_default().trim_ascii_start();
        let Some(objects) = inflated(objects, left) else { return Some(pages.max(by_bytes)) };
        pages += pages_in(&objects);
        left = left.saturating_sub(LEAST_OF_RUN.max(objects.len() as u64));
        at = end;
    }
    Some(if pages == 0 { by_bytes } else { pages })
}

/// How many of these objects are pages.
fn pages_in(objects: &[u8]) -> u64 {
    let (mut pages, mut at) = (0, 0);
    while let Some(found) = find(objects, b"/Type", at) {
        at = found + b"/Type".len();
        let kind = objects.get(at..).unwrap_or_default().trim_ascii_start();
        let behind = kind.strip_prefix(b"/Page").map(|behind| behind.first());
        let is_page = behind.is_some_and(|next| next.is_none_or(|byte| !byte.is_ascii_alphanumeric()));
        pages += u64::from(is_page);
    }
    pages
}

/// What was compressed. None where that cannot be read, or has as many as `most` bytes.
fn inflated(data: &[u8], most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(data).take(most).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 != most).then_some(bytes)
}

/// Where the first of these bytes are, from a place on.
fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(wanted.len()).position(|bytes| bytes == wanted).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::ZlibEncoder};

    use super::*;

    fn compressed(objects: &str) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(objects.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn with_objects(plain: &str, objects: &[u8]) -> Vec<u8> {
        let begin = format!("%PDF-1.5\n{plain}\n9 0 obj <</Type /ObjStm /Filter /FlateDecode>>\nstream\r\n");
        [begin.as_bytes(), objects, b"\nendstream\nendobj\n%%EOF".as_slice()].concat()
    }

    #[test]
    fn pages_are_counted_where_they_stand() {
        let plain = "%PDF-1.4\n1 0 obj <</Type/Pages /Count 2>> endobj 2 0 obj <</Type/Page/Parent 1 0 R>> endobj\n\
                     3 0 obj <</Parent 1 0 R /Type\r\n /Page>> endobj 4 0 obj <</Type /PageLabel>> endobj";
        assert_eq!(pages(plain.as_bytes()), Some(2));
        let objects = compressed("<</Type/Pages/Count 3>> <</Type/Page>> <</Type /Page >> <</Type/Page/Rotate 90>>");
        assert_eq!(pages(&with_objects("", &objects)), Some(3));
        assert_eq!(pages(&with_objects("2 0 obj <</Type /Page>> endobj", &objects)), Some(4));
    }

    #[test]
    fn where_pages_cannot_be_told_apart_there_are_as_many_as_there_may_be() {
        let broken = with_objects("2 0 obj <</Type /Page>> endobj", &[b'x'; 1000]);
        assert_eq!(pages(&broken), Some(broken.len() as u64 / 256 + 1));
        assert_eq!(pages(&[b' '; 1024]), Some(5));
        let many = compressed(&"<</Type/Page>> ".repeat(1000));
        assert_eq!(pages(&with_objects("", &many)), Some(1000));
    }

    #[test]
    fn of_many_short_runs_of_objects_not_all_are_looked_at() {
        let many = with_objects("", &compressed("<</Type/Page>>")).repeat(5000);
        assert_eq!(pages(&many), Some(4096));
    }

    #[test]
    fn what_is_locked_has_no_pages_for_anybody() {
        assert_eq!(pages(b"%PDF-1.4\n2 0 obj <</Type /Page>> endobj trailer <</Encrypt 5 0 R>>"), None);
    }
}
