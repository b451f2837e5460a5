//! Replacing a file that several processes change: each reads and writes it alone, and a crash leaves no
//! litter for good.

use std::path::Path;

use holdfast_sys::{Error, Guard, LockMode, Result, Sys};

use crate::durable;

/// Runs `act` while nobody else can be in the section that `guard` keeps.
pub(super) fn alone<T, E: From<Error>>(
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
    sweep(sys, path)?;
    durable::replace(sys, path, content.as_bytes(), mode)
}

/// Removes what a crash left. Whoever wrote it is dead: it was in the section that we are in.
fn sweep(sys: &Sys, path: &Path) -> Result<()> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let prefix = format!(".{}.new-", name.to_string_lossy());
    let names = sys.files.list(dir)?;
    let mut left = names.iter().filter(|name| name.to_string_lossy().starts_with(&prefix));
    left.try_for_each(|name| sys.files.remove_file(&dir.join(name)))
}
