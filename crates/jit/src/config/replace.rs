//! Replacing a file whole: after a crash there is the old one or the new one, and no process that did not
//! hold the guard has written either.

use std::path::Path;

use holdfast_sys::{Guard, LockMode, Open, Result, Sys};

/// Makes a directory and those above it that are missing, durably.
pub(super) fn make_dir(sys: &Sys, dir: &Path, mode: u32) -> Result<()> {
    match sys.files.stat(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        found => return found.map(drop),
    }
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        make_dir(sys, parent, mode)?;
    }
    match sys.files.create_dir(dir, mode) {
        // Somebody else was faster.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    sys.files.sync_dir(parent.unwrap_or(Path::new(".")))
}

/// Runs `act` while nobody else can be in the section that `guard` keeps.
pub(super) fn alone<T, E: From<holdfast_sys::Error>>(
    sys: &Sys,
    guard: &Path,
    mode: u32,
    act: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let mut guard = Guard::open(sys, guard, mode)?;
    let _section = guard.enter(sys, LockMode::Exclusive)?;
    act()
}

/// Puts a file with this content in the place of `path`. Only inside the section of its guard.
pub(super) fn replace(sys: &Sys, path: &Path, content: &str, mode: u32) -> Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = format!(".{}.new-", path.file_name().unwrap_or_default().to_string_lossy());
    sweep(sys, dir, &prefix)?;
    let beside = dir.join(format!("{prefix}{:032x}", sys.entropy.nonce()?));
    let written = write(sys, &beside, content, mode).and_then(|()| sys.files.rename(&beside, path));
    if written.is_err() {
        // The first failure is the one to report.
        let _ = sys.files.remove_file(&beside);
    }
    written?;
    sys.files.sync_dir(dir)
}

fn write(sys: &Sys, path: &Path, content: &str, mode: u32) -> Result<()> {
    let file = sys.files.open(path, Open::New { mode })?;
    file.write_all_at(content.as_bytes(), 0)?;
    file.sync()
}

/// Removes what a crash left. Whoever wrote it is dead: it was in the section that we are in.
fn sweep(sys: &Sys, dir: &Path, prefix: &str) -> Result<()> {
    let names = sys.files.list(dir)?;
    let mut left = names.iter().filter(|name| name.to_string_lossy().starts_with(prefix));
    left.try_for_each(|name| sys.files.remove_file(&dir.join(name)))
}
