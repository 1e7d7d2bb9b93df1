//! The documentation as a book: mdBook builds it from `docs/`, and its links are checked.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use anyhow::{Context as _, bail};

use crate::{cache, command};

/// The version of mdBook.
const VERSION: &str = "0.5.4";

/// Checks the links of all pages, and builds the book in `target/book`.
pub(crate) fn build() -> anyhow::Result<()> {
    let repository = cache::repository();
    let faults = faults(&repository)?;
    if !faults.is_empty() {
        bail!("the documentation:\n  {}", faults.join("\n  "));
    }
    let features = ["--no-default-features", "--features", "search"];
    let mdbook = command::installed("mdbook", VERSION, "builds the documentation", &features)?;
    command::run(Command::new(mdbook).arg("build").arg(&repository))?;
    eprintln!("the book is in {}", repository.join("target/book/index.html").display());
    Ok(())
}

/// What is wrong with the links of the documentation, and which pages the summary leaves out.
fn faults(repository: &Path) -> anyhow::Result<Vec<String>> {
    let docs = repository.join("docs");
    let names = fs::read_dir(&docs)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let names: BTreeSet<String> = names.collect::<anyhow::Result<_>>()?;
    let pages = names.iter().filter(|name| name.ends_with(".md"));
    let summary = fs::read_to_string(docs.join("SUMMARY.md"))?;
    let listed: BTreeSet<&str> = links(&summary).collect();
    let mut faults: Vec<String> = pages
        .clone()
        .filter(|name| *name != "SUMMARY.md" && !listed.contains(name.as_str()))
        .map(|name| format!("docs/{name} is not in docs/SUMMARY.md"))
        .collect();
    let outside = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| repository.join(name));
    for page in pages.map(|name| docs.join(name)).chain(outside) {
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
        let shown = page.strip_prefix(repository).unwrap_or(&page).display();
        for link in links(&text) {
            if let Some(fault) = fault(&docs, &page, link)? {
                faults.push(format!("{shown}: {link}: {fault}"));
            }
        }
    }
    Ok(faults)
}

/// What is wrong with a link of a page, if anything. Addresses on the web are not looked at.
fn fault(docs: &Path, page: &Path, link: &str) -> anyhow::Result<Option<&'static str>> {
    if link.contains("://") {
        return Ok(None);
    }
    let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
    let folder = page.parent().unwrap_or(docs);
    let target = if path.is_empty() { page.to_owned() } else { folder.join(path) };
    if !target.exists() {
        return Ok(Some("there is no such file"));
    }
    if page.starts_with(docs) && path.contains("..") {
        return Ok(Some("the book has no files from outside of docs"));
    }
    let Some(heading) = heading else { return Ok(None) };
    let text = fs::read_to_string(&target)?;
    let is_there = prose(&text).filter(|line| line.starts_with('#')).any(|line| anchor(line) == heading);
    Ok((!is_there).then_some("there is no such heading"))
}

/// The lines of a page that are not in a block of code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Where the links and pictures of a page lead.
fn links(page: &str) -> impl Iterator<Item = &str> {
    prose(page).flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split(')').next())
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
        assert_eq!(faults(&cache::repository()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn dead_links_and_pages_that_the_summary_leaves_out_are_named() {
        let folder = std::env::temp_dir().join(format!("callboard-book-{}", std::process::id()));
        fs::create_dir_all(folder.join("docs")).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write("docs/SUMMARY.md", "- [One](one.md)");
        write("docs/one.md", "# One more\n[itself](#one-more) [dead](two.md) [no](#two)\n```\n[code](is-none)\n```");
        write("docs/left-out.md", "[out](../README.md) [web](https://example.org/)");
        for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
            write(name, "[fine](docs/one.md#one-more)");
        }
        let found = faults(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let expected = [
            "docs/left-out.md is not in docs/SUMMARY.md",
            "docs/left-out.md: ../README.md: the book has no files from outside of docs",
            "docs/one.md: two.md: there is no such file",
            "docs/one.md: #two: there is no such heading",
        ];
        assert_eq!(found, expected);
    }
}
