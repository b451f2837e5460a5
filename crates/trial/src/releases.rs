//! What each release wrote, as `cargo xtask fixtures` has kept it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where it is kept: a directory for each version.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/fixtures");

/// Unpacks what every release wrote of one kind, each below `to` in a directory that is named after its version.
///
/// # Panics
/// If there is none, or one cannot be unpacked.
#[must_use]
pub fn releases(name: &str, to: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    for version in std::fs::read_dir(KEPT).unwrap() {
        let version = version.unwrap();
        let place = to.join(version.file_name());
        std::fs::create_dir_all(&place).unwrap();
        let archive = version.path().join(format!("{name}.tar.gz"));
        let words = ["-x", "-z", "--no-same-owner", "-f"];
        let tar = Command::new("tar").args(words).arg(&archive).arg("-C").arg(&place).output().unwrap();
        assert!(tar.status.success(), "{}: {}", archive.display(), String::from_utf8_lossy(&tar.stderr));
        places.push(place);
    }
    assert!(!places.is_empty(), "no release is kept in {KEPT}");
    places.sort();
    places
}

/// The newest of them.
///
/// # Panics
/// As [`releases`].
#[must_use]
pub fn last_release(name: &str, to: &Path) -> PathBuf {
    releases(name, to).pop().unwrap()
}

/// Every file below a directory with what it holds, but for guards and who has them: those are taken also to look.
///
/// # Panics
/// If one cannot be read.
#[must_use]
pub fn contents(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let guard = name.ends_with(".lock") && path.metadata().unwrap().len() == 0;
            if path.is_dir() {
                left.push(path);
            } else if !guard && !name.ends_with(".lock.meta") {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// Changes one text of a file, which has to be there.
///
/// # Panics
/// If it is not.
pub fn rewrite(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} is not in {}", path.display());
    std::fs::write(path, text.replace(from, to)).unwrap();
}
