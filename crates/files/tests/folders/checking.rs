//! What is wrong is found and named, and mended where that can be.

use std::{fs, os::unix::fs::symlink};

use callboard_files::FolderProblem;
use serde_json::{Value, json};

use crate::fixture::{ID, Place, id, now};

fn codes(problems: &[FolderProblem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.code.as_str()).collect()
}

/// Spoils a board, and says what is found, and what is still wrong after mending.
fn check(spoil: impl FnOnce(&Place)) -> (Place, Vec<String>, Vec<String>) {
    let place = Place::with_files();
    spoil(&place);
    let before = place.all();
    let owned = |problems: &[FolderProblem]| codes(problems).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let found = owned(&place.project().check(None, None).unwrap());
    assert_eq!(place.all(), before, "whoever looks changes nothing");
    let mended = place.project().check(Some(&id(ID)), Some(now().plus_seconds(60))).unwrap();
    assert_eq!(owned(&mended), found);
    let left = owned(&place.project().check(None, None).unwrap());
    let unmended: Vec<_> =
        mended.iter().filter(|problem| !problem.repaired).map(|problem| problem.code.clone()).collect();
    assert_eq!(unmended, left);
    (place, found, left)
}

fn change(how: impl FnOnce(&mut Value)) -> (Place, Vec<String>, Vec<String>) {
    check(|place| {
        let mut manifest = place.manifest();
        how(&mut manifest);
        place.set_manifest(&manifest);
    })
}

#[test]
fn nothing_is_wrong_with_what_was_made_here() {
    let (_, found, left) = check(|_| {});
    assert!(found.is_empty() && left.is_empty());
    assert_eq!(Place::new().project().check(None, None).unwrap(), []);
    assert_eq!(Place::new().project().check(Some(&id(ID)), None).unwrap_err().code(), "not_found");
}

#[test]
fn a_manifest_is_made_anew_from_the_documents_that_say_whose_they_are() {
    for bytes in [None, Some(""), Some("{\"session_id\""), Some("[]")] {
        let (place, found, left) = check(|place| {
            fs::write(place.path("features/other-context.md"), "# Context\nSession: another\n").unwrap();
            fs::remove_file(place.path(".manifest.json")).unwrap();
            if let Some(bytes) = bytes {
                fs::write(place.path(".manifest.json"), bytes).unwrap();
            }
        });
        let code = if bytes.is_none() { "manifest_missing" } else { "manifest_damaged" };
        assert_eq!(found, [code, "not_tracked"], "{bytes:?}");
        assert_eq!(left, ["not_tracked"]);
        let manifest = place.manifest();
        let paths: Vec<_> = manifest["context_files"].as_object().unwrap().keys().collect();
        assert_eq!(paths, ["features/user-auth-context.md", "tasks/user-auth-tasks.md"]);
        assert_eq!(manifest["context_files"]["tasks/user-auth-tasks.md"]["for"], "unknown");
        assert_eq!(manifest["last_activity"], "2025-01-18T14:31:22Z");
        assert_eq!(manifest["session_id"], ID);
    }
}

#[test]
fn the_manifest_of_another_session_is_made_this_ones() {
    let (place, found, left) = change(|manifest| manifest["session_id"] = json!("another"));
    assert_eq!((found, left.len()), (vec!["manifest_of_another_session".to_owned()], 0));
    assert_eq!(place.manifest()["session_id"], ID);
}

#[test]
fn an_index_is_made_anew() {
    let (place, found, left) = change(|manifest| manifest["context_index"] = json!({"api": ["x"]}));
    assert_eq!((found, left.len()), (vec!["index_wrong".to_owned()], 0));
    assert!(place.manifest()["context_index"].get("api").is_none());
    let (_, found, _) = change(|manifest| drop(manifest["context_index"].take()));
    assert_eq!(found, ["index_wrong"]);
}

#[test]
fn dates_that_are_none_are_replaced() {
    let (place, found, left) = change(|manifest| {
        manifest["last_activity"] = json!("yesterday");
        manifest["created_at"] = json!(7);
        manifest["context_files"]["tasks/user-auth-tasks.md"]["created"] = json!("soon");
    });
    assert_eq!((found.len(), found[0].as_str(), left.len()), (3, "bad_date", 0));
    assert_eq!(place.manifest()["last_activity"], "2025-01-18T14:31:22Z");
    assert!(place.clean().kept.is_empty());
}

#[test]
fn entries_that_lead_elsewhere_are_dropped_and_what_they_lead_to_is_left_alone() {
    let (place, found, left) = check(|place| {
        fs::write(place.folder.path().join("secret.md"), "secret").unwrap();
        symlink(place.folder.path().join("secret.md"), place.path("features/link-context.md")).unwrap();
        symlink(place.folder.path(), place.path("code")).unwrap();
        fs::remove_file(place.path("tasks/user-auth-tasks.md")).unwrap();
        let mut manifest = place.manifest();
        let entry = manifest["context_files"]["features/user-auth-context.md"].clone();
        for path in ["../../../../secret.md", "features/link-context.md", "code/secret.md", "/etc/passwd", "features"] {
            manifest["context_files"][path] = entry.clone();
        }
        place.set_manifest(&manifest);
    });
    let mut found = found;
    found.sort_unstable();
    let dropped = ["file_missing", "index_wrong", "misplaced", "misplaced", "misplaced"];
    let expected = [&dropped[..], &["not_tracked", "not_tracked", "outside", "outside"]].concat();
    assert_eq!(found, expected);
    assert!(left.iter().all(|code| code == "not_tracked"), "{left:?}");
    assert_eq!(fs::read_to_string(place.folder.path().join("secret.md")).unwrap(), "secret");
    assert_eq!(place.manifest()["context_files"].as_object().unwrap().len(), 1);
}

#[test]
fn an_entry_that_cannot_be_read_is_made_anew() {
    let (place, found, left) = change(|manifest| {
        manifest["context_files"]["tasks/user-auth-tasks.md"] = json!({"keywords": "user-auth"});
    });
    assert_eq!((found, left.len()), (vec!["entry_damaged".to_owned()], 0));
    assert_eq!(place.manifest()["context_files"]["tasks/user-auth-tasks.md"]["keywords"], json!(["user-auth"]));
}

#[test]
fn a_file_that_is_not_listed_is_named_and_left_alone() {
    let (place, found, left) = check(|place| fs::write(place.path("mine.md"), "mine").unwrap());
    assert_eq!((found, left), (vec!["not_tracked".to_owned()], vec!["not_tracked".to_owned()]));
    assert!(place.path("mine.md").exists());
}

#[test]
fn a_manifest_that_is_a_link_is_not_followed() {
    let (place, found, left) = check(|place| {
        let away = place.folder.path().join("away.json");
        fs::rename(place.path(".manifest.json"), &away).unwrap();
        symlink(&away, place.path(".manifest.json")).unwrap();
    });
    assert_eq!((found.as_slice(), left.as_slice()), (&["misplaced".to_owned()][..], &["misplaced".to_owned()][..]));
    assert!(place.path(".manifest.json").is_symlink());
}
