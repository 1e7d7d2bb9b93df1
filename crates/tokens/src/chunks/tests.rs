use super::*;

/// The length of the longest chunk of 64 KiB of `unit`, in bytes. Checks that the chunks are the text.
fn longest_chunk(unit: &str, isolates: Isolates) -> usize {
    let text = unit.repeat((64 << 10) / unit.len());
    let chunks: Vec<&str> = Chunks::new(&text, isolates).collect();
    assert!(chunks.concat() == text && !chunks.contains(&""), "{unit:?}");
    chunks.iter().map(|chunk| chunk.len()).max().unwrap()
}

#[test]
fn a_text_with_unusual_spaces_is_cut_short() {
    for unit in [
        "1\u{a0}",
        "=\n\u{a0}",
        "a\u{3000}",
        "\u{2028}-",
        "\u{a0}/\n",
        "a\r\n\u{a0}",
        "a\n \n\u{a0}/",
        "\u{85}é",
        "word ",
        "line\n",
    ] {
        for isolates in [Isolates::Nothing, Isolates::Cjk] {
            assert!(longest_chunk(unit, isolates) <= CHUNK_BYTES, "{unit:?}");
        }
    }
}

#[test]
fn a_text_without_spaces_is_cut_where_characters_are_isolated() {
    for unit in ["文，", "のa", "한文"] {
        assert!(longest_chunk(unit, Isolates::Cjk) <= CHUNK_BYTES, "{unit:?}");
        assert!(longest_chunk(unit, Isolates::Nothing) > LONGEST_BYTES, "{unit:?}");
    }
}

#[test]
fn a_text_without_a_place_to_cut_is_cut_where_it_would_take_too_long() {
    for unit in ["é。", "\u{200d}", "1é", "a\0"] {
        assert!(longest_chunk(unit, Isolates::Cjk) <= LONGEST_BYTES + 4, "{unit:?}");
        assert!(longest_chunk(unit, Isolates::Nothing) > LONGEST_BYTES, "{unit:?}");
    }
    for unit in ["base64+/", " ", "\n", "\u{a0}"] {
        assert_eq!(longest_chunk(unit, Isolates::Cjk), 64 << 10, "{unit:?}");
    }
}

/// The places where a text may be cut, shown as `|`.
fn cuts(text: &str) -> String {
    let chunks = Chunks { rest: text, isolates: Isolates::Nothing };
    let mut shown = String::new();
    for (at, c) in text.char_indices() {
        shown.extend(chunks.splits_at(at).then_some('|'));
        shown.push(c);
    }
    shown
}

#[test]
fn a_text_is_cut_before_spaces_and_after_line_ends() {
    let cases = [
        ("the cat  sat", "the| cat|  sat"),
        ("one\ntwo\r\n\r\nthree", "one\n|two\r\n\r\n|three"),
        ("one\n  two", "one\n|  two"),
        ("one\n \n two", "one\n \n| two"),
        ("one \n two", "one| \n| two"),
        ("one.\n/two\n //", "one.\n/two\n| //"),
        ("one\n  ", "one\n|  "),
    ];
    for (text, expected) in cases {
        assert_eq!(cuts(text), expected);
    }
}
