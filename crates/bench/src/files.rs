//! How long context files take: adding each with a separate process, and searching.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use callboard_files::{Entry, FileQuery, Manifest, Project, SESSIONS};

use crate::{
    Scale,
    report::{Goal, Report},
    timing::{median, millis, ms},
};

/// How many processes add at once.
const AT_ONCE: usize = 200;

pub(crate) fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let binary = binary()?;
    for (files, limit_ms) in [(2_000, 20.0), (10_000, 80.0)] {
        let times = adding(&binary, scale.of(files), if scale.quick { 3 } else { 30 })?;
        let what = format!("adding a file to {files} in a process of its own, in ms");
        promised(report, what, median(&times), limit_ms);
    }
    let times = searching(scale.of(10_000))?;
    promised(report, "searching 10,000 files, the manifest loaded, in ms".to_owned(), median(&times), 10.0);
    let (took, files) = at_once(&binary)?;
    let measured = format!("{files} files after {} ms", millis(took));
    report.promised("files after 200 processes added one each at once", files as f64, Goal::AtLeast(200.0), measured);
    Ok(())
}

fn promised(report: &mut Report, what: String, median: Duration, limit_ms: f64) {
    let measured = format!("{} ms", millis(median));
    report.promised(what, ms(median), Goal::AtMost(limit_ms), measured);
}

/// The binary of the command line, which is built together with this one.
fn binary() -> anyhow::Result<PathBuf> {
    let binary = std::env::current_exe()?.with_file_name("callboard");
    ensure!(binary.is_file(), "there is no {}: `cargo xtask bench files` builds it", binary.display());
    Ok(binary)
}

fn adding(binary: &Path, files: usize, times: usize) -> anyhow::Result<Vec<Duration>> {
    let folder = session_of(files)?;
    let add = |nth: usize| {
        let begin = Instant::now();
        let status = start(binary, folder.path(), nth)?.wait()?;
        ensure!(status.success(), "callboard files add failed");
        Ok(begin.elapsed())
    };
    // The first one finds nothing in the system's memory yet.
    add(0)?;
    (1..=times).map(add).collect()
}

fn searching(files: usize) -> anyhow::Result<Vec<Duration>> {
    let folder = session_of(files)?;
    let session = Project::at(folder.path())?.session(&"bench".parse()?)?;
    // One word that few files have, and one that all have.
    let query = FileQuery { keywords: vec!["k7".parse()?, "all".parse()?], ..FileQuery::default() };
    let search = |_| {
        let begin = Instant::now();
        let found = session.search(&query).len();
        let took = begin.elapsed();
        ensure!(found == files, "{found} files were found, and not {files}");
        Ok(took)
    };
    (0..50).map(search).collect()
}

fn at_once(binary: &Path) -> anyhow::Result<(Duration, usize)> {
    let folder = tempfile::tempdir()?;
    let begin = Instant::now();
    let children = (0..AT_ONCE).map(|nth| start(binary, folder.path(), nth)).collect::<anyhow::Result<Vec<_>>>()?;
    for mut child in children {
        child.wait()?;
    }
    let took = begin.elapsed();
    Ok((took, Project::at(folder.path())?.session(&"bench".parse()?)?.manifest().context_files.len()))
}

fn start(binary: &Path, folder: &Path, nth: usize) -> anyhow::Result<Child> {
    let name = format!("new-{nth}");
    let mut command = Command::new(binary);
    command.args(["files", "add", "--session", "bench", "--category", "code", "--name", &name, "--for", "@coder"]);
    command.args(["--keywords", "new,all", "--request", "Go."]).current_dir(folder).stdout(Stdio::null());
    command.spawn().context("cannot start callboard")
}

/// A project whose session `bench` lists so many files.
fn session_of(files: usize) -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let now = "2025-01-18T14:30:22Z".parse()?;
    let mut manifest = Manifest::new(&"bench".parse()?, now);
    let code = folder.path().join(SESSIONS).join("bench/code");
    std::fs::create_dir_all(&code)?;
    for nth in 0..files {
        let keywords = vec![format!("k{}", nth % 97), format!("name-{nth}"), "all".to_owned()];
        let created = manifest.created_at.clone();
        let entry = Entry { created, recipient: "@coder".to_owned(), keywords, unknown: serde_json::Map::new() };
        manifest.context_files.insert(format!("code/file-{nth}-context.md"), entry);
        std::fs::write(code.join(format!("file-{nth}-context.md")), "text\n")?;
    }
    std::fs::write(code.with_file_name(".manifest.json"), manifest.to_json())?;
    Ok(folder)
}
