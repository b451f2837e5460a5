//! Whether a repository that was merely found may be used. A repository's configuration makes git start
//! programs, so one that somebody else left on the way up is used only if the user said so: the rule of
//! git's `safe.directory`, which counts only where the repository itself cannot write. A repository that
//! `GIT_DIR` names is not judged.
//!
//! In two points this is stricter than git: where `.git` is a symbolic link, the owner of what it leads to
//! counts as well as that of the link, and `safe.directory = .` means nothing.

use std::path::{Path, PathBuf};

use holdfast_sys::Files;

use crate::{Config, Environment, Error, Result, paths};

/// Refuses the repository at `path` if one of the `judged` paths belongs to somebody else, unless the
/// configuration names it as safe.
pub(super) fn check(files: &dyn Files, env: &Environment, path: &Path, judged: &[&Path]) -> Result<()> {
    for judged in judged {
        let owner = files.stat(judged)?.owner;
        if is_ours(env, owner) {
            continue;
        }
        if is_declared_safe(files, env, path)? {
            return Ok(());
        }
        return Err(Error::DubiousOwner { path: path.to_path_buf(), owner, user: env.user });
    }
    Ok(())
}

/// Root may use root's own, and that of whoever called it with sudo.
fn is_ours(env: &Environment, owner: u32) -> bool {
    owner == env.user || env.user == 0 && env.sudo_user == Some(owner)
}

fn is_declared_safe(files: &dyn Files, env: &Environment, path: &Path) -> Result<bool> {
    let config = Config::read(files, env, None)?;
    let mut safe = false;
    for entry in config.all("safe.directory") {
        match entry.value.as_deref() {
            None | Some(b"") => safe = false,
            Some(b"*") => safe = true,
            // One that cannot be spelled out is about some other place.
            Some(_) => safe |= config.entry_path(entry).is_ok_and(|named| is_meant(files, &named, path)),
        }
    }
    Ok(safe)
}

/// Whether an entry such as `/srv/repo` or `/srv/*` means `path`.
fn is_meant(files: &dyn Files, named: &Path, path: &Path) -> bool {
    if !named.is_absolute() {
        return false;
    }
    let all_below = named.file_name().is_some_and(|name| name == "*");
    let named = if all_below { named.parent().unwrap_or(named) } else { named };
    let real: PathBuf = paths::real(files, named).unwrap_or_else(|_| named.to_path_buf());
    if all_below { path.starts_with(&real) && path != real } else { path == real }
}

/// Refuses a bare repository that was found by walking up if the configuration wants such ones named. The
/// git directory of a worktree or of a submodule is not meant by that.
pub(super) fn check_bare(files: &dyn Files, env: &Environment, path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    if path.ends_with(".git") || text.contains("/.git/worktrees/") || text.contains("/.git/modules/") {
        return Ok(());
    }
    let config = Config::read(files, env, None)?;
    let setting = config.get("safe.barerepository").and_then(|entry| entry.value.as_deref());
    if setting == Some(b"explicit") { Err(Error::BareForbidden { path: path.to_path_buf() }) } else { Ok(()) }
}
