//! The files that the answers are compared with.

use std::path::{Path, PathBuf};

use crate::diff;

/// A file beside these tests.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name)
}

/// The text of a file; empty if there is none.
pub(crate) fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_default()
}

/// Compares what came out with what is kept, or keeps it if that is asked for.
pub(crate) fn compare(name: &str, now: &str) {
    if std::env::var_os("HOLDFAST_BLESS").is_some() {
        std::fs::write(path(name), now).unwrap();
        return;
    }
    let kept = read(name);
    if kept != now {
        panic!(
            "crates/jit/tests/snapshots/{name} says otherwise (- is kept, + came out):\n\n{}\n\
             If that is meant, keep it, and read the difference before you commit it:\n  \
             HOLDFAST_BLESS=1 cargo test -p holdfast-jit --test snapshots\n  git diff crates/jit/tests/snapshots",
            diff::lines(&kept, now)
        );
    }
}
