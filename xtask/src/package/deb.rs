//! The package for Debian.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::stage::{Layout, Stage, mode};
use super::table::{NAME, SUMMARY};
use super::{Work, listed, read, remove, shown, write};

/// Makes the package for a processor.
pub(super) fn make(work: &Work, processor: &str, stage: &Stage) -> Result<PathBuf, String> {
    let tree = work.folder.join("deb");
    let usr = tree.join("usr");
    stage.write(&usr, Layout::Debian)?;
    let documents = usr.join("share/doc").join(NAME);
    // What Debian wants compressed and under a name of its own.
    let changelog = documents.join("changelog");
    write(&changelog, &read(&documents.join("CHANGELOG.md"))?)?;
    remove_file(&documents.join("CHANGELOG.md"))?;
    write(&documents.join("copyright"), copyright(work)?.as_bytes())?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        remove_file(&documents.join(name))?;
    }
    compress(work, &changelog)?;
    for page in listed(&usr.join("share/man/man1"))? {
        compress(work, &page)?;
    }
    let size = work.run("du", &["-ks", "--apparent-size", &shown(&usr)])?;
    let size = size.split_whitespace().next().unwrap_or("0");
    write(&tree.join("DEBIAN/control"), control(work.version, processor, size).as_bytes())?;
    for folder in work.run("find", &[&shown(&tree), "-type", "d"])?.lines() {
        mode(folder.as_ref(), 0o755)?;
    }
    let deb = work.folder.join(format!("{NAME}_{}_{processor}.deb", work.version));
    work.run("dpkg-deb", &["--root-owner-group", "-Zxz", "--build", &shown(&tree), &shown(&deb)])?;
    remove(&tree)?;
    Ok(deb)
}

fn remove_file(path: &std::path::Path) -> Result<(), String> {
    std::fs::remove_file(path).map_err(|why| format!("{}: {why}", path.display()))
}

fn compress(work: &Work, path: &std::path::Path) -> Result<(), String> {
    work.run("gzip", &["-9", "-n", &shown(path)]).map(drop)
}

/// The programs need nothing but git: the C library is in them.
fn control(version: &str, processor: &str, size: &str) -> String {
    let mut text = format!(
        "Package: {NAME}\nVersion: {version}\nArchitecture: {processor}\nMaintainer: The Holdfast contributors\n"
    );
    let _ = write!(
        text,
        "Installed-Size: {size}\nDepends: git\nSuggests: man-db, bash-completion\nSection: vcs\nPriority: optional\n\
         Description: {SUMMARY}\n \
         Every agent gets an issue of its own, and an agent that lost its claim cannot\n \
         commit or push over the one that took its place. With jvs (snapshots of a\n \
         directory with one writer), kc_cli (turns on a document) and ic (named locks\n \
         for scripts).\n"
    );
    text
}

/// Both licences, whole.
fn copyright(work: &Work) -> Result<String, String> {
    let mut text = format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: {NAME}\n\n\
         Files: *\nCopyright: The Holdfast contributors\nLicense: Expat or Apache-2.0\n"
    );
    for (name, file) in [("Expat", "LICENSE-MIT"), ("Apache-2.0", "LICENSE-APACHE")] {
        let _ = write!(text, "\nLicense: {name}\n");
        let licence = read(&work.root.join(file))?;
        for line in String::from_utf8_lossy(&licence).lines() {
            let _ = writeln!(text, " {}", if line.trim().is_empty() { "." } else { line });
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::control;

    #[test]
    fn each_line_of_the_control_file_is_a_field_or_goes_on_with_one() {
        let text = control("1.2.3", "amd64", "17");
        for line in text.lines() {
            assert!(line.starts_with(' ') || line.split_once(": ").is_some(), "{line}");
        }
        assert!(text.contains("Version: 1.2.3\nArchitecture: amd64\n"));
        assert!(text.contains("Installed-Size: 17\nDepends: git\n"));
    }
}
