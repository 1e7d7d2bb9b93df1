//! The name of a server: the same when it is started again, so that it goes on at once with the runs that it drove when
//! it ended, however that was. It is in a file, which a server locks as long as it lives; so of several that have a
//! folder together each has another one.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::Path,
    sync::Arc,
};

use crate::{config, failure::Failure};

/// How many servers may have a folder together; more have names that they lose when they end.
const MOST: usize = 64;

/// The name of this process.
pub(super) struct Node {
    pub(super) name: Arc<str>,
    /// Nobody else has the name as long as this is open.
    _file: Option<File>,
}

impl Node {
    /// The name that is kept in `folder` and that no other process has now. Without a folder it is made up.
    pub(super) fn of(folder: Option<&Path>) -> Result<Self, Failure> {
        let Some(folder) = folder else { return Ok(Self::unkept()) };
        kept(folder).map(|kept| kept.unwrap_or_else(Self::unkept)).map_err(|error| {
            Failure::failed("no_node", format!("cannot keep the name of this server in {}: {error}", folder.display()))
                .hint("name a folder for it with --data DIR")
        })
    }

    fn unkept() -> Self {
        Self { name: config::new_node(), _file: None }
    }
}

/// The first name that nobody has; nothing where others have all of them, or nothing can be locked here.
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
