#![allow(clippy::unwrap_used, reason = "in tests a surprise is a failure")]

use insta::assert_snapshot;
use proptest::prelude::*;

use super::{html::to_markdown, *};

fn media_type(name: &str, text: &str) -> &'static str {
    convert(name, text.into(), None).unwrap().media_type
}

fn refused(name: &str, bytes: &[u8]) -> String {
    convert(name, bytes.into(), None).unwrap_err().to_string()
}

#[test]
fn a_text_is_taken_as_it_is() {
    let text = "fn main() {\r\n\tprintln!(\"\u{1f3ad}\");\n}\n";
    assert_eq!(
        convert("main.rs", text.into(), None).unwrap(),
        Converted { text: text.into(), media_type: "text/plain" }
    );
    assert_eq!(convert("a.md", b"\xef\xbb\xbf# A".to_vec(), None).unwrap().text, "# A");
    let names = ["A.MD", "a.json", "Makefile", "page.htm"].map(|name| media_type(name, "<b>x</b>"));
    assert_eq!(names, ["text/markdown", "application/json", "text/plain", "text/markdown"]);
    assert_eq!(media_type("-", " <!DOCTYPE html><p>x"), "text/markdown");
    assert_eq!(convert("a.html", b"<b>x</b>".to_vec(), Some("text/plain")).unwrap().text, "<b>x</b>");
}

#[test]
fn what_is_no_text_is_refused_with_what_to_do() {
    assert_snapshot!(refused("a", b" \n"), @"it is blank");
    assert_snapshot!(refused("a.html", b"<script>x</script>"), @"it is blank");
    assert_snapshot!(refused("a.pdf", b"%PDF-1.7\n%\xe2\xe3"), @"it is a PDF: turn it into text first, for instance with `pdftotext FILE.pdf FILE.txt`");
    assert_snapshot!(refused("a", b"\xff\xfeh\0i\0"), @"it is text in UTF-16, not in UTF-8: convert it, for instance with `iconv -f UTF-16 -t UTF-8`");
    assert_snapshot!(refused("a", b"h\0i\0 \0y\0"), @"it is text in UTF-16, not in UTF-8: convert it, for instance with `iconv -f UTF-16 -t UTF-8`");
    assert_snapshot!(refused("a", b"\x7fELF\x02\0\0"), @"it is no text: it has a zero byte at offset 5");
    assert_snapshot!(refused("a", b"caf\xe9"), @"it is not UTF-8 text: invalid byte at offset 3; convert it, for instance with `iconv -f LATIN1 -t UTF-8`");
    assert_snapshot!(refused("a", &vec![b'x'; MAX_BYTES + 1]), @"it has 16777217 bytes, and 16777216 is the most: split it");
}

#[test]
fn a_page_keeps_its_headings_lists_tables_code_and_quotes() {
    let page = r#"<!DOCTYPE html><html><head><title> The
        Tides </title><style>p { color: red }</style><script>if (a < b) { alert("</p>") }</script></head>
        <body><nav><a href="/">Home</a> <a href="/b">Back</a></nav>
        <h2 class="x">High <em>water</em> &amp; low</h2>
        <p>It comes   twice
        a&nbsp;day.<br>Mostly.<p>Nobody closes a paragraph.
        <ul><li>spring<li>neap <ol start=3><li>three<li><p>four</p></ol></ul>
        <pre><code>let a = 1;
  if a &lt; 2 {}
</code></pre><blockquote><p>The sea</p><p>comes.</p></blockquote>
        <table><tr><th>Day<th>High</tr><tr><td>Mon</td><td>6:00 <code>am</code></td></tr></table>
        <img src="x.png" alt="A chart"><svg><text>no</text></svg><template>no</template><!-- no --><hr>
        <h1></h1>end</body></html>"#;
    assert_snapshot!(to_markdown(page));
}

#[test]
fn a_page_without_a_heading_begins_with_its_title() {
    assert_eq!(to_markdown("<title>A &lt;b&gt; c</title><p>x"), "# A <b> c\n\nx");
    assert_eq!(to_markdown("<title>A</title><h1>B</h1>x"), "# B\n\nx");
    assert_eq!(to_markdown("<title>A</title>"), "# A");
    assert_eq!(to_markdown("no tags & < 3"), "no tags & < 3");
}

#[test]
fn links_keep_their_addresses() {
    let cases = [
        (r#"See <a href="https://a.b/c?d=1&amp;e">the <b>docs</b></a>."#, "See [the **docs**](https://a.b/c?d=1&e)."),
        ("<a href=/up>a</a> <a href='mailto:a@b.c'>b</a>", "[a](/up) [b](mailto:a@b.c)"),
        ("<a href='x y(1).html'>c</a>", "[c](x%20y%281%29.html)"),
        ("<a href='java\nscript:x()'>a</a> <a href=''>b</a> <a>c</a> <a href='data:x'>d</a>", "a b c d"),
        ("<a href=/x><h2>Tides</h2><p>twice</p></a>", "## [Tides](/x)\n\ntwice"),
        ("<a href=/x>a <a href=/y>b</a> c", "[a](/x) [b](/y) c"),
        ("<a href=/x><code>b</code></a> <code>a <a href=/y>c</a></code>", "[`b`](/x) `a c`"),
        ("<a href=/x> </a><a href=/y>open", "[open](/y)"),
    ];
    for (page, text) in cases {
        assert_eq!(to_markdown(page), text);
    }
}

#[test]
fn bold_words_stay_bold() {
    assert_eq!(to_markdown("<strong>a <b>b</b></strong> c"), "**a b** c");
    assert_eq!(to_markdown("<p>a <b>b<br>c</b></p><p>d"), "a **b**\n**c**\n\nd");
    assert_eq!(to_markdown("<b> </b>a<pre><b>b</b></pre>"), "a\n\n```\nb\n```");
}

#[test]
fn a_rule_is_below_the_headings_of_a_table() {
    let headings = "<table><tr><th><th>Mon</th></tr><tr><th>6<td>high</table>";
    assert_eq!(to_markdown(headings), "| | Mon\n| --- | --- |\n6 | high");
    assert_eq!(to_markdown("<table><tr><td>a<td>b<tr><td>c<td>d</table>"), "a | b\nc | d");
}

#[test]
fn nothing_nested_or_left_open_is_too_much() {
    for open in ["<div>", "<ul><li>", "<blockquote>", "<table><tr><td>", "<svg>", "<pre>", "<b>", "<a href='"] {
        let page = format!("{}x", open.repeat(100_000));
        assert!(to_markdown(&page).len() < 1_000_000, "{open}");
    }
    let page = "<hr>".repeat(100_000);
    assert!(to_markdown(&page).len() < 1_000_000);
}

proptest! {
    #[test]
    fn any_bytes_are_converted_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for name in ["a", "a.html"] {
            let _ = convert(name, bytes.clone(), None);
        }
    }

    #[test]
    fn any_page_keeps_its_words(words in proptest::collection::vec("[a-z]{1,6}", 1..20), tags in proptest::collection::vec(
        proptest::sample::select(vec!["<p>", "</p>", "<li>", "<ul>", "</ul>", "<td>", "<pre>", "</pre>", "<h2>", "</h2>", "<br>", "<code>",
            "</code>", "<blockquote>", "</blockquote>", "<ol>", "</ol>", "<tr>", "<div>", "</div>", " "]), 0..40)) {
        let mut page = String::new();
        let mut tags = tags.into_iter();
        for word in &words {
            page.extend(tags.by_ref().take(2));
            page.push_str(&format!(" {word} "));
        }
        let text = to_markdown(&page);
        let kept: Vec<_> = text.split(|c: char| !c.is_ascii_lowercase()).filter(|word| !word.is_empty()).collect();
        prop_assert_eq!(kept, words);
    }
}
