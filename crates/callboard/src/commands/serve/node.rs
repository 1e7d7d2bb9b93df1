//! The name of a server. It stays the same across restarts, so that a server continues its own runs at once, also after a
//! crash. The name is in a file that the server locks while it runs, so that servers that share a folder have different
//! names.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::Path,
    sync::Arc,
};

use crate::{config, failure::Failure};

/// How many servers can share a folder; further ones have names that last only until they end.
const MOST: usize = 64;

/// The name of this process.
pub(super) struct Node {
    pub(super) name: Arc<str>,
    /// Locked: no other process has the name while this is open.
    _file: Option<File>,
}

impl Node {
    /// A name kept in `folder` that no other process uses now. Without a folder, a random name.
    pub(super) fn of(folder: Option<&Path>) -> Result<Self, Failure> {
        let Some(folder) = folder else { return Ok(Self::unkept()) };
        kept(folder).map(|kept| kept.unwrap_or_else(Self::unkept)).map_err(|error| {
            Failure::failed("no_node", format!("cannot keep the name of this server in {}: {error}", folder.display()))
                .hint("give a folder for it with --data DIR")
        })
    }

    fn unkept() -> Self {
        Self { name: config::new_node(), _file: None }
    }
}

/// The first free name; `None` if all are taken, or files cannot be locked here.
fn kept(folder: &Path) -> io::Result<Option<Node>> {
    let beside = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::create_dir_all(beside)?;
    for n in 1..=MOST {
        let path = beside.join(format!("callboard-server-{n}.name"));
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {
                let name = read_or_write(&mut file)?;
                return Ok(Some(Node { name, _file: Some(file) }));
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    Ok(None)
}

fn read_or_write(file: &mut File) -> io::Result<Arc<str>> {
    let mut name = String::new();
    file.read_to_string(&mut name)?;
    if !name.trim().is_empty() {
        return Ok(name.trim().into());
    }
    let name = config::new_node();
    writeln!(file, "{name}")?;
    file.sync_all()?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_its_name_again_and_no_two_have_one_at_once() {
        let folder = tempfile::TempDir::new().unwrap();
        let folder = folder.path().join("new");
        let node = || Node::of(Some(&folder)).unwrap();
        let (one, two) = (node(), node());
        let (first, second) = (one.name.clone(), two.name.clone());
        assert_ne!(first, second);
        drop(one);
        assert_eq!(node().name, first);
        drop(two);
        let again = [node(), node()];
        assert_eq!(again.each_ref().map(|node| node.name.clone()), [first, second]);
        assert_ne!(Node::of(None).unwrap().name, Node::of(None).unwrap().name);
    }
}
