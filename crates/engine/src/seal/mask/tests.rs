use proptest::{collection::vec, prelude::*, sample::subsequence};
use serde_json::json;

use super::*;
use crate::seal::{layer::HEAD_BYTES, stream::MaskedStream, variants};
use zeroize::Zeroizing;

fn hidden(value: &str) -> Arc<Hidden> {
    Arc::new(Zeroizing::new(value.to_owned()))
}

/// All forms of a value, in order.
fn variants(value: &str) -> std::collections::BTreeSet<String> {
    variants::variants(value).iter().map(|way| way.of(value)).collect()
}

fn mask(known: &[(&str, &str)]) -> Mask {
    known.iter().fold(Mask::default(), |mask, (_, value)| mask.with([hidden(value)]).unwrap())
}

#[track_caller]
fn check(known: &[(&str, &str)], text: &str, expected: &str) {
    let masked = mask(known).mask(text);
    assert_eq!(masked.as_deref().unwrap_or(text), expected);
}

#[test]
fn a_value_is_hidden_wherever_it_stands() {
    let known = [("pw", "hunter22")];
    check(&known, "hunter22", "[hidden]");
    check(&known, "it is hunter22, really hunter22!", "it is [hidden], really [hidden]!");
    check(&known, "xhunter22x", "x[hidden]x");
    check(&known, "hunter2", "hunter2");
}

#[test]
fn a_value_of_fewer_than_six_characters_is_not_looked_for() {
    check(&[("pin", "12345")], "12345", "12345");
    check(&[("pin", "äöüßé")], "äöüßé", "äöüßé");
    check(&[("pin", "123456")], "123456", "[hidden]");
    check(&[("word", "hidden")], "[hidden]", "[hidden]");
}

#[test]
fn of_values_that_overlap_nothing_is_left() {
    check(&[("a", "abcdefgh"), ("b", "efghijkl")], "-abcdefghijkl-", "-[hidden]-");
    check(&[("a", "abcdef"), ("b", "abcdefgh")], "abcdefghi abcdefg", "[hidden]i [hidden]g");
    check(&[("a", "cdefgh"), ("b", "abcdefghij")], "abcdefghij", "[hidden]");
    check(&[("a", "ababab")], "ababababab", "[hidden]");
    check(&[("a", "abcdef")], "abcdefabcdef", "[hidden][hidden]");
}

#[test]
fn escaped_values_are_hidden_too() {
    let known = [("pw", "pä\"ss w/rd\n+1")];
    let in_json = json!({ "it": known[0].1 }).to_string();
    check(&known, &in_json, r#"{"it":"[hidden]"}"#);
    check(&known, &json!({ "it": in_json }).to_string(), r#"{"it":"{\"it\":\"[hidden]\"}"}"#);
    check(&known, r#""p\u00e4\"ss w/rd\n+1""#, "\"[hidden]\"");
    check(&known, "?q=p%C3%A4%22ss%20w%2Frd%0A%2B1&x", "?q=[hidden]&x");
    check(&known, "?q=p%c3%a4%22ss+w%2frd%0a%2b1&x", "?q=[hidden]&x");
    check(&[("pw", "hunter22")], "Basic dXNlcjpodW50ZXIyMg==", "Basic dXNlcjp[hidden]g==");
}

#[test]
fn in_json_texts_and_keys_and_numbers_are_hidden() {
    let mask = mask(&[("pin", "482913"), ("pw", "hunter22")]);
    let mut value = json!({"a": ["x hunter22"], "hunter22": 482913, "n": 14829130, "t": true});
    assert!(mask.mask_json(&mut value));
    assert_eq!(value, json!({"a": ["x [hidden]"], "[hidden]": "[hidden]", "n": 14829130, "t": true}));
    assert!(!mask.mask_json(&mut json!({"a": ["x"], "b": 1})));
}

#[test]
fn arguments_that_are_the_text_of_json_stay_json() {
    let mask = mask(&[("pin", "482913"), ("pw", "hunter22"), ("end", "ndefgh")]);
    let mut call = json!({"arguments": r#"{"pin": 482913, "to": ["x hunter22"], "n": 14829130, "text": "\ndefgh"}"#});
    assert!(mask.mask_json(&mut call));
    let masked = r#"{"pin": "[hidden]", "to": ["x [hidden]"], "n": 14829130, "text": "\ndefgh"}"#;
    assert_eq!(call, json!({ "arguments": masked }));
    // What looks like a value is the end of an escape and the text behind it.
    assert!(!mask.mask_json(&mut json!({"arguments": r#"[{"text": "\ndefgh"}, {"a": 1}]"#})));
    let mut list = json!({"arguments": r#"[{"pin": 482913}, 18446744073709551616]"#});
    assert!(mask.mask_json(&mut list));
    assert_eq!(list, json!({"arguments": r#"[{"pin": "[hidden]"}, 18446744073709551616]"#}));
    let mut twice = json!({"arguments": r#"{"to": "hunter22", "to": "x"}"#});
    assert!(mask.mask_json(&mut twice));
    assert_eq!(twice, json!({"arguments": r#"{"to": "[hidden]", "to": "x"}"#}));
    let mut broken = json!({"arguments": "{broken hunter22"});
    assert!(mask.mask_json(&mut broken));
    assert_eq!(broken, json!({"arguments": "{broken [hidden]"}));
}

#[test]
fn all_else_in_json_stays_as_it_is_written() {
    let mask = mask(&[("pin", "482913"), ("pw", "hunter22"), ("long", "123456789012345678901")]);
    for (json, kept) in [
        (
            r#" { "f" : 1.10, "e": 1E3, "z":-0,"a":[[ ]], "pw": "hunter22" } "#,
            r#" { "f" : 1.10, "e": 1E3, "z":-0,"a":[[ ]], "pw": "[hidden]" } "#,
        ),
        (
            r#"[{"n": 123456789012345678901}, 123456789012345678902, 482913 ]"#,
            r#"[{"n": "[hidden]"}, 123456789012345678902, "[hidden]" ]"#,
        ),
        (
            r#"{"b": "\u00e4", "a": "hunter22 \u00e4", "b": {"x": 1}}"#,
            r#"{"b": "\u00e4", "a": "[hidden] ä", "b": {"x": 1}}"#,
        ),
        (
            r#"{"hunter22": 1, "hunter22": 2, "x": {"[hidden]": 3, "hunter22": 4}, "[hidden]": 5}"#,
            r#"{"[hidden]": 1, "[hidden] 2": 2, "x": {"[hidden]": 3, "[hidden] 2": 4}, "[hidden] 3": 5}"#,
        ),
    ] {
        assert_eq!(mask.mask_answer(json).as_deref(), Some(kept));
        assert!(!mask.finds(kept), "{kept}");
    }
}

#[test]
fn keys_that_become_the_same_keep_all_their_values() {
    let mask = mask(&[("pin", "482913"), ("pw", "hunter22")]);
    let mut value = json!({"hunter22": 1, "[hidden]": 2, "aHVudGVyMj": 3, "z": 4});
    assert!(mask.mask_json(&mut value));
    assert_eq!(value, json!({"[hidden] 2": 1, "[hidden]": 2, "[hidden] 3": 3, "z": 4}));
}

#[test]
fn a_value_is_hidden_as_each_encoder_of_json_writes_it() {
    let known = [("pw", "p/ä\"<&>'+w\nx")];
    let whole = "\"[hidden]\"";
    check(&known, r#""p\/\u00e4\"<&>'+w\nx""#, whole);
    check(&known, r#""p/ä\"\u003c\u0026\u003e'+w\nx""#, whole);
    check(&known, r#""p/\u00E4\u0022\u003C\u0026\u003E\u0027\u002Bw\nx""#, whole);
    check(&known, r#""p/\u00e4\"<&>'+w\nx""#, whole);
    check(&known, r#""p/\u00E4\"<&>'+w\nx""#, whole);
    check(&known, "p/ä\"<&>'+w\r\nx", "[hidden]");
    check(&known, "p%2F%C3%A4%22%3C%26%3E%27%2Bw%0D%0Ax", "[hidden]");
}

#[test]
fn what_may_be_the_beginning_of_a_value_is_held_back_and_nothing_else() {
    let mut stream = MaskedStream::new(Arc::new(mask(&[("pw", "hunter22"), ("long", "hunter22 and more")])));
    assert_eq!(stream.push("it is hun"), "it is ");
    assert_eq!(stream.push("gry"), "hungry");
    assert_eq!(stream.push(" hunter2"), " ");
    assert_eq!(stream.push("2"), "", "it may be the longer one");
    assert_eq!(stream.push(" and"), "");
    assert_eq!(stream.push(" less"), "[hidden] and less");
    assert_eq!(stream.push("hunter"), "");
    assert_eq!(stream.finish(), "hunter");
}

#[test]
fn layers_stay_few_however_many_values_come_one_by_one() {
    let many: Vec<_> = (0..500).map(|n| format!("value-{n:04}-end")).collect();
    let mask = many.iter().fold(Mask::default(), |mask, value| mask.with([hidden(value)]).unwrap());
    assert!(mask.layers.len() <= 10, "{}", mask.layers.len());
    for value in &many {
        assert_eq!(mask.mask(value).as_deref(), Some("[hidden]"));
    }
}

/// A text of so many bytes that repeats nothing, of letters and characters that are escaped.
fn long(bytes: usize) -> String {
    let mut seed = 1_u64;
    let next = std::iter::repeat_with(move || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        char::from(b" \"/+&abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01234567"[(seed >> 58) as usize])
    });
    next.take(bytes).collect()
}

/// A search that goes over such a value again and again takes hours, and the limit that every test has ends it.
#[test]
fn a_value_of_megabytes_is_hidden_soon() {
    for size_bytes in [1 << 20, 16 << 20] {
        let value = long(size_bytes);
        let mask = mask(&[("big", &value)]);
        check_big(&mask, &value, "[hidden]");
        check_big(&mask, &value[1..], &value[1..]);
        if size_bytes == 1 << 20 {
            check_big(&mask, &json!({ "it": value }).to_string(), "{\"it\":\"[hidden]\"}");
            check_big(&mask, &value[..value.len() - 1], &value[..value.len() - 1]);
            assert_eq!(mask.begins(&value[..value.len() - 1]), 0);
            assert_eq!(mask.begins(&value), value.len());
        }
        assert!(!mask.finds("hello"));
    }
}

/// Texts of megabytes are not printed.
#[track_caller]
fn check_big(mask: &Mask, text: &str, expected: &str) {
    let masked = mask.mask(text);
    assert!(masked.as_deref().unwrap_or(text) == expected, "{} bytes", masked.map_or(0, |masked| masked.len()));
}

/// As above: what ends a slow search is the limit that every test has.
#[test]
fn a_long_value_that_repeats_itself_is_hidden_soon() {
    let value = "a".repeat(1 << 20);
    let mask = mask(&[("big", &value)]);
    check_big(&mask, &format!("{}b{value}aaa", &value[1..]), &format!("{}b[hidden]", &value[1..]));
    assert_eq!(mask.begins(&format!("b{}", &value[1..])), 1);
}

#[test]
fn too_many_values_are_refused_and_not_left_unmasked() {
    let many: Vec<_> = (0..100).map(|n| hidden(&format!("value-{n:04}-end"))).collect();
    assert_eq!(Mask::default().within(1500, many.clone()).unwrap_err(), TooMany);
    let few = Mask::default().within(1500, many[..10].to_vec()).unwrap();
    assert_eq!(few.within(1500, many).unwrap_err(), TooMany);
}

#[test]
fn where_there_is_no_room_for_all_the_first_values_are_hidden() {
    let many: Vec<_> = (0..100).map(|n| hidden(&format!("value-{n:04}-end"))).collect();
    let first = Mask::default().with_some(1500, many.clone());
    assert_eq!(first.mask("value-0000-end").as_deref(), Some("[hidden]"));
    assert_eq!(first.mask("value-0099-end"), None);
    let full = first.with_some(1500, many);
    assert_eq!(full.mask("value-0000-end value-0099-end").as_deref(), Some("[hidden] value-0099-end"));
}

#[test]
fn a_value_that_is_known_takes_no_room() {
    let value = hidden("value-0000-end");
    let known = Mask::default().with([value.clone(), value.clone()]).unwrap();
    assert!(known.has("value-0000-end") && !known.has("value-0000"));
    assert_eq!(format!("{:?}", known.with([value]).unwrap()), "Mask(1)");
}

/// Texts over few letters, so that values overlap often.
fn letters(length: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    vec(prop::sample::select(vec!['a', 'b', '"', ' ', 'ä', '/']), length).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn i6_any_pieces_of_a_text_give_what_the_whole_gives(
        short in vec(letters(6..9), 1..5),
        // Longer ones, which often begin alike.
        long in vec(letters(1..40), 0..3),
        texts in vec(letters(0..6), 0..8),
        cuts in subsequence((0..1000_usize).collect::<Vec<_>>(), 0..80),
    ) {
        let alike = "a/b ".repeat(HEAD_BYTES / 4);
        let values: Vec<_> = short.into_iter().chain(long.iter().map(|end| format!("{alike}{end}-"))).collect();
        let known: Vec<_> = values.iter().enumerate().map(|(n, value)| (format!("n{n}"), value)).collect();
        let mask = known.iter().fold(Mask::default(), |mask, (_, value)| mask.with([hidden(value)]).unwrap());
        // Values stand in it, some of them escaped, with anything between them.
        let mut text = String::new();
        for (n, between) in texts.iter().enumerate() {
            let value = &values[n % values.len()];
            text += between;
            text += &variants(value).into_iter().nth(n % 7).unwrap_or_else(|| value.clone());
        }
        let whole = mask.mask(&text).unwrap_or_else(|| text.clone());
        let (mut stream, mut pieces, mut from) = (MaskedStream::new(Arc::new(mask.clone())), String::new(), 0);
        for at in cuts.into_iter().filter(|at| text.is_char_boundary(*at)) {
            pieces += &stream.push(&text[from..at]);
            from = at;
        }
        pieces += &stream.push(&text[from..]);
        pieces += &stream.finish();
        prop_assert_eq!(&pieces, &whole);
        for value in &values {
            for rest in whole.split("[hidden]") {
                prop_assert!(!variants(value).iter().any(|form| rest.contains(form.as_str())), "{} in {}", value, whole);
            }
        }
    }

    #[test]
    fn i6_where_no_value_stands_nothing_is_changed(
        values in vec("[a-m]{6,12}", 1..20),
        text in "[n-zA-Z0-9 .,!?%+/=-]{0,400}",
    ) {
        let known: Vec<_> = values.iter().map(|value| ("n", value.as_str())).collect();
        let mask = mask(&known);
        let holds = values.iter().any(|value| variants(value).iter().any(|form| text.contains(form.as_str())));
        prop_assert_eq!(mask.mask(&text).is_some(), holds);
        prop_assert_eq!(mask.finds(&text), holds);
    }
}

#[test]
fn words_of_the_api_stay_where_they_mean_something() {
    let mask = mask(&[("a", "completed"), ("b", "messageTo"), ("c", "contextSets")]);
    let plan = json!({"phases": [{"status": "completed", "phase_name": "completed"}], "messageTo": "messageTo"});
    let mut masked = plan.clone();
    assert!(mask.mask_json(&mut masked));
    let phases = json!([{"status": "completed", "phase_name": "[hidden]"}]);
    assert_eq!(masked, json!({"phases": phases, "messageTo": "[hidden]"}));
    let answer = r#"I share it: ```{"contextSets": "x completed"}``` completed"#;
    let hidden = r#"I share it: ```{"contextSets": "x [hidden]"}``` [hidden]"#;
    assert_eq!(mask.mask_answer(answer).as_deref(), Some(hidden));
    assert_eq!(mask.mask_answer(r#"{"contextSets": "x"}"#).as_deref().unwrap(), r#"{"contextSets": "x"}"#);
}
