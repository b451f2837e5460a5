//! Small files that are read and replaced whole: a lock record, a fence, an owner.
//!
//! A file appears complete or not at all: it is written under a name of its own beside its place, made
//! durable, renamed into place, and its directory is made durable. It must never be written in place, and
//! a name beside it must never be shared by two writers: their bytes would mix.
//!
//! Every failure before the rename leaves the old file, and the one beside it is abandoned: after a failed
//! `sync` Linux counts its pages as written, so trying again would prove nothing. A failure after the
//! rename leaves the new file visible but perhaps not durable; whoever builds on it has to make its
//! directory durable first.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdfast_sys::{Files, Handle, Kind, Open, Sys};

use crate::{Error, Result};

/// The most bytes that such a file may have.
pub const LONGEST: usize = 64 * 1_024;

/// The content of the file at `path`; none if there is nothing.
///
/// # Errors
/// When it cannot be read, is no regular file, or has more than [`LONGEST`] bytes.
pub fn read(sys: &Sys, path: &Path) -> Result<Option<Vec<u8>>> {
    let found = match sys.files.stat(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    if found.kind != Kind::File {
        return Err(not_a_file(path, found.kind));
    }
    let bytes = sys.files.open(path, Open::Read)?.read_from(0, LONGEST + 1)?;
    if bytes.len() > LONGEST {
        return Err(Error::damaged(path, "its length", format_args!("it is longer than {LONGEST} bytes")));
    }
    Ok(Some(bytes))
}

/// That something else stands in the place of a file.
fn not_a_file(path: &Path, kind: Kind) -> Error {
    Error::damaged(path, "its kind", format_args!("it is {}, not a file", called(kind)))
}

/// What a person calls it.
pub(crate) const fn called(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "a file",
        Kind::Directory => "a directory",
        Kind::Symlink => "a symbolic link",
        Kind::Other => "a device, a pipe or a socket",
    }
}

/// What a file is called before it is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    /// `<name>.<nonce>.tmp`: see [`leftover_of`].
    Tmp,
    /// `.<name>.new-<nonce>`: hidden, where people and git look.
    Hidden,
}

impl Beside {
    fn of(self, sys: &Sys, path: &Path) -> holdfast_sys::Result<PathBuf> {
        let nonce = sys.entropy.nonce()?;
        Ok(match self {
            Self::Tmp => beside(path, nonce),
            Self::Hidden => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                parent(path).join(format!(".{name}.new-{nonce:032x}"))
            }
        })
    }
}

/// Puts a file with `bytes` in the place of whatever file is at `path`, durably.
///
/// # Errors
/// When that failed; there is then the old file or the new one, whole.
pub fn replace(sys: &Sys, path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    Ok(replace_all(sys, &[(path, bytes)], Beside::Tmp, mode)?)
}

/// Puts files with these contents in their places in one directory, durably, each of them whole and in this
/// order. Their content is durable before the first gets its name, and one flush is for all names.
///
/// # Errors
/// When that failed; some may have been replaced then, each of them whole.
pub fn replace_all(
    sys: &Sys,
    files: &[(&Path, &[u8])],
    names: Beside,
    mode: u32,
) -> holdfast_sys::Result<()> {
    place_all(sys, files, names, mode)?;
    files.first().map_or(Ok(()), |(path, _)| sys.files.sync_dir(parent(path)))
}

/// As [`replace_all`], but for the names: after a power loss each file is the old one or the new one, whole, and none if
/// there was none.
///
/// # Errors
/// When that failed; some may have been replaced then, each of them whole.
pub fn place_all(sys: &Sys, files: &[(&Path, &[u8])], names: Beside, mode: u32) -> holdfast_sys::Result<()> {
    stage_all(sys, files, names, mode)?.reveal()
}

/// Files that are complete and wait beside their places. What is dropped without having been revealed is taken away.
pub struct Staged<'a> {
    sys: &'a Sys,
    /// Where each is, and where it belongs.
    files: Vec<(PathBuf, PathBuf)>,
    written: Vec<Box<dyn Handle>>,
}

/// Writes files beside their places in one directory, durably but for their names.
///
/// # Errors
/// When that failed; nothing is left then.
pub fn stage_all<'a>(
    sys: &'a Sys,
    files: &[(&Path, &[u8])],
    names: Beside,
    mode: u32,
) -> holdfast_sys::Result<Staged<'a>> {
    let staged = stage_unflushed(sys, files, names, mode)?;
    staged.flush()?;
    Ok(staged)
}

/// Writes files beside their places in one directory, for whoever makes many durable at once before they are revealed.
///
/// # Errors
/// When that failed; nothing is left then.
pub fn stage_unflushed<'a>(
    sys: &'a Sys,
    files: &[(&Path, &[u8])],
    names: Beside,
    mode: u32,
) -> holdfast_sys::Result<Staged<'a>> {
    let mut staged = Staged { sys, files: Vec::new(), written: Vec::new() };
    for (path, bytes) in files {
        let beside = names.of(sys, path)?;
        staged.files.push((beside.clone(), path.to_path_buf()));
        let file = sys.files.open(&beside, Open::New { mode })?;
        file.write_all_at(bytes, 0)?;
        staged.written.push(file);
    }
    Ok(staged)
}

impl Staged<'_> {
    /// Makes their content durable, one after the other.
    ///
    /// # Errors
    /// When that failed.
    pub fn flush(&self) -> holdfast_sys::Result<()> {
        self.written.iter().try_for_each(|file| file.sync())
    }

    /// Puts them in their places, in their order. After a power loss each is the old file or the new one, whole, and none
    /// if there was none, until the names are made durable.
    ///
    /// # Errors
    /// When that failed; some may have been replaced then, each of them whole.
    pub fn reveal(mut self) -> holdfast_sys::Result<()> {
        while let Some((beside, path)) = self.files.first() {
            self.sys.files.rename(beside, path)?;
            self.files.remove(0);
        }
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        for (beside, _) in &self.files {
            // What cannot be removed is a leftover, and those never block.
            let _ = self.sys.files.remove_file(beside);
        }
    }
}

/// Puts a file with `bytes` in the place of whatever file is at `path`, at once and whole for everybody who reads it, but not
/// durably: a power loss may leave the old one, the new one, or a part of it with zeros in between. For what can be had
/// again.
///
/// # Errors
/// When that failed; there is then the old file.
pub fn show(sys: &Sys, path: &Path, bytes: &[u8], mode: u32) -> holdfast_sys::Result<()> {
    let beside = Beside::Tmp.of(sys, path)?;
    let written = sys.files.open(&beside, Open::New { mode }).and_then(|file| file.write_all_at(bytes, 0));
    let shown = written.and_then(|()| sys.files.rename(&beside, path));
    if shown.is_err() {
        let _ = sys.files.remove_file(&beside);
    }
    shown
}

/// Puts a file with `bytes` at `path` if nothing is there, durably; says whether it did.
///
/// # Errors
/// When that failed.
pub fn place(sys: &Sys, path: &Path, bytes: &[u8], names: Beside, mode: u32) -> holdfast_sys::Result<bool> {
    let beside = names.of(sys, path)?;
    let placed = create(sys, &beside, bytes, mode).and_then(|()| sys.files.rename_new(&beside, path));
    match placed {
        Ok(()) => sys.files.sync_dir(parent(path)).map(|()| true),
        Err(error) => {
            let _ = sys.files.remove_file(&beside);
            if error.kind() == ErrorKind::AlreadyExists { Ok(false) } else { Err(error) }
        }
    }
}

/// Gives what is at `path` a name of its own beside it, durably, and says which.
pub(crate) fn set_aside(sys: &Sys, path: &Path) -> Result<PathBuf> {
    let aside = with_suffix(path, sys.entropy.nonce()?, "damaged");
    sys.files.rename(path, &aside)?;
    sys.files.sync_dir(parent(path))?;
    Ok(aside)
}

/// Writes a file that is not there yet and makes its content durable, but not its name.
pub(crate) fn create(sys: &Sys, path: &Path, bytes: &[u8], mode: u32) -> holdfast_sys::Result<()> {
    let file = sys.files.open(path, Open::New { mode })?;
    file.write_all_at(bytes, 0)?;
    file.sync()
}

/// Where the file for `path` is written before it is complete.
pub(crate) fn beside(path: &Path, nonce: u128) -> PathBuf {
    with_suffix(path, nonce, "tmp")
}

fn with_suffix(path: &Path, nonce: u128, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{nonce:032x}.{suffix}"));
    path.with_file_name(name)
}

/// Whether `name` is what a crash left of replacing the file called `of`.
pub(crate) fn is_leftover(name: &OsStr, of: &OsStr) -> bool {
    leftover_of(name).is_some_and(|file| Some(file) == of.to_str())
}

/// The name of the file that a crash was about to replace when it left a file called `name`; none if it is
/// no such file.
#[must_use]
pub fn leftover_of(name: &OsStr) -> Option<&str> {
    let (of, nonce) = name.to_str()?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let is_nonce = nonce.len() == 32 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_nonce && !of.is_empty()).then_some(of)
}

/// The files that crashes left beside `path`. Only the guard's holder can tell them from files in use.
pub(crate) fn leftovers(files: &dyn Files, path: &Path) -> Result<Vec<PathBuf>> {
    let Some(of) = path.file_name() else { return Ok(Vec::new()) };
    let names = match files.list(parent(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    let mut found = Vec::new();
    for name in names.iter().filter(|name| is_leftover(name, of)) {
        let path = path.with_file_name(name);
        if files.stat(&path).is_ok_and(|stat| stat.kind == Kind::File) {
            found.push(path);
        }
    }
    Ok(found)
}

/// The directory that a path's last name is in.
#[must_use]
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::{beside, is_leftover, parent};

    #[test]
    fn what_is_written_beside_a_file_is_known_as_its_leftover() {
        let path = Path::new("locks/main.lock");
        let beside = beside(path, 7);
        assert_eq!(beside.parent(), path.parent());
        assert!(is_leftover(beside.file_name().unwrap(), OsStr::new("main.lock")));
    }

    #[test]
    fn nothing_else_is_a_leftover() {
        let nonce = "0123456789abcdef0123456789abcdef";
        for name in [
            "main.lock".into(),
            "main.lock.tmp".into(),
            format!("main.lock.{nonce}"),
            format!("main.lock.{nonce}0.tmp"),
            format!("main.lock.{}g.tmp", &nonce[1..]),
            format!("main.fence.{nonce}.tmp"),
            format!("domain.lock.{nonce}.tmp"),
            format!("main.lock{nonce}.tmp"),
        ] {
            assert!(!is_leftover(OsStr::new(&name), OsStr::new("main.lock")), "{name}");
        }
    }

    #[test]
    fn a_bare_name_is_in_the_current_directory() {
        assert_eq!(parent(Path::new("x")), Path::new("."));
        assert_eq!(parent(Path::new("a/x")), Path::new("a"));
    }
}
