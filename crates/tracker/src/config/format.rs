//! Which layout of `.jit/` a repository has. Issues, sets, notes, gates and events have no numbers of their own: one number
//! in the repository's configuration stands for all of them, so that a program of before leaves alone what it cannot know.

use std::path::PathBuf;

use super::source::Source;

/// The layout that is written here. A repository that names none has the first one.
pub(super) const FORMAT: u64 = 1;

/// The file that names a later layout, and the number. A file that is no TOML names none; what is wrong with it is said
/// elsewhere.
pub(super) fn later(source: &Source) -> Option<(PathBuf, u64)> {
    let text = source.text();
    if !text.contains("format") {
        return None;
    }
    let table: toml::Table = text.parse().ok()?;
    let named = u64::try_from(table.get("repository")?.get("format")?.as_integer()?).ok()?;
    (named > FORMAT).then(|| (source.path.to_path_buf(), named))
}

/// Which program is too old for what is on disk.
pub(crate) fn too_old() -> String {
    format!("jit {} is too old for it: install the version that wrote it", env!("CARGO_PKG_VERSION"))
}
