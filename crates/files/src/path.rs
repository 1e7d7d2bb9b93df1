//! Where a context file is in the folder of its session.

use std::{fmt, str::FromStr};

use callboard_core::{
    file::{Category, TaskName},
    id::BadName,
};

/// The manifest.
pub(crate) const MANIFEST: &str = ".manifest.json";

/// The temporary name of a manifest. Only the holder of the lock writes it, so one name is enough.
pub(crate) const NEW_MANIFEST: &str = ".manifest.json.new";

/// The temporary name of a document.
pub(crate) const NEW_DOCUMENT: &str = ".document.new";

/// What the names of files of this category end with.
pub(crate) fn ending(category: Category) -> &'static str {
    match category {
        Category::Tasks => "-tasks.md",
        _ => "-context.md",
    }
}

/// The path of a file below the folder of its session: names separated by `/`, without `.` and `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextPath(String);

impl ContextPath {
    /// The path of the file that is called so.
    pub fn new(category: Category, name: &TaskName) -> Self {
        Self(format!("{category}/{name}{}", ending(category)))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the file is for, as its folder says. A file that is in none of the seven is for nothing.
    pub fn category(&self) -> Result<Category, BadName> {
        self.0.split_once('/').map_or("", |(folder, _)| folder).parse()
    }

    /// What the file is called: without its folders and the usual ending.
    pub(crate) fn name(&self) -> &str {
        let (_, file) = self.split();
        ["-context.md", "-tasks.md", ".md"].iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(file)
    }

    /// The names of its folders, and its own.
    pub(crate) fn split(&self) -> (std::str::Split<'_, char>, &str) {
        match self.0.rsplit_once('/') {
            Some((folders, file)) => (folders.split('/'), file),
            None => {
                let mut none = self.0.split('/');
                none.next();
                (none, &self.0)
            }
        }
    }
}

impl FromStr for ContextPath {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let wrong = |rule| Err(BadName::new("path", text, rule));
        if text.contains(|c: char| c.is_control() || c == '\\') {
            return wrong("control characters and \\ are not allowed");
        }
        if text.split('/').any(|name| name.is_empty() || name == "." || name == "..") {
            return wrong("use a path below the folder of the session, without . and ..");
        }
        if text.split('/').any(|name| name.len() > 255) || text.len() > 1024 {
            return wrong("use names of no more than 255 bytes, and 1024 in all");
        }
        if [MANIFEST, NEW_MANIFEST, NEW_DOCUMENT].contains(&text) {
            return wrong("this is the manifest, not a context file");
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ContextPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_below_its_folder() {
        let long = "x".repeat(300);
        let wrong =
            ["", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "./a", "a\\b", "a\nb", ".manifest.json", &long];
        for path in wrong {
            assert!(path.parse::<ContextPath>().is_err(), "{path:?}");
        }
        for path in ["features/user-auth-context.md", "notes.md", "code/deep/er/x.md", "..."] {
            assert!(path.parse::<ContextPath>().is_ok(), "{path:?}");
        }
    }

    #[test]
    fn a_path_is_its_category_its_name_and_an_ending() {
        let path = |category, name: &str| ContextPath::new(category, &name.parse().unwrap());
        assert_eq!(path(Category::Features, "user-auth").as_str(), "features/user-auth-context.md");
        assert_eq!(path(Category::Tasks, "user-auth").as_str(), "tasks/user-auth-tasks.md");
        assert_eq!(path(Category::Tasks, "user-auth").name(), "user-auth");
        assert_eq!("notes.md".parse::<ContextPath>().unwrap().split().0.count(), 0);
    }

    #[test]
    fn there_are_seven_categories() {
        assert!(Category::ALL.iter().all(|category| category.as_str().parse() == Ok(*category)));
        assert!("feature".parse::<Category>().is_err());
    }
}
