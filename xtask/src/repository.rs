//! Where the repository is.

use std::path::{Path, PathBuf};

/// The folder that holds the workspace. Cargo says where this crate is; started without cargo, the
/// current folder has to do.
#[must_use]
pub fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    here.as_deref().and_then(Path::parent).unwrap_or_else(|| Path::new(".")).to_path_buf()
}
