//! I10: clean-up deletes nothing that its manifest does not list.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::symlink,
    path::Path,
};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{ID, Place, id, now};

/// Something in the folder of a session, that anybody may have put there.
#[derive(Clone, Debug)]
enum Thing {
    File,
    Folder,
    /// A link to one of these.
    Link(usize),
    /// A second name of a file outside.
    HardLink,
    Pipe,
}

/// Names of which paths are made. Few, so that things meet.
const NAMES: [&str; 8] = ["features", "tasks", "a", "b.md", "x-context.md", ".hidden", ".manifest.json.new", "é"];

/// Where links lead to.
const TARGETS: [&str; 7] = ["/outside", "/outside/secret.md", "..", ".", "../other", "features", "/outside/none"];

/// What entries name, besides paths made of names.
const HOSTILE: [&str; 14] = [
    "",
    ".",
    "..",
    "/",
    "../other/code/x-context.md",
    "../../../../outside/secret.md",
    "features/../../other/code/x-context.md",
    "/etc/passwd",
    ".manifest.json",
    "features/",
    "features//x-context.md",
    "./a",
    "a\0b",
    "a\\b",
];

/// What may be wrong with a manifest as a whole.
const DAMAGES: [&str; 6] = ["missing", "empty", "cut", "of another", "bad date", "bad entry date"];

#[derive(Clone, Debug)]
struct Scene {
    things: Vec<(Vec<usize>, Thing)>,
    entries: Vec<Result<Vec<usize>, usize>>,
    damage: Option<usize>,
    end: bool,
}

fn path() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..NAMES.len(), 1..4)
}

fn scene() -> impl Strategy<Value = Scene> {
    let thing = prop_oneof![
        4 => Just(Thing::File),
        3 => Just(Thing::Folder),
        3 => (0..TARGETS.len()).prop_map(Thing::Link),
        1 => Just(Thing::HardLink),
        1 => Just(Thing::Pipe),
    ];
    let entry = prop_oneof![3 => path().prop_map(Ok), 1 => (0..HOSTILE.len()).prop_map(Err)];
    let damage = prop_oneof![5 => Just(None), 1 => (0..DAMAGES.len()).prop_map(Some)];
    (prop::collection::vec((path(), thing), 0..14), prop::collection::vec(entry, 0..10), damage, any::<bool>())
        .prop_map(|(things, entries, damage, end)| Scene { things, entries, damage, end })
}

fn named(path: &[usize]) -> String {
    path.iter().map(|at| NAMES[*at]).collect::<Vec<_>>().join("/")
}

/// Puts the scene up and gives the paths that the manifest lists; nothing where it cannot be used.
fn put_up(scene: &Scene, place: &Place) -> Option<BTreeSet<String>> {
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.md"), "secret").unwrap();
    let other = place.path("../other");
    fs::create_dir_all(other.join("code")).unwrap();
    fs::write(other.join("code/x-context.md"), "of another session").unwrap();
    fs::write(other.join(".manifest.json"), manifest("other", &["code/x-context.md".to_owned()]).to_string()).unwrap();
    for (path, thing) in &scene.things {
        put(place, &outside, &named(path), thing);
    }
    let entries: Vec<String> = scene
        .entries
        .iter()
        .map(|entry| match entry {
            Ok(path) => named(path),
            Err(at) => HOSTILE[*at].to_owned(),
        })
        .collect();
    let mut manifest = manifest(ID, &entries);
    let file = place.path(".manifest.json");
    match scene.damage.map(|at| DAMAGES[at]) {
        None => {}
        Some("missing") => {
            fs::remove_file(file).unwrap();
            return None;
        }
        Some("empty") => return fs::write(file, "").map(|()| None).unwrap(),
        Some("cut") => {
            let text = manifest.to_string();
            return fs::write(file, &text[..text.len() - 1]).map(|()| None).unwrap();
        }
        Some("of another") => manifest["session_id"] = json!("other"),
        Some("bad date") => manifest["last_activity"] = json!("2025-02-30T00:00:00Z"),
        Some(_) if entries.is_empty() => {}
        Some(_) => manifest["context_files"][&entries[0]]["created"] = json!("soon"),
    }
    fs::write(file, manifest.to_string()).unwrap();
    let is_good = scene.damage.is_none_or(|at| DAMAGES[at] == "bad entry date" && entries.is_empty());
    is_good.then(|| entries.into_iter().collect())
}

fn put(place: &Place, outside: &Path, name: &str, thing: &Thing) {
    let path = place.path(name);
    // Only in real folders: the scene itself must not reach through its links.
    let mut above = place.path("");
    for folder in Path::new(name).parent().unwrap().components() {
        above.push(folder);
        if fs::symlink_metadata(&above).is_ok_and(|it| !it.is_dir()) {
            return;
        }
    }
    fs::create_dir_all(above).unwrap();
    let _ = match thing {
        Thing::File if fs::symlink_metadata(&path).is_err() => fs::write(path, format!("text of {name}")),
        Thing::File => Ok(()),
        Thing::Folder => fs::create_dir(path),
        Thing::Link(at) => {
            let inside = TARGETS[*at].strip_prefix("/outside");
            let target = inside.map_or_else(|| TARGETS[*at].into(), |rest| outside.join(rest.trim_start_matches('/')));
            symlink(target, path)
        }
        Thing::HardLink => fs::hard_link(outside.join("secret.md"), path),
        Thing::Pipe => {
            let _ = std::process::Command::new("mkfifo").arg(path).output();
            Ok(())
        }
    };
}

fn manifest(id: &str, entries: &[String]) -> Value {
    let entry = json!({"created": "2025-01-18T14:30:22Z", "for": "@x", "keywords": ["k"]});
    let entries: BTreeMap<_, _> = entries.iter().map(|path| (path.clone(), entry.clone())).collect();
    // The other session is in use all the time.
    let last = if id == ID { "2025-01-18T14:30:22Z" } else { "2025-02-01T00:00:00Z" };
    json!({"session_id": id, "created_at": "2025-01-18T14:30:22Z", "last_activity": last, "context_files": entries})
}

/// Whether a path leads to a plain file in real folders, as all that there is says.
fn is_plain_file(all: &BTreeMap<String, String>, session: &str, path: &str) -> bool {
    all.get(&format!("{session}{path}")).is_some_and(|it| it.starts_with("file "))
}

fn check(scene: &Scene) -> Result<(), TestCaseError> {
    let place = Place::with_session();
    let listed = put_up(scene, &place);
    let before = place.all();
    let dry = place.project().clean(crate::fixture::DAY, now().plus_seconds(86_401), true).unwrap();
    prop_assert_eq!(&place.all(), &before, "a dry run changes nothing");
    let cleaned = if scene.end { place.project().end(&id(ID), now()) } else { Ok(place.clean()) };
    let after = place.all();
    let session = format!("project/.tmp/sessions/{ID}/");
    let folder = session.trim_end_matches('/');
    let vanished: BTreeSet<&String> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    // Where the manifest cannot be written there is no cleaning up.
    let is_blocked = before.get(&format!("{session}.manifest.json.new")).is_some_and(|it| it == "folder");
    let Some(listed) = listed.filter(|_| !is_blocked) else {
        prop_assert_eq!(&after, &before, "a manifest that cannot be used or written stops everything");
        prop_assert!(cleaned.is_err() || cleaned.is_ok_and(|cleaned| cleaned.kept.len() == 1));
        return Ok(());
    };
    let cleaned = cleaned.unwrap();
    if !scene.end {
        prop_assert_eq!(&dry, &cleaned, "a dry run says what would be done");
    }
    let is_scratch = |path: &str| [".manifest.json", ".manifest.json.new", ".document.new"].contains(&path);
    for path in &vanished {
        let Some(below) = path.strip_prefix(&session) else {
            prop_assert_eq!(path.as_str(), folder, "only the session's own folder is touched");
            continue;
        };
        let is_empty_folder = before[*path] == "folder";
        let was_listed = listed.contains(below) && is_plain_file(&before, &session, below);
        let is_own = is_scratch(below) && (vanished.contains(&folder.to_owned()) || below != ".manifest.json");
        prop_assert!(is_empty_folder || was_listed || is_own, "{} was deleted", path);
    }
    for (path, what) in &after {
        let is_manifest = path.strip_prefix(&session) == Some(".manifest.json");
        prop_assert!(is_manifest || before.get(path) == Some(what), "{} was changed", path);
    }
    let deleted: BTreeSet<_> = cleaned.deleted.iter().map(|path| format!("project/{path}")).collect();
    let files = listed.iter().filter(|path| is_plain_file(&before, &session, path) && !is_scratch(path));
    for path in files {
        let path = format!("{session}{path}");
        prop_assert!(vanished.contains(&path) && deleted.contains(&path), "{} is still there", path);
    }
    prop_assert!(deleted.iter().all(|path| vanished.contains(path)), "{:?} and {:?}", deleted, vanished);
    prop_assert_eq!(cleaned.kept.is_empty(), !after.contains_key(folder), "what stays is told");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i10_clean_up_deletes_nothing_that_its_manifest_does_not_list(scene in scene()) {
        check(&scene)?;
    }
}
