//! A file system of its own that can be filled, made larger and made read-only.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system, unmounted at the end.
pub(crate) struct Small(PathBuf);

impl Small {
    /// One that is mounted with these options; none where that is not allowed, which is said.
    pub(crate) fn mount(at: &Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output();
        if done.is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_path_buf()));
        }
        println!("skipped: this needs the right to mount a file system");
        None
    }

    pub(crate) fn remount(&self, how: &str) {
        let how = format!("remount,{how}");
        assert!(Command::new("mount").args(["-o", &how]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// The names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let files = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
