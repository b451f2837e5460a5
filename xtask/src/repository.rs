//! Where the repository is.

use std::path::{Path, PathBuf};

/// The folder that holds the workspace. Cargo says where this crate is; started without cargo, the
/// current folder has to do.
#[must_use]
pub fn root() -> PathBuf {
    above(std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).as_deref())
}

/// From the beginning of all paths: what is started from here may run in another folder.
fn above(manifest: Option<&Path>) -> PathBuf {
    let root = manifest.and_then(Path::parent).unwrap_or_else(|| Path::new("."));
    std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::above;
    use std::path::Path;

    #[test]
    fn the_root_is_known_from_everywhere() {
        assert_eq!(above(Some(Path::new("/r/xtask"))), Path::new("/r"));
        assert_eq!(above(None), std::env::current_dir().unwrap());
    }
}
