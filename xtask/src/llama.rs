//! The program that serves small models: `llama-server` of llama.cpp, built once from source.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::compiler::Tools;
use crate::progress::Progress;
use crate::{cache, command, lines};

/// The version of the source package, as in `xtask/models/llama-cpp-python.txt`.
const VERSION: &str = "0.3.36";

/// Raise this whenever [`OPTIONS`] change, so that a server with other options is not used.
const BUILD: u32 = 2;

/// Only the server, with plain sockets and without downloads during the build. It is not built for the processor of this
/// machine: some virtual machines report instructions (AMX) that they then refuse to run.
const OPTIONS: &[&str] = &[
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DGGML_NATIVE=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_OPENSSL=OFF",
];

const UNPACK: &str = "\
import sys, tarfile
with tarfile.open(sys.argv[1]) as source:
    source.extractall(sys.argv[2], **({'filter': 'data'} if hasattr(tarfile, 'data_filter') else {}))";

/// The path of `llama-server`. Builds it if it is missing. An interrupted build continues.
pub(crate) fn bring() -> anyhow::Result<PathBuf> {
    let folder = cache::folder("llama")?;
    let server = folder.join(format!("llama-server-{VERSION}-{BUILD}"));
    if server.is_file() {
        return Ok(server);
    }
    let _lock = cache::Lock::of(&folder, "llama-server")?;
    if server.is_file() {
        return Ok(server);
    }
    eprintln!("building llama-server {VERSION}, once; this takes about 10 minutes on two cores");
    let tools = Tools::bring(cache::folder("tools")?)?;
    let work = folder.join(format!("build-{VERSION}-{BUILD}"));
    let built = build(&tools, &source(&work)?, &work.join("build")).context("cannot build llama-server")?;
    let new = folder.join("llama-server.new");
    fs::copy(&built, &new).with_context(|| format!("cannot write {}", new.display()))?;
    fs::rename(&new, &server).with_context(|| format!("cannot write {}", server.display()))?;
    // Leftover files do no harm.
    let _ = fs::remove_dir_all(&work);
    Ok(server)
}

/// The unpacked source. It is downloaded if it is missing.
fn source(work: &Path) -> anyhow::Result<PathBuf> {
    let name = format!("llama_cpp_python-{VERSION}");
    let source = work.join("source");
    if !source.is_dir() {
        let mut progress = Progress::of("source of llama-server");
        progress.wait("downloading");
        let download = work.join("download");
        fs::create_dir_all(&download).with_context(|| format!("cannot make {}", download.display()))?;
        let mut pip = command::python()?;
        pip.args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-binary",
            "llama-cpp-python",
            "--require-hashes",
            "-d",
        ]);
        pip.arg(&download).arg("-r").arg(cache::repository().join("xtask/models/llama-cpp-python.txt"));
        command::output(&mut pip).context("cannot download the source of llama-server")?;
        progress.wait("unpacking");
        let archive = download.join(format!("{name}.tar.gz"));
        command::output(command::python()?.args(["-c", UNPACK]).arg(archive).arg(&download))?;
        fs::rename(download.join(&name), &source).with_context(|| format!("cannot make {}", source.display()))?;
        progress.done();
    }
    Ok(source.join("vendor/llama.cpp"))
}

fn build(tools: &Tools, source: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let mut progress = Progress::of("llama-server");
    progress.wait("being configured");
    let mut cmake = tools.command("cmake");
    cmake.arg("-S").arg(source).arg("-B").arg(folder).args(["-G", "Ninja"]).args(OPTIONS);
    lines::follow(&mut cmake, |_| progress.wait("being configured"))?;
    let jobs = std::thread::available_parallelism().map_or(2, usize::from).to_string();
    let mut cmake = tools.command("cmake");
    cmake.arg("--build").arg(folder).args(["--target", "llama-server", "-j", &jobs]);
    lines::follow(&mut cmake, |line| {
        if let Some((done, all)) = ninja_step(line) {
            progress.step("built", done, all);
        }
    })?;
    progress.done();
    Ok(folder.join("bin/llama-server"))
}

/// The numbers in a line of ninja such as `[12/345] Building CXX object …`.
fn ninja_step(line: &str) -> Option<(u64, u64)> {
    let (done, all) = line.strip_prefix('[')?.split_once(']')?.0.split_once('/')?;
    Some((done.parse().ok()?, all.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_ninja_is_stands_at_the_start_of_its_lines() {
        assert_eq!(ninja_step("[12/345] Building CXX object ggml.o"), Some((12, 345)));
        assert_eq!(ninja_step("warning: [1/2] is not at the start"), None);
        assert_eq!(ninja_step("[half] done"), None);
    }
}
