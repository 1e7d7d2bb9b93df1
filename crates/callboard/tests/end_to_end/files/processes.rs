//! Many processes on one session.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::manifest;
use crate::home::{Home, split};

const PROCESSES: usize = 200;

fn start(home: &Home, line: &str) -> Child {
    home.command(split(line)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn add(home: &Home, nth: usize) -> Child {
    let keyword = nth % 7;
    start(
        home,
        &format!(
            "files add --session demo --category code --name n{nth} --for @x --keywords k{keyword},all --request Go."
        ),
    )
}

/// The paths in a manifest whose index is the exact inverse of its entries.
fn listed(manifest: &Value) -> BTreeSet<String> {
    let mut inverse: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let entries = manifest["context_files"].as_object().unwrap();
    for (path, entry) in entries {
        for keyword in entry["keywords"].as_array().unwrap() {
            inverse.entry(keyword.as_str().unwrap()).or_default().insert(path);
        }
    }
    let index = manifest["context_index"].as_object().unwrap();
    let paths = |paths: &'_ Value| paths.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect();
    let index: BTreeMap<&str, BTreeSet<String>> = index.iter().map(|(word, it)| (word.as_str(), paths(it))).collect();
    let inverse: BTreeMap<&str, BTreeSet<String>> =
        inverse.into_iter().map(|(word, it)| (word, it.into_iter().map(str::to_owned).collect())).collect();
    assert_eq!(index, inverse);
    entries.keys().cloned().collect()
}

#[test]
fn two_hundred_processes_that_add_at_once_end_with_two_hundred_files() {
    let home = Home::new();
    // Nobody has made the session before.
    let children: Vec<_> = (0..PROCESSES).map(|nth| add(&home, nth)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let listed = listed(&manifest(&home, "demo"));
    assert_eq!(listed.len(), PROCESSES);
    assert!(listed.iter().all(|path| home.path(&format!(".tmp/sessions/demo/{path}")).is_file()));
    assert_eq!(home.json("files check")["problems"], serde_json::json!([]));
}

#[test]
fn adds_removes_searches_and_clean_up_at_once_lose_nothing() {
    let home = Home::new();
    for nth in 0..40 {
        assert!(add(&home, nth).wait().unwrap().success());
    }
    // One that stays, so that every search finds something.
    assert!(add(&home, 200).wait().unwrap().success());
    let mut children: Vec<_> = (0..40)
        .flat_map(|nth| {
            [
                add(&home, 100 + nth),
                start(&home, &format!("files remove --session demo code/n{nth}-context.md")),
                start(&home, "files search --session demo --keywords all"),
                start(&home, "files clean"),
            ]
        })
        .collect();
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let expected: BTreeSet<_> = (100..140).chain([200]).map(|nth| format!("code/n{nth}-context.md")).collect();
    assert_eq!(listed(&manifest(&home, "demo")), expected);
    assert_eq!(fs::read_dir(home.path(".tmp/sessions/demo/code")).unwrap().count(), 41);
}

/// Random numbers that can be had again from their seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Lets time pass without giving the processor away, so that a process is met anywhere in its work.
fn spin(micros: u64) {
    let end = Instant::now() + Duration::from_micros(micros);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

#[test]
fn processes_that_are_killed_at_any_moment_damage_nothing() {
    // As for all that is random: one seed for all, or a new one.
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| getrandom::u64().unwrap());
    let mut random = Random(seed);
    let home = Home::new();
    let (mut running, mut acknowledged, mut killed) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for nth in 0..PROCESSES {
        running.push((nth, add(&home, nth)));
        // Some eight at a time, of which every second is killed.
        if running.len() < 8 && nth + 1 < PROCESSES {
            continue;
        }
        while running.len() > if nth + 1 < PROCESSES { 4 } else { 0 } {
            let at = usize::try_from(random.below(running.len() as u64)).unwrap();
            let (nth, mut child) = running.swap_remove(at);
            if random.below(2) == 0 {
                spin(random.below(10_000));
                let _ = child.kill();
            }
            let path = format!("code/n{nth}-context.md");
            let status = child.wait().unwrap();
            match status.code() {
                Some(0) => acknowledged.insert(path),
                None => killed.insert(path),
                Some(code) => panic!("an add that was not killed ended with {code}; seed {seed}"),
            };
            // Readable at any time, whoever dies.
            if home.path(".tmp/sessions/demo/.manifest.json").exists() {
                listed(&manifest(&home, "demo"));
            }
        }
    }
    let there = listed(&manifest(&home, "demo"));
    println!("seed {seed}: {} acknowledged, {} killed, {} listed", acknowledged.len(), killed.len(), there.len());
    assert!(acknowledged.is_subset(&there), "what was acknowledged is listed; seed {seed}");
    assert!(there.iter().all(|path| acknowledged.contains(path) || killed.contains(path)));
    for path in &there {
        match fs::read_to_string(home.path(&format!(".tmp/sessions/demo/{path}"))) {
            Ok(text) => assert!(text.ends_with("## Constraints\nNone given.\n"), "half of {path}; seed {seed}"),
            Err(_) => assert!(killed.contains(path), "{path} was acknowledged and is not there; seed {seed}"),
        }
    }
    // Nothing is there that is not listed, so that all of it can be cleaned up.
    let on_disk = fs::read_dir(home.path(".tmp/sessions/demo/code")).unwrap();
    let on_disk: BTreeSet<_> =
        on_disk.map(|it| format!("code/{}", it.unwrap().file_name().to_string_lossy())).collect();
    assert!(on_disk.is_subset(&there), "seed {seed}");
    home.json("files check --repair");
    home.json("files end --session demo");
    assert!(!home.path(".tmp/sessions/demo").exists());
}
