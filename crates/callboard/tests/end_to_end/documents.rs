//! Documents and collections on the command line.

use std::os::unix::{ffi::OsStrExt as _, fs::symlink, net::UnixListener};

use serde_json::json;

use crate::home::{Home, Way};

both_ways!(
    documents,
    collections,
    what_cannot_be_a_document_is_said_and_stops_no_other,
    a_folder_without_files_is_told_of,
    a_large_file_is_not_read,
    the_standard_input_is_a_document,
    what_a_worker_may_not_is_refused_before_anything_is_added,
);

fn team(way: Way) -> Home {
    way(Home::new()).with_session("--id demo --agent lead:manager --agent writer --agent critic")
}

fn folder(home: &Home, path: &str) {
    std::fs::create_dir_all(home.path(path)).unwrap();
}

fn documents(way: Way) {
    let home = team(way);
    folder(&home, "guides/deep");
    home.write("guides/style.md", "# Style\n\nShort sentences.\n");
    home.write("guides/deep/tides.html", "<title>Tides</title><h2>High</h2><p>Twice a day.");
    home.write("guides/main.rs", "fn main() {}\n");
    home.write("notes.txt", "Remember the tide.");
    let mut written = home.transcript(&[
        "documents list --session demo",
        "documents add guides notes.txt --session demo --visible-to writer",
        "documents list --session demo",
        "documents list --session demo --as critic",
        "documents list --session demo --as lead",
        "documents show deep/tides.html --session demo",
        "documents show notes.txt --session demo --as writer",
        "documents show notes.txt --session demo --as lead",
        "documents show notes.txt --session demo --as critic",
        "documents add guides --session demo --json",
    ]);
    home.write("notes.txt", "Remember the tides.");
    written += &home.transcript(&[
        "documents add notes.txt ./notes.txt --session demo",
        "documents add notes.txt --session demo --name 'my notes' --visible-to all",
        "documents add notes.txt guides --session demo --name x",
        "documents add notes.txt --session demo --visible-to ghost",
        "documents remove 'my notes' --session demo --as writer",
        "documents remove 'my notes' --session demo",
        "documents remove 'my notes' --session demo",
        "documents show ../notes --session demo",
        "documents list --session demo --collection c",
    ]);
    insta::assert_snapshot!("documents", written);
    home.assert_sound();
}

fn collections(way: Way) {
    let home = team(way);
    home.json("session new --id other --agent critic");
    folder(&home, "handbook");
    home.write("handbook/style.md", "Short sentences.");
    home.write("handbook/number.txt", "My number is 555-0199.");
    insta::assert_snapshot!(
        "collections",
        home.transcript(&[
            "collection list",
            "session update --session demo --collections handbook",
            "documents add handbook --collection handbook",
            "collection create handbook",
            "collection create a/b",
            "documents add handbook --collection handbook --visible-to writer,critic",
            "documents list --collection handbook",
            "documents show style.md --collection handbook",
            "session update --session demo --collections handbook",
            "session update --session other --collections handbook --json",
            "session update --session demo --collections handbook --as lead",
            "session new --id third --collections handbook,ghost",
            "collection export handbook handbook.jsonl",
            "collection import copy handbook.jsonl",
            "collection import copy handbook.jsonl",
            "import handbook.jsonl",
            "collection erase handbook 2 --reason 'a number'",
            "documents show number.txt --collection handbook",
            "documents remove style.md --collection handbook",
            "session list",
            "session show --session collection:handbook",
            "collection remove handbook",
            "collection remove handbook",
        ])
    );
    assert_eq!(home.json("collection list")["collections"][0]["name"], "copy");
    home.assert_sound();
}

fn what_cannot_be_a_document_is_said_and_stops_no_other(way: Way) {
    let home = team(way);
    folder(&home, "mixed/.git");
    folder(&home, "twin");
    home.write("mixed/good.txt", "good");
    home.write("mixed/.env", "SECRET=1");
    home.write("mixed/.git/config", "[core]");
    home.write("mixed/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    home.write("mixed/blank.txt", " \n");
    home.write("mixed/wide.txt", b"\xff\xfeh\0i\0");
    home.write("mixed/latin.txt", b"caf\xe9");
    home.write("mixed/paper.pdf", b"%PDF-1.7\n");
    home.write("twin/good.txt", "other");
    std::fs::write(home.path("mixed").join(std::ffi::OsStr::from_bytes(b"bell\x07.txt")), "ding").unwrap();
    symlink(home.path("mixed"), home.path("mixed/around")).unwrap();
    symlink("/etc/passwd", home.path("mixed/link.txt")).unwrap();
    symlink("good.txt", home.path("link")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(home.path("mixed/pipe")).status().unwrap().success());
    let _socket = UnixListener::bind(home.path("mixed/socket")).unwrap();
    insta::assert_snapshot!(
        "what_cannot_be_a_document",
        home.transcript(&[
            "documents add mixed --session demo",
            "documents add mixed/good.txt twin mixed/picture.png mixed/pipe link absent /dev/null --session demo",
            "documents add twin mixed/good.txt --session demo --json",
            "documents add - --session demo",
            "documents add --session demo",
        ])
    );
    let list = home.json("documents list --session demo");
    assert_eq!(list["documents"].as_array().unwrap().len(), 1);
}

fn a_folder_without_files_is_told_of(way: Way) {
    let home = team(way);
    folder(&home, "empty/deep/deeper");
    folder(&home, "full");
    home.write("full/b.txt", "b");
    home.write("a.txt", "a");
    let done = home.run("documents add empty a.txt --session demo");
    let told = "not added empty: it is a folder without files\nadded 1 document, 1 not added\n";
    assert_eq!((done.status, &*done.stdout), (1, told));
    // One that is named twice is not empty.
    let twice = home.run("documents add full full --session demo");
    assert_eq!((twice.status, &*twice.stdout), (0, "added 1 document\n"));
}

fn a_large_file_is_not_read(way: Way) {
    let home = team(way);
    let file = std::fs::File::create(home.path("sparse.txt")).unwrap();
    // Nobody reads so much in the time that a test has.
    file.set_len(1 << 42).unwrap();
    home.write("small.txt", "small");
    let done = home.run("documents add sparse.txt small.txt --session demo");
    assert_eq!(done.status, 1, "{}", done.stderr);
    let told = "not added sparse.txt: it has 4398046511104 bytes, and 16777216 is the most: split it\n";
    assert_eq!(done.stdout, format!("{told}added 1 document, 1 not added\n"));
    let most = "x".repeat(16 << 20);
    home.write("most.txt", &most);
    assert_eq!(home.json("documents add most.txt --session demo")["documents"][0]["outcome"], "created");
    assert_eq!(home.json("documents show most.txt --session demo")["text"], most);
    let fed = home.feed("documents add - --name fed --session demo", most + "x");
    assert!(fed.status == 1 && fed.stdout.contains("not added -: it has 16777217 bytes"), "{}", fed.stdout);
}

fn the_standard_input_is_a_document(way: Way) {
    let home = team(way);
    let fed = home.feed("documents add - --name page.html --session demo", "<!doctype html><h1>Tides</h1>");
    assert_eq!((fed.status, &*fed.stdout), (0, "added 1 document\n"));
    let page = home.json("documents show page.html --session demo");
    assert_eq!((&page["text"], &page["media_type"]), (&json!("# Tides"), &json!("text/markdown")));
    let typed = "documents add - --name page.html --media-type text/plain --session demo";
    assert_eq!(home.feed(typed, "<h1>").stdout, "added 0 documents, 1 replaced\n");
    let page = home.json("documents show page.html --session demo");
    assert_eq!((&page["text"], &page["media_type"]), (&json!("<h1>"), &json!("text/plain")));
}

fn what_a_worker_may_not_is_refused_before_anything_is_added(way: Way) {
    let home = team(way);
    home.write("a.txt", "a");
    let done = home.run("documents add a.txt --session demo --as writer");
    assert_eq!((done.status, &*done.stdout), (1, ""));
    assert!(done.stderr.contains("writer may not write documents"), "{}", done.stderr);
    assert_eq!(home.json("documents list --session demo")["documents"], json!([]));
}
