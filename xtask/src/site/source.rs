//! What mdbook is given: the pages under the paths that they have in the repository, so that their links lead where they
//! lead there, and the table of contents that `docs/SUMMARY.md` is.

use std::collections::BTreeSet;
use std::path::Path;

use crate::tidy::Tree;
use crate::tidy::markdown::resolve;

/// The table of contents. Its links are relative to the folder that it is in.
pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";
const SETTINGS: &str = "docs/book.toml";
const STYLE: &str = "docs/site.css";
/// What may be linked to from a page and is no page.
const PICTURES: &str = "docs/pictures";

/// Writes everything below a directory of ours.
pub(super) fn write(root: &Path, tree: &Tree, to: &Path) -> Result<(), String> {
    let summary = tree.text(SUMMARY).ok_or_else(|| format!("{SUMMARY} is missing"))?;
    let settings = tree.text(SETTINGS).ok_or_else(|| format!("{SETTINGS} is missing"))?;
    let style = tree.text(STYLE).ok_or_else(|| format!("{STYLE} is missing"))?;
    let pages = pages(summary);
    let put = |path: &str, text: &str| {
        let path = to.join(path);
        let folder = path.parent().unwrap_or(to);
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
        written.map_err(|why| format!("{}: {why}", path.display()))
    };
    match std::fs::remove_dir_all(to.join("src")) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("{}: {why}", to.display()));
        }
        _ => {}
    }
    put("book.toml", settings)?;
    put("site.css", style)?;
    put("src/SUMMARY.md", &moved(summary, |target| Some(renamed(&resolve(SUMMARY, target)?))))?;
    for page in &pages {
        let text = tree.text(page).ok_or_else(|| format!("{SUMMARY} names {page}, which is not there"))?;
        let kept = |target: &str| is_kept(page, target, &pages).then(|| renamed(target));
        put(&format!("src/{}", renamed(page)), &moved(text, kept))?;
    }
    let pictures = to.join("src").join(PICTURES);
    std::fs::create_dir_all(&pictures).map_err(|why| format!("{}: {why}", pictures.display()))?;
    let unread = |why| format!("{PICTURES}: {why}");
    for entry in std::fs::read_dir(root.join(PICTURES)).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        std::fs::copy(entry.path(), pictures.join(entry.file_name())).map_err(unread)?;
    }
    Ok(())
}

/// The pages that a table of contents names, from the root of the repository.
pub(crate) fn pages(summary: &str) -> BTreeSet<String> {
    let mut pages = BTreeSet::new();
    moved(summary, |target| {
        pages.extend(resolve(SUMMARY, target));
        Some(target.into())
    });
    pages
}

/// The first page of a folder under the name that it has on a site: links to the other one would lead nowhere there.
fn renamed(target: &str) -> String {
    let (path, heading) = target.split_at(target.find('#').unwrap_or(target.len()));
    match path.strip_suffix("README.md") {
        Some(folder) if !target.contains("://") => format!("{folder}index.md{heading}"),
        _ => target.to_owned(),
    }
}

/// Whether what a page links to is a part of the site, or somewhere else altogether.
fn is_kept(page: &str, target: &str, pages: &BTreeSet<String>) -> bool {
    let elsewhere = target.contains("://") || target.starts_with('#') || target.starts_with("mailto:");
    let path = resolve(page, target.split('#').next().unwrap_or(target));
    elsewhere || path.is_some_and(|path| pages.contains(&path) || path.starts_with(PICTURES))
}

/// The text with every link led elsewhere, or left as text where there is nothing that it could lead to. Blocks of code stay
/// as they are.
fn moved(text: &str, mut to: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_code = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            out.push_str(line);
        } else {
            moved_line(line, &mut to, &mut out);
        }
    }
    out
}

fn moved_line(line: &str, to: &mut impl FnMut(&str) -> Option<String>, out: &mut String) {
    let mut rest = line;
    while let Some((before, label, target, after)) = link(rest) {
        out.push_str(before);
        match to(target) {
            Some(target) => out.push_str(&format!("[{label}]({target})")),
            None => out.push_str(label),
        }
        rest = after;
    }
    out.push_str(rest);
}

/// The first link of a line: what is before it, its words, where it leads, what is behind it.
fn link(line: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = line.find("](")?;
    let begin = line.get(..middle)?.rfind('[')?;
    let end = middle + 2 + line.get(middle + 2..)?.find(')')?;
    Some((line.get(..begin)?, line.get(begin + 1..middle)?, line.get(middle + 2..end)?, line.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_site_become_text_and_others_stay() {
        let pages = BTreeSet::from(["docs/a.md".to_owned(), "spec/b.md".to_owned()]);
        let kept = |target: &str| is_kept("docs/a.md", target, &pages).then(|| target.to_owned());
        let text = "See [b](../spec/b.md#x), [code](../crates/x.rs) and [it](https://example.org).\n\
                    ![p](pictures/p.svg)\n```sh\n[x](y)\n```\n";
        let wanted = "See [b](../spec/b.md#x), code and [it](https://example.org).\n\
                      ![p](pictures/p.svg)\n```sh\n[x](y)\n```\n";
        assert_eq!(moved(text, kept), wanted);
    }

    #[test]
    fn the_first_page_of_a_folder_is_its_index() {
        assert_eq!(renamed("../README.md#x"), "../index.md#x");
        assert_eq!(renamed("a.md"), "a.md");
        assert_eq!(renamed("https://example.org/README.md"), "https://example.org/README.md");
    }

    #[test]
    fn the_table_of_contents_names_pages_from_the_root() {
        let summary = "# Summary\n\n- [A](a.md)\n  - [B](../spec/b.md)\n- [C](guides/c.md)\n";
        let named: Vec<String> = pages(summary).into_iter().collect();
        assert_eq!(named, ["docs/a.md", "docs/guides/c.md", "spec/b.md"]);
    }
}
