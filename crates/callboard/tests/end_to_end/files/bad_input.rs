//! What cannot be done is refused, and leaves no trace.

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::Path};

use crate::home::{Home, unprivileged};

/// All files below a folder, and what stands in them.
fn all(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all.extend(self::all(&path));
        }
        let bytes = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        all.insert(path.display().to_string(), bytes);
    }
    all
}

fn board() -> Home {
    let home = Home::new();
    home.json("files add --session demo --category code --name one --for @x --keywords a --request Go.");
    home
}

#[test]
fn names_that_lead_elsewhere_are_refused_and_change_nothing() {
    let home = board();
    home.write("outside.md", "outside");
    let before = all(&home.path(""));
    let long = "x".repeat(300);
    let names = ["..", "../x", "/etc/passwd", "a/b", "a\\b", "a\nb", "a\u{7}b", ".x", " ", long.as_str()];
    for name in names {
        let adds = [
            vec!["--session", "demo", "--name", name, "--for", "@x", "--request", "Go."],
            vec!["--session", name, "--name", "x", "--for", "@x", "--request", "Go."],
            vec!["--session", "demo", "--category", name, "--name", "x", "--for", "@x", "--request", "Go."],
            vec!["--session", "demo", "--file", name, "--for", "@x"],
        ];
        let adds = adds.into_iter().map(|words| ["files", "add"].into_iter().chain(words).collect::<Vec<_>>());
        let others = [
            vec!["files", "new", "--session", name],
            vec!["files", "remove", "--session", "demo", "--", name],
            vec!["files", "end", "--session", name],
            vec!["files", "list", "--session", name],
            vec!["files", "touch", "--session", name],
            vec!["files", "search", "--session", "demo", "--category", name],
            vec!["files", "check", "--session", name],
        ];
        for words in adds.chain(others) {
            let output = home.command(&words).output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert!(all(&home.path("")) == before, "something was changed");
}

#[test]
fn words_and_texts_that_cannot_be_are_refused() {
    let home = board();
    let before = all(&home.path(""));
    let long = "k".repeat(101);
    for line in [
        format!("add --session demo --name x --for @x --keywords {long} --request Go."),
        "add --session demo --name x --for '' --request Go.".to_owned(),
        "add --session demo --name x --for @x --request '  '".to_owned(),
        "add --session demo --name x --for @x --from none.md".to_owned(),
        "add --session demo --category feature --name x --for @x --request Go.".to_owned(),
        "add --session demo --file code/none.md --for @x".to_owned(),
        "add --session demo --file code/one-context.md --category tasks --for @x".to_owned(),
        "delegate --session demo --to @x --task '  '".to_owned(),
        "list --session none".to_owned(),
        "delegate --session none --to @x --task Go.".to_owned(),
        "new --root none".to_owned(),
    ] {
        let (status, error) = home.error(&format!("files {line}"));
        assert!(status == 1 && error["code"].is_string() && error["detail"].is_string(), "{line}: {error}");
    }
    for line in
        ["add --session demo --name x", "clean --older-than soon", "should-create --sentences -1", "list", "what"]
    {
        assert_eq!(home.run(&format!("files {line}")).status, 2, "{line}");
    }
    assert!(all(&home.path("")) == before, "something was changed");
}

#[test]
fn links_in_the_place_of_folders_are_refused() {
    for link in [".tmp", ".tmp/sessions", ".tmp/sessions/demo"] {
        let home = board();
        let away = home.path("away");
        fs::rename(home.path(link), &away).unwrap();
        symlink(&away, home.path(link)).unwrap();
        let before = all(&away);
        for line in [
            "add --session demo --name x --for @x --request Go.",
            "list --session demo",
            "end --session demo",
            "remove --session demo code/one-context.md",
        ] {
            let (status, error) = home.error(&format!("files {line}"));
            assert_eq!((status, &error["code"]), (1, &"misplaced".into()), "{link}: {line}");
        }
        // Whatever is said of it, nothing is done.
        home.run("files clean --older-than 0s");
        home.run("files check --repair");
        assert!(all(&away) == before, "{link}");
    }
}

#[test]
fn a_write_that_breaks_off_leaves_what_was() {
    let home = board();
    let before = all(&home.path(".tmp"));
    home.write("long.md", "All of it. ".repeat(1000));
    // As on a full disk: after so many blocks, nothing more can be written.
    let mut shell = std::process::Command::new("sh");
    let line =
        "trap '' XFSZ; ulimit -f 4; exec \"$0\" files add --session demo --name big --for @x --from long.md --json";
    shell.args(["-c", line, env!("CARGO_BIN_EXE_callboard")]).current_dir(home.path(""));
    let output = shell.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("\"code\":\"full\""), "{said}");
    let after = all(&home.path(".tmp"));
    let changed: Vec<_> = after.iter().filter(|(path, bytes)| before.get(*path) != Some(bytes)).collect();
    assert!(changed.is_empty() && after.len() == before.len(), "{changed:?}");
    home.json("files add --session demo --name big --for @x --from long.md");
}

#[test]
fn a_folder_that_may_not_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = board();
    let folder = home.path(".tmp/sessions/demo");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let arguments = "files add --session demo --name x --for @x --request Go. --json";
    let add = home.on_the_store(arguments.split(' '));
    let done = unprivileged(add).output().expect("setpriv is missing: install util-linux");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let error: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((done.status.code(), &error["error"]["code"]), (Some(1), &"denied".into()), "{error}");
}

#[test]
fn a_session_that_somebody_removed_is_no_hindrance() {
    let home = board();
    fs::remove_dir_all(home.path(".tmp/sessions/demo")).unwrap();
    assert_eq!(home.error("files touch --session demo").1["code"], "not_found");
    assert_eq!(home.error("files end --session demo").1["code"], "not_found", "it may be spelled wrongly");
    home.json("files add --session demo --name again --for @x --request Go.");
}
