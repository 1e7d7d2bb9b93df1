use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{DocumentOutcome, DocumentView, MediaType, PutDocument, RemoveDocument, facts::has_headings};
use crate::{
    audience::Audience,
    error::Error,
    id::{DocumentName, Seq},
    rights::Grant,
    session::SessionPatch,
    testing::Board,
    view::Projected,
};

fn name(name: &str) -> DocumentName {
    name.parse().unwrap()
}

fn put(of: &str, text: &str, visible_to: Option<&str>) -> PutDocument {
    let visible_to = visible_to.map(|names| serde_json::from_value::<Audience>(json!(names)).unwrap());
    PutDocument { name: name(of), text: text.into(), visible_to, media_type: None }
}

fn told(answer: Result<DocumentOutcome, Error>) -> String {
    match answer {
        Ok(outcome) => json!(outcome).as_str().unwrap().to_owned(),
        Err(error) => format!("{}: {error}", error.code()),
    }
}

#[test]
fn prose_has_headings_and_source_code_has_none() {
    let of = |name: &str, media_type: &str| has_headings(name, &media_type.parse::<MediaType>().unwrap());
    for (name, media_type) in [("guide", "text/plain"), ("a/Notes.TXT", "text/plain"), ("page.html", "text/markdown")] {
        assert!(of(name, media_type), "{name}");
    }
    for (name, media_type) in [("main.py", "text/plain"), (".env", "text/plain"), ("a.yaml", "application/yaml")] {
        assert!(!of(name, media_type), "{name}");
    }
}

/// What a viewer sees of the documents: `NAME (BYTES, TYPE)`, or `NAME?` for one of which it sees the outline only.
fn seen(board: &Board, viewer: &str) -> String {
    let view = board.view(viewer).unwrap();
    let one = |document: DocumentView<'_>| match document {
        DocumentView::Whole(held) => format!("{} ({}, {})", held.name, held.size_bytes, held.media_type),
        DocumentView::Outline(held) => format!("{}?", held.name),
    };
    view.documents().map(one).collect::<Vec<_>>().join("; ")
}

/// The types and the data of what a viewer sees of the entries about documents.
fn journal(board: &Board, viewer: &str) -> Vec<String> {
    let is_one = |entry: &&Projected| entry.subject.starts_with("document:");
    let line = |entry: &Projected| {
        let data: Value = serde_json::from_str(&entry.data).unwrap();
        format!("{} {}", entry.kind, data.get("text").unwrap_or(&data["name"]))
    };
    board.seen(viewer).iter().filter(is_one).map(line).collect()
}

#[test]
fn a_document_is_added_replaced_by_name_or_left_as_it_is() {
    let mut board = Board::team("lead writer");
    let answers = ["one", "one", "two"].map(|text| told(board.user(put("a/b.md", text, None))));
    assert_eq!(answers, ["created", "unchanged", "updated"]);
    assert_eq!(told(board.user(put(" a/b.md ", "two", Some("all")))), "unchanged");
    assert_eq!(told(board.user(put("a/b.md", "two", Some("writer")))), "updated");
    assert_eq!(told(board.user(put("a/b.md", "two", None))), "unchanged");
    let markdown =
        PutDocument { media_type: "Text/Markdown; charset=utf-8".parse().ok(), ..put("a/b.md", "two", None) };
    assert_eq!(told(board.user(markdown)), "updated");
    assert_snapshot!(seen(&board, "writer"), @"a/b.md (3, text/markdown)");
    let before = board.entries.len();
    board.user(RemoveDocument(name("a/b.md"))).unwrap();
    assert_eq!((board.entries.len(), board.state.documents.count()), (before + 1, 0));
    assert_eq!(board.user(RemoveDocument(name("a/b.md"))).unwrap_err().code(), "not_found");
}

#[test]
fn the_state_holds_no_texts() {
    let mut board = Board::team("lead writer");
    board.user(put("short", "zq word", None)).unwrap();
    board.user(put("long", &"zq word ".repeat(9000), None)).unwrap();
    assert!(!serde_json::to_string(&board.state).unwrap().contains("zq word"));
    assert!(board.entries.last().unwrap().data.len() < 1000);
    let sizes: Vec<_> = board.state.documents.iter().map(|held| held.size_bytes).collect();
    assert_eq!(sizes, [72_000, 7]);
}

#[test]
fn a_document_that_says_nothing_or_has_no_good_name_is_refused() {
    let mut board = Board::team("lead writer");
    assert_snapshot!(told(board.user(put("a", " \n", None))), @"invalid: /text: the text is blank: a document says something");
    assert_snapshot!(told(board.user(put("a", "x", Some("ghost")))), @"no_agent: /visible_to: there is no agent ghost; the team is: lead, writer");
    assert_snapshot!(told(board.user(put("a", &"x".repeat((16 << 20) + 1), None))), @"too_large: the document has 16777217 bytes, and 16777216 is the most: split it");
    let names = ["", "..", "a/../b", "./a", "/etc/passwd", "a//b", "a/", "a\u{1}b", "a\nb", &"x".repeat(501)];
    assert!(names.iter().all(|name| name.parse::<DocumentName>().is_err()));
    assert_snapshot!("a/../b".parse::<DocumentName>().unwrap_err(), @r#"document name "a/../b" is not valid: no part between slashes may be blank, `.` or `..`"#);
    for good in ["a", ".gitignore", "a...b/…/c d", &"x".repeat(500)] {
        assert_eq!(good.parse::<DocumentName>().unwrap().as_str(), good);
    }
}

#[test]
fn who_loses_sight_of_a_document_gets_a_removal_and_who_gains_it_gets_it_whole() {
    let mut board = Board::team("lead writer critic");
    board.user(put("a", "one", Some("writer"))).unwrap();
    board.user(put("a", "one", Some("critic"))).unwrap();
    assert_eq!(journal(&board, "writer"), ["document.removed \"a\""]);
    assert_eq!(journal(&board, "critic"), ["document.added \"one\""]);
    assert_eq!(journal(&board, "lead"), ["document.added \"a\"", "document.added \"a\""]);
    assert_eq!([seen(&board, "writer"), seen(&board, "lead")], ["", "a?"]);
    board.user(RemoveDocument(name("a"))).unwrap();
    assert_eq!(journal(&board, "critic"), ["document.removed \"a\""]);
    assert_eq!(journal(&board, "writer"), ["document.removed \"a\""]);
}

#[test]
fn a_new_document_is_for_whom_the_session_says() {
    let mut board = Board::team("lead writer");
    let default_visibility = Some(Audience::of(["lead".parse().unwrap()]));
    board.user(SessionPatch { default_visibility, ..SessionPatch::default() }).unwrap();
    board.user(put("a", "one", None)).unwrap();
    board.user(put("b", "one", Some("all"))).unwrap();
    assert_eq!(seen(&board, "writer"), "b (3, text/plain)");
}

#[test]
fn a_worker_to_whom_it_is_granted_replaces_the_documents_that_it_sees() {
    let mut board = Board::team("lead writer");
    board.by("lead", put("hidden", "1", Some("lead"))).unwrap();
    board.by("lead", put("shown", "1", None)).unwrap();
    let try_all = |board: &mut Board| {
        let answers = ["hidden", "absent", "shown"].map(|of| told(board.by("writer", put(of, "x", None))));
        let removed = told(board.by("writer", RemoveDocument(name("hidden"))).map(|()| DocumentOutcome::Updated));
        [answers.join("\n"), removed].join("\n")
    };
    assert_snapshot!(try_all(&mut board), @"
    forbidden: writer may not write documents: ask the manager or the user
    forbidden: writer may not write documents: ask the manager or the user
    forbidden: writer may not write documents: ask the manager or the user
    forbidden: writer may not write documents: ask the manager or the user
    ");
    board.user(SessionPatch { grant: Some(vec![Grant::Documents]), ..SessionPatch::default() }).unwrap();
    assert_snapshot!(try_all(&mut board), @r#"
    not_found: there is no document "hidden"
    not_found: there is no document "absent"
    updated
    not_found: there is no document "hidden"
    "#);
    assert_snapshot!(told(board.by("writer", put("shown", "x", Some("writer")))), @"forbidden: writer may not change who sees a document: ask the manager or the user");
}

#[test]
fn erasing_a_document_reaches_its_copies_and_its_hash() {
    let mut board = Board::team("lead writer");
    let long = "555-0199 ".repeat(9000);
    for text in ["My number is 555-0199.", &long] {
        board.user(put("a", text, Some("all"))).unwrap();
        let first = board.state.head.seq;
        // Only who sees it changes: the text is written again.
        board.user(put("a", text, Some("writer"))).unwrap();
        assert_eq!(board.erase(first).unwrap().copies, [first.next()]);
        assert!(board.values.is_empty() && board.entries.iter().all(|entry| !entry.data.contains("555")));
        let held = board.state.documents.get(&name("a")).unwrap();
        assert_eq!((held.seq, held.size_bytes), (Seq(first.0 + 1), 8));
        // The same text again is new: nothing is left that would tell it.
        assert_eq!(told(board.user(put("a", text, None))), "updated");
        board.erase(board.state.head.seq).unwrap();
    }
}
