//! Follows every link of the built site that leads into the site itself, to the heading that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How many pages and links there are.
///
/// # Errors
/// Every link that leads nowhere, with its page.
pub(super) fn follow(site: &Path) -> Result<(usize, usize), String> {
    let mut pages = BTreeMap::new();
    collect(site, &mut pages)?;
    let (mut links, mut dead) = (0, Vec::new());
    for (page, text) in &pages {
        // A page for what is not found has links from the root of wherever the site will be.
        if page.ends_with("404.html") {
            continue;
        }
        for target in values(text, " href=\"").chain(values(text, " src=\"")).filter(|target| is_own(target))
        {
            links += 1;
            if !leads_somewhere(site, page, target, &pages) {
                dead.push(format!("{}: {target}", page.strip_prefix(site).unwrap_or(page).display()));
            }
        }
    }
    if dead.is_empty() {
        Ok((pages.len(), links))
    } else {
        Err(format!("links lead nowhere:\n{}", dead.join("\n")))
    }
}

fn collect(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<(), String> {
    let unread = |why| format!("{}: {why}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.is_dir() {
            collect(&path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            let text = std::fs::read_to_string(&path).map_err(unread)?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

fn values<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next())
}

fn is_own(target: &str) -> bool {
    !target.contains(':') && !target.starts_with("//")
}

fn leads_somewhere(site: &Path, page: &Path, target: &str, pages: &BTreeMap<PathBuf, String>) -> bool {
    let (path, heading) = target.split_once('#').map_or((target, None), |(path, name)| (path, Some(name)));
    let there =
        if path.is_empty() { page.to_path_buf() } else { plain(&page.parent().unwrap_or(site).join(path)) };
    match (pages.get(&there), heading.filter(|name| !name.is_empty())) {
        (Some(text), Some(name)) => ids(text).contains(name),
        (Some(_), None) => true,
        (None, _) => there.is_file() || there.join("index.html").is_file(),
    }
}

fn ids(text: &str) -> BTreeSet<&str> {
    values(text, " id=\"").collect()
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(plain.pop()),
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_or_a_heading_that_is_not_there_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("index.html", r#"<a href="docs/a.html#one">x</a><a href="https://example.org">y</a>"#);
        write("docs/a.html", r##"<h2 id="one">1</h2><a href="../index.html">x</a><a href="#one">y</a>"##);
        assert_eq!(follow(folder.path()), Ok((2, 3)));
        write("docs/a.html", r#"<h2 id="two">1</h2><img src="b.svg">"#);
        let why = follow(folder.path()).unwrap_err();
        assert!(why.contains("index.html: docs/a.html#one") && why.contains("docs/a.html: b.svg"), "{why}");
    }
}
