//! What one agent writes, another one finds.

use std::{fs, os::unix::fs::symlink};

use callboard_core::time::Timestamp;
use callboard_files::{Category, FileQuery, Match, Project, SESSIONS};
use serde_json::json;

use crate::fixture::{ID, Place, file, id, now, words};

fn names(found: &[callboard_files::FoundFile]) -> Vec<&str> {
    found.iter().map(|file| file.path.rsplit('/').next().unwrap()).collect()
}

fn board() -> Place {
    let place = Place::with_session();
    place.add(Category::Features, "user-auth", "user-auth,authentication,features").unwrap();
    place.add(Category::Tasks, "user-auth", "user-auth,tasks,breakdown").unwrap();
    place.add(Category::Documentation, "api-docs", "api,documentation").unwrap();
    place
}

fn search(place: &Place, keywords: &str, more: impl FnOnce(FileQuery) -> FileQuery) -> Vec<String> {
    let query = more(FileQuery { keywords: words(keywords), ..FileQuery::default() });
    names(&place.session().search(&query)).into_iter().map(str::to_owned).collect()
}

#[test]
fn a_file_that_was_added_is_there_and_listed() {
    let place = board();
    let text = fs::read_to_string(place.path("features/user-auth-context.md")).unwrap();
    assert!(text.starts_with(&format!("# Context: User Auth\nSession: {ID}\n")) && text.contains("Do user-auth."));
    let entry = &place.manifest()["context_files"]["tasks/user-auth-tasks.md"];
    let keywords = json!(["user-auth", "tasks", "breakdown"]);
    assert_eq!(*entry, json!({"created": "2025-01-18T14:30:22Z", "for": "@coder", "keywords": keywords}));
}

#[test]
fn files_are_found_by_keyword_category_agent_and_text() {
    let place = board();
    assert_eq!(search(&place, "user-auth", |it| it), ["user-auth-context.md", "user-auth-tasks.md"]);
    assert_eq!(search(&place, "USER-auth,tasks", |it| it), ["user-auth-tasks.md", "user-auth-context.md"]);
    let all = |it| FileQuery { matching: Match::All, ..it };
    assert_eq!(search(&place, "user-auth,tasks", all), ["user-auth-tasks.md"]);
    let docs = |it| FileQuery { category: Some(Category::Documentation), ..it };
    assert_eq!(search(&place, "", docs), ["api-docs-context.md"]);
    let text = |it| FileQuery { text: Some("DO API".to_owned()), ..it };
    assert_eq!(search(&place, "", text), ["api-docs-context.md"]);
    let other = |it| FileQuery { recipient: Some("@other".parse().unwrap()), ..it };
    assert!(search(&place, "", other).is_empty() && search(&place, "auth", |it| it).is_empty());
}

#[test]
fn the_nearest_project_is_found_from_any_folder_below_it() {
    let place = board();
    let project = place.folder.path().join("project");
    let deep = project.join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(Project::nearest(&project), Some(project.as_path()));
    assert_eq!(Project::nearest(&deep), Some(project.as_path()));
    fs::create_dir_all(project.join("src/.tmp/sessions")).unwrap();
    assert_eq!(Project::nearest(&deep), Some(project.join("src").as_path()));
    assert_ne!(Project::nearest(place.folder.path()), Some(project.as_path()), "it is not looked for downwards");
}

#[test]
fn what_belongs_to_a_task_is_found_by_its_words() {
    let place = board();
    let related = |to: &str, task: &str, keywords: &str| {
        let query = FileQuery { keywords: words(keywords), ..FileQuery::default() };
        let found = place.session().related(&to.parse().unwrap(), task, &query);
        names(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(related("@x", "Write the API documentation.", ""), ["api-docs-context.md"]);
    assert_eq!(related("@coder", "Sing.", "").len(), 3);
    assert_eq!(related("coder", "Sing.", "").len(), 3, "with and without the sign");
    assert!(related("@x", "Sing.", "").is_empty() && related("@coder", "Sing.", "song").is_empty());
    fs::remove_file(place.path("documentation/api-docs-context.md")).unwrap();
    assert!(related("@x", "Write the API documentation.", "").is_empty(), "a file that is gone is not handed over");
}

#[test]
fn all_sessions_are_searched_on_request_and_a_damaged_one_is_named() {
    let place = board();
    let project = place.project();
    let mut other = project.create_as(&id("other"), now()).unwrap();
    other.add(&file(Category::Code, "login", "user-auth"), now().plus_seconds(9)).unwrap();
    drop(other);
    fs::create_dir(place.folder.path().join("project").join(SESSIONS).join("empty")).unwrap();
    let found = project.search(&FileQuery { keywords: words("user-auth"), ..FileQuery::default() }).unwrap();
    assert_eq!(names(&found.files), ["login-context.md", "user-auth-context.md", "user-auth-tasks.md"]);
    assert_eq!(found.skipped[0].session_id.as_str(), "empty");
}

#[test]
fn a_name_is_given_once() {
    let place = board();
    let again = place.add(Category::Features, "user-auth", "x").unwrap_err();
    assert_eq!(again.code(), "exists");
    fs::write(place.path("features/mine-context.md"), "by hand").unwrap();
    let mine = place.add(Category::Features, "mine", "x").unwrap_err();
    assert!(mine.code() == "exists" && mine.to_string().contains("--file"), "{mine}");
    assert_eq!(fs::read_to_string(place.path("features/mine-context.md")).unwrap(), "by hand");
}

#[test]
fn a_file_that_was_removed_is_gone_and_can_be_added_again() {
    let place = board();
    let path = "features/user-auth-context.md".parse().unwrap();
    place.session().remove(&path, now()).unwrap();
    assert!(!place.path("features/user-auth-context.md").exists());
    assert_eq!(search(&place, "user-auth", |it| it), ["user-auth-tasks.md"]);
    assert_eq!(place.session().remove(&path, now()).unwrap_err().code(), "not_found");
    place.add(Category::Features, "user-auth", "x").unwrap();
}

#[test]
fn a_file_that_is_there_is_tracked_where_it_is_in_a_category() {
    let place = board();
    fs::write(place.path("features/notes.md"), "by hand").unwrap();
    fs::write(place.path("notes.md"), "by hand").unwrap();
    let track = |path: &str| place.session().track(&path.parse().unwrap(), &"@x".parse().unwrap(), &[], now());
    track("features/notes.md").unwrap();
    assert_eq!(place.manifest()["context_files"]["features/notes.md"]["keywords"], json!(["notes"]));
    assert_eq!(track("features/notes.md").unwrap_err().code(), "exists");
    assert_eq!(track("notes.md").unwrap_err().code(), "invalid");
    assert_eq!(track("features/none.md").unwrap_err().code(), "not_found");
    assert_eq!(track("features").unwrap_err().code(), "invalid");
}

#[test]
fn a_path_may_be_said_in_three_ways_and_leads_nowhere_else() {
    let place = board();
    let session = place.session();
    let meant = |text: &str| session.meant(text).map(|path| path.to_string());
    let path = "features/user-auth-context.md";
    for text in [path.to_owned(), session.shown(path), format!("./{}", session.shown(path))] {
        assert_eq!(meant(&text).unwrap(), path);
    }
    assert_eq!(meant(&place.path(path).display().to_string()).unwrap(), path);
    for text in ["/etc/passwd", "../x", ".tmp/sessions/other/features/x.md", "features/../../x", ".manifest.json"] {
        assert!(meant(text).is_err(), "{text}");
    }
    assert!(meant(&place.folder.path().join("project/features/x.md").display().to_string()).is_err());
}

#[test]
fn names_are_random_and_taken_once() {
    let place = Place::new();
    let project = place.project();
    let mut random = [7, 7, 7, 8].into_iter();
    let mut ids = || project.create(now(), || random.next().unwrap()).unwrap().id().to_string();
    let (first, second) = (ids(), ids());
    assert!(first != second && first.starts_with("20250118-143022-"));
    assert_eq!(project.create(now(), || 7).unwrap_err().code(), "no_free_name");
    assert_eq!(project.create_as(&id(&first), now()).unwrap_err().code(), "exists");
    assert_eq!(project.session(&id("nobody")).unwrap_err().code(), "not_found");
}

#[test]
fn use_is_noted_to_the_second() {
    let place = board();
    place.session().touch("2025-01-18T14:35:10.987Z".parse::<Timestamp>().unwrap()).unwrap();
    assert_eq!(place.manifest()["last_activity"], "2025-01-18T14:35:10Z");
    assert_eq!(place.manifest()["created_at"], "2025-01-18T14:30:22Z");
}

#[test]
fn fields_that_nobody_knows_are_kept() {
    let place = board();
    let mut manifest = place.manifest();
    manifest["owner"] = json!({"name": "me", "n": [1, 2.5, null]});
    manifest["context_files"]["features/user-auth-context.md"]["priority"] = json!("high");
    place.set_manifest(&manifest);
    place.add(Category::Code, "more", "x").unwrap();
    let written = place.manifest();
    assert_eq!(written["owner"], manifest["owner"]);
    assert_eq!(written["context_files"]["features/user-auth-context.md"]["priority"], "high");
}

#[test]
fn a_manifest_that_cannot_be_used_is_refused_and_left_as_it_is() {
    for (bytes, code) in [
        ("", "manifest_damaged"),
        ("{\"session_id\":", "manifest_damaged"),
        ("[]", "manifest_damaged"),
        ("{\"session_id\": 1}", "manifest_damaged"),
    ] {
        let place = board();
        fs::write(place.path(".manifest.json"), bytes).unwrap();
        assert_eq!(place.project().session(&id(ID)).unwrap_err().code(), code, "{bytes:?}");
        let mut other = place.project();
        assert_eq!(other.session_or_new(&id(ID), now()).unwrap_err().code(), code, "{bytes:?}");
        other = place.project();
        assert_eq!(other.end(&id(ID), now()).unwrap_err().code(), code, "{bytes:?}");
        assert_eq!(fs::read_to_string(place.path(".manifest.json")).unwrap(), bytes);
    }
    let place = board();
    let mut manifest = place.manifest();
    manifest["session_id"] = json!("another");
    place.set_manifest(&manifest);
    assert_eq!(place.project().session(&id(ID)).unwrap_err().code(), "manifest_of_another_session");
    fs::remove_file(place.path(".manifest.json")).unwrap();
    assert_eq!(place.project().session(&id(ID)).unwrap_err().code(), "manifest_missing");
}

#[test]
fn links_are_not_followed_wherever_they_are() {
    for link in [".tmp", ".tmp/sessions", &format!(".tmp/sessions/{ID}"), &format!(".tmp/sessions/{ID}/features")] {
        let place = board();
        let (here, away) = (place.folder.path().join("project").join(link), place.folder.path().join("away"));
        fs::rename(&here, &away).unwrap();
        symlink(&away, &here).unwrap();
        let before = place.all();
        let session = place.project().session_or_new(&id(ID), now());
        let added = session.and_then(|mut session| session.add(&file(Category::Features, "new", ""), now()));
        assert_eq!(added.unwrap_err().code(), "misplaced", "{link}");
        let ended = place.project().end(&id(ID), now());
        assert!(ended.is_err() || !ended.unwrap().kept.is_empty(), "{link}");
        let is_away = |(path, _): &(&String, &String)| path.starts_with("away");
        let after = place.all();
        assert!(before.iter().filter(is_away).eq(after.iter().filter(is_away)), "{link}");
    }
}

#[test]
fn what_was_broken_off_is_no_hindrance() {
    let place = board();
    fs::write(place.path(".manifest.json.new"), "{").unwrap();
    fs::write(place.path(".document.new"), "half a docu").unwrap();
    // Listed, and its process died before the document was moved to its place.
    let mut manifest = place.manifest();
    let entry = manifest["context_files"]["tasks/user-auth-tasks.md"].clone();
    manifest["context_files"]["code/half-context.md"] = entry;
    place.set_manifest(&manifest);
    place.add(Category::Code, "half", "whole").unwrap();
    assert_eq!(place.manifest()["context_files"]["code/half-context.md"]["keywords"], json!(["whole"]));
    fs::write(place.path(".document.new"), "half a docu").unwrap();
    assert!(place.project().end(&id(ID), now()).unwrap().kept.is_empty());
    assert!(!place.path("").exists());
}
