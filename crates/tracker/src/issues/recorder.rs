//! Whoever writes down what is remembered of a directory or a commit. Nobody waits for it, nothing is flushed, and nothing is
//! said if it cannot be done: the next one tries again.

use std::path::{Path, PathBuf};

use holdfast_sys::{Handle, Open};

use super::cache::Signatures;
use crate::session::Session;

/// Where it is remembered what directories have, below the control plane.
pub(super) const CACHES: &str = "lists";

/// How long nobody takes to write a cache, in seconds: what is older was left by somebody who was killed.
const LEFT: i64 = 3_600;

/// A cache that was begun: its file is there, beside the place that it will take.
pub(super) struct Recorder {
    path: PathBuf,
    beside: PathBuf,
    handle: Box<dyn Handle>,
    begun: (i64, i64),
}

impl Recorder {
    /// Begins a cache; none where it cannot be written, or the control plane is not there: whoever only looks makes none.
    pub(super) fn begin(session: &Session, path: &Path) -> Option<Self> {
        let (sys, access) = (session.sys(), session.access().ok()?);
        let (above, name) = (path.parent()?, path.file_name()?.to_string_lossy());
        if !crate::durable::is_dir(sys, session.control()).ok()? {
            return None;
        }
        // Most often it is there.
        let _ = sys.files.create_dir(above, access.directory());
        let beside = above.join(format!(".{name}.new-{:032x}", sys.entropy.nonce().ok()?));
        let handle = sys.files.open(&beside, Open::New { mode: access.file() }).ok()?;
        let begun = handle.stat().ok().and_then(|stat| stat.times).map(|times| times.changed);
        match begun {
            Some(begun) => {
                tidy(session, above, &format!(".{name}.new-"), begun);
                Some(Self { path: path.to_path_buf(), beside, handle, begun })
            }
            None => {
                let _ = sys.files.remove_file(&beside);
                None
            }
        }
    }

    /// Whether something that looks so may be remembered: it was not changed since this was begun.
    pub(super) fn takes(&self, looks: &Signatures) -> bool {
        looks.are_older_than(self.begun)
    }

    /// When it was begun, by the clock of the file system.
    pub(super) const fn begun(&self) -> (i64, i64) {
        self.begun
    }

    /// Puts the cache in its place, if there is one.
    pub(super) fn put(self, session: &Session, bytes: Option<Vec<u8>>) {
        let files = &session.sys().files;
        let put = || {
            self.handle.write_all_at(&bytes?, 0).ok()?;
            files.rename(&self.beside, &self.path).ok()
        };
        if put().is_none() {
            let _ = files.remove_file(&self.beside);
        }
    }
}

/// Removes what others have begun and left.
fn tidy(session: &Session, above: &Path, begins: &str, now: (i64, i64)) {
    let files = &session.sys().files;
    let names = files.list(above).unwrap_or_default();
    for name in names.iter().filter(|name| name.as_encoded_bytes().starts_with(begins.as_bytes())) {
        let path = above.join(name);
        let written = files.stat(&path).ok().and_then(|stat| stat.times).map(|times| times.modified.0);
        if written.is_some_and(|written| written < now.0 - LEFT) {
            let _ = files.remove_file(&path);
        }
    }
}
