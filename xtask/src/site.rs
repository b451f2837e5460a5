//! `cargo xtask site`: the pages of `docs/` and `spec/` as a site with a search, by mdbook. The pages stay as they are read
//! in the repository: only what they link to outside of them is left as text.

mod links;
pub(crate) mod source;

use std::path::{Path, PathBuf};

use crate::child::{Child, is_there};
use crate::programs;
use crate::tidy::Tree;

/// Builds the site and follows its links. Says where it is.
#[must_use]
pub fn run(root: &Path, to: Option<&str>) -> bool {
    match build(root, to) {
        Ok((place, pages, links)) => {
            println!("{} ({pages} pages, {links} links lead somewhere)", place.join("index.html").display());
            true
        }
        Err(why) => {
            eprintln!("{why}");
            false
        }
    }
}

fn build(root: &Path, to: Option<&str>) -> Result<(PathBuf, usize, usize), String> {
    if !is_there("mdbook") {
        return Err(
            "mdbook is missing: cargo install mdbook --locked --no-default-features --features search".into(),
        );
    }
    let work = programs::target(root).join("site");
    let place = to.map_or_else(|| work.join("book"), PathBuf::from);
    let place = std::path::absolute(&place).map_err(|why| format!("{}: {why}", place.display()))?;
    source::write(root, &Tree::load(root)?, &work)?;
    let ended =
        Child::new(root, "mdbook", &["build", &shown(&work), "--dest-dir", &shown(&place)]).quiet().run();
    if !ended.ok {
        return Err(format!("mdbook {}\n{}", ended.how, ended.err));
    }
    // What it only warns of is a page that does not read as it was meant to.
    if let Some(warning) = ended.err.lines().find(|line| line.contains("[WARN]") || line.contains("[ERROR]"))
    {
        return Err(warning.to_owned());
    }
    let (pages, links) = links::follow(&place)?;
    Ok((place, pages, links))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
