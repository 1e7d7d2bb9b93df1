//! The end of sessions, and of those that nobody uses.

use std::{fs, time::Duration};

use callboard_files::Category;
use serde_json::json;

use crate::fixture::{DAY, ID, Place, file, id, now};

#[test]
fn a_session_ends_with_its_folder_and_leaves_others_alone() {
    let place = Place::with_files();
    let project = place.project();
    project.create_as(&id("other"), now()).unwrap().add(&file(Category::Code, "x", ""), now()).unwrap();
    let ended = project.end(&id(ID), now()).unwrap();
    let folder = format!(".tmp/sessions/{ID}");
    let deleted =
        ["/features/user-auth-context.md", "/tasks/user-auth-tasks.md", ""].map(|path| format!("{folder}{path}"));
    assert_eq!((ended.deleted, ended.kept), (deleted.to_vec(), Vec::new()));
    assert_eq!(project.ids().unwrap(), [id("other")]);
    assert_eq!(project.session(&id("other")).unwrap().manifest().context_files.len(), 1);
}

#[test]
fn a_session_that_is_gone_has_ended() {
    let place = Place::with_files();
    fs::remove_dir_all(place.path("")).unwrap();
    assert_eq!(place.project().end(&id(ID), now()).unwrap(), callboard_files::Cleaned::default());
    fs::remove_dir_all(place.folder.path().join("project/.tmp")).unwrap();
    assert_eq!(place.project().end(&id(ID), now()).unwrap(), callboard_files::Cleaned::default());
    assert_eq!(place.clean(), callboard_files::Cleaned::default());
}

#[test]
fn what_is_not_listed_stays_and_is_named_and_so_does_the_manifest() {
    let place = Place::with_files();
    fs::write(place.path("features/mine.md"), "mine").unwrap();
    let ended = place.project().end(&id(ID), now().plus_seconds(9)).unwrap();
    assert_eq!(ended.deleted.len(), 2);
    assert_eq!(ended.kept[0].path, format!(".tmp/sessions/{ID}/features/mine.md"));
    assert_eq!(place.manifest()["context_files"], json!({}));
    assert_eq!(place.manifest()["last_activity"], "2025-01-18T14:30:31Z");
    fs::remove_file(place.path("features/mine.md")).unwrap();
    assert!(place.project().end(&id(ID), now()).unwrap().kept.is_empty() && !place.path("").exists());
}

#[test]
fn a_session_is_stale_after_a_day_to_the_second() {
    let place = Place::with_files();
    let clean = |seconds| place.project().clean(DAY, now().plus_seconds(seconds), false).unwrap();
    assert!(clean(86_400).deleted.is_empty() && clean(-9).deleted.is_empty() && place.path("").exists());
    assert_eq!(clean(86_401).deleted.len(), 3);
    assert!(!place.path("").exists());
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let place = Place::with_files();
    fs::create_dir_all(place.path("code/deep")).unwrap();
    let before = place.all();
    let later = now().plus_seconds(86_401);
    let said = place.project().clean(DAY, later, true).unwrap();
    assert_eq!(place.all(), before);
    assert_eq!(said, place.clean());
    assert!(!place.path("").exists());
}

#[test]
fn a_bad_date_or_manifest_stops_everything_for_its_session_alone() {
    type Spoil = fn(&Place);
    let spoilers: [(&str, Spoil); 5] = [
        ("no manifest", |place| fs::remove_file(place.path(".manifest.json")).unwrap()),
        ("no json", |place| fs::write(place.path(".manifest.json"), "{").unwrap()),
        ("last_activity", |place| spoil(place, |manifest| manifest["last_activity"] = json!("yesterday"))),
        ("created_at", |place| spoil(place, |manifest| manifest["created_at"] = json!("2025-13-01T00:00:00Z"))),
        ("created", |place| spoil(place, |it| it["context_files"]["tasks/user-auth-tasks.md"]["created"] = json!(""))),
    ];
    for (what, spoil) in spoilers {
        let place = Place::with_files();
        place.project().create_as(&id("other"), now()).unwrap();
        spoil(&place);
        let before = place.all();
        let cleaned = place.clean();
        assert_eq!(cleaned.deleted, [".tmp/sessions/other"], "{what}");
        assert_eq!(cleaned.kept[0].path, format!(".tmp/sessions/{ID}"), "{what}");
        assert!(place.project().end(&id(ID), now()).is_err(), "{what}");
        let after = place.all();
        assert!(before.iter().filter(|(path, _)| !path.contains("other")).eq(after.iter()), "{what}");
    }
}

fn spoil(place: &Place, how: impl FnOnce(&mut serde_json::Value)) {
    let mut manifest = place.manifest();
    how(&mut manifest);
    place.set_manifest(&manifest);
}

#[test]
fn what_is_in_use_is_not_cleaned_up_however_old_it_is() {
    let place = Place::with_files();
    let later = now().plus_seconds(500_000);
    place.session().touch(later).unwrap();
    assert!(place.project().clean(Duration::ZERO, later, false).unwrap().deleted.is_empty() && place.path("").exists());
}
