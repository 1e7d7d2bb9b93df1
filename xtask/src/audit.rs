//! Checks of dependencies: licences, sources, the layers of our own crates, and import cycles between the files of a crate.
//! And that no test goes by the clock, and that no name of a type means two things.
//!
//! Known vulnerabilities are not checked, since that needs an external database.

mod circles;
mod clock;
mod names;
mod sources;

use std::collections::BTreeSet;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::{cache, command};

/// Licences that a dependency may have.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Our crates from the lowest to the highest, each with those of our crates that it may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("xtask", &[]),
    ("callboard-core", &[]),
    ("callboard-prompt", &["core"]),
    ("callboard-tasks", &[]),
    ("callboard-tokens", &["core"]),
    ("callboard-store", &["core", "tasks"]),
    ("callboard-model", &[]),
    ("callboard-files", &["core"]),
    ("callboard-convert", &[]),
    ("callboard-browser", &[]),
    // A model is for the program that measures recall alone.
    ("callboard-recall", &["core", "model"]),
    ("callboard-engine", &["core", "prompt", "tasks", "tokens", "store", "recall"]),
    ("callboard-run", &["core", "prompt", "engine", "model"]),
    ("callboard-api", &["core", "prompt"]),
    ("callboard-mcp", &["core"]),
    (
        "callboard-server",
        &["core", "prompt", "tasks", "store", "model", "files", "convert", "browser", "engine", "run", "api", "mcp"],
    ),
    (
        "callboard",
        &["core", "tasks", "tokens", "store", "model", "files", "convert", "engine", "run", "api", "mcp", "server"],
    ),
    (
        "callboard-bench",
        &["core", "prompt", "tokens", "store", "recall", "model", "files", "browser", "engine", "run", "api", "server"],
    ),
];

/// Checks everything and reports every fault.
pub(crate) fn audit() -> anyhow::Result<()> {
    eprintln!(
        "checking licences, sources, dependencies between crates, import cycles, names of types, and tests that go by the clock (not known vulnerabilities)"
    );
    let metadata =
        command::output(command::cargo().args(["metadata", "--format-version=1", "--all-features", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata is not JSON")?;
    let packages = metadata.get("packages").and_then(Value::as_array).context("cargo metadata names no packages")?;
    let faults: BTreeSet<_> = packages.iter().flat_map(faults).collect();
    if !faults.is_empty() {
        bail!("dependencies:\n  {}", faults.into_iter().collect::<Vec<_>>().join("\n  "));
    }
    let repository = cache::repository();
    let circles = circles::circles(&sources::read(&repository, &["crates", "xtask/src"])?);
    refuse(&circles, "move what the files share into a file below them")?;
    let sources = sources::read(&repository, &["crates"])?;
    let reason = "wait for an event instead, or say why in a comment: `// clock: the reason`";
    refuse(&clock::faults(&sources), reason)?;
    let shared = "name each type for what it is, or say in xtask/src/audit/names.rs why they share a name";
    refuse(&names::faults(&sources), shared)
}

/// Fails if there are faults, and says what to do about them.
fn refuse(faults: &[String], advice: &str) -> anyhow::Result<()> {
    if !faults.is_empty() {
        bail!("{}\n{advice}", faults.join("\n"));
    }
    Ok(())
}

fn faults(package: &Value) -> Vec<String> {
    let name = text(package, "name");
    let Some(source) = package.get("source").and_then(Value::as_str) else {
        return arrows(name, package);
    };
    let mut faults = Vec::new();
    if !(source.starts_with("registry+") && source.ends_with("/crates.io-index")) {
        faults.push(format!("{name} comes from {source}: only crates.io is allowed"));
    }
    let licence = text(package, "license");
    if !allowed(licence) {
        faults.push(format!("{name} has the licence `{licence}`, which is not on the list in xtask/src/audit.rs"));
    }
    faults
}

/// The crates that our crate `name` uses but may not use, also for its tests.
fn arrows(name: &str, package: &Value) -> Vec<String> {
    let Some((_, below)) = ARROWS.iter().find(|(known, _)| *known == name) else {
        return vec![format!("{name} is in no layer: give it one in xtask/src/audit.rs")];
    };
    let used = package.get("dependencies").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let used = used.iter().filter(|dependency| dependency.get("path").is_some_and(Value::is_string));
    used.map(|dependency| text(dependency, "name"))
        .filter(|used| *used != name && !below.iter().any(|allowed| used.strip_prefix("callboard-") == Some(allowed)))
        .map(|used| format!("{name} uses {used}, which is not below it"))
        .collect()
}

/// Whether a licence expression can be satisfied with licences on the list.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    if let Some((before, rest)) = expression.split_once('(')
        && let Some((inner, after)) = rest.split_once(')')
    {
        let inner = if allowed(inner) { "MIT" } else { "none" };
        return allowed(&format!("{before}{inner}{after}"));
    }
    expression.split(" OR ").any(|choice| choice.split(" AND ").all(|one| LICENCES.contains(&one.trim())))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_licence_is_allowed_when_one_choice_of_it_is() {
        for good in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert!(allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR LGPL-2.1) AND MIT"] {
            assert!(!allowed(bad), "{bad}");
        }
    }

    #[test]
    fn an_arrow_that_points_up_is_named() {
        let of = |name: &str, used: &str| {
            faults(&json!({"name": name, "source": null, "dependencies": [{"name": used, "path": "/somewhere"}]}))
        };
        assert_eq!(
            of("callboard-core", "callboard-store"),
            ["callboard-core uses callboard-store, which is not below it"]
        );
        assert_eq!(of("callboard-store", "callboard-core"), Vec::<String>::new());
        assert!(of("newcomer", "callboard-core")[0].contains("give it one"));
    }

    #[test]
    fn a_dependency_from_elsewhere_is_named() {
        let fault = faults(&json!({"name": "thing", "source": "git+https://example.org/thing", "license": "MIT"}));
        assert!(fault[0].contains("only crates.io"), "{fault:?}");
    }
}
