//! Compresses the files of the page, and lists them for the server. Both happen without any tool of the web.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};

fn main() -> io::Result<()> {
    writeln!(io::stdout(), "cargo::rerun-if-changed=page\ncargo::rerun-if-changed=build.rs")?;
    let of = |name: &str| env::var_os(name).map(PathBuf::from).ok_or_else(|| io::Error::other(name.to_owned()));
    let (page, out) = (of("CARGO_MANIFEST_DIR")?.join("page"), of("OUT_DIR")?);
    let mut files = Vec::new();
    collect(&page, &mut files)?;
    files.sort();
    let mut list = "[\n".to_owned();
    for (number, file) in files.iter().enumerate() {
        let compressed = out.join(format!("{number}.gz"));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&fs::read(file)?)?;
        fs::write(&compressed, encoder.finish()?)?;
        let path = file.strip_prefix(&page).map_err(io::Error::other)?.to_string_lossy().replace('\\', "/");
        list += &format!("    ({path:?}, include_bytes!({:?})),\n", compressed.display().to_string());
    }
    fs::write(out.join("page.rs"), list + "]\n")
}

/// The files of a folder and of all folders in it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
