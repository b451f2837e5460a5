//! A folder in memory for tests that make thousands of small repositories: what they wait for is mostly the disk. It is gone
//! with the value. Whoever is about durability stays on the disk.

use std::path::{Path, PathBuf};

use crate::child::Child;

/// Where Linux has files in memory.
const HERE: &str = "/dev/shm";
/// What a folder of ours is called, before the number of the process that it belongs to.
const NAME: &str = "holdfast-tests-";
/// The least room, in KiB, that has to be there: four gigabytes, several times of what the tests need.
const ROOM: u64 = 4 << 20;

/// A folder in memory.
pub(crate) struct Memory(PathBuf);

impl Memory {
    /// Makes one, if there is room for it. What dead runs left behind is taken away.
    pub(crate) fn new(root: &Path) -> Option<Self> {
        Self::below(root, Path::new(HERE))
    }

    fn below(root: &Path, here: &Path) -> Option<Self> {
        clear(here);
        let asked = Child::new(root, "df", &["--output=avail,fstype", &here.to_string_lossy()]).quiet().run();
        if !has_room(&asked.out) {
            return None;
        }
        let folder = here.join(format!("{NAME}{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        Some(Self(folder))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // What stays is taken away by the next run.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether the second line of `df` tells of enough room in memory.
fn has_room(said: &str) -> bool {
    let mut words = said.lines().nth(1).unwrap_or_default().split_whitespace();
    let room = words.next().and_then(|room| room.parse::<u64>().ok());
    room.is_some_and(|room| room >= ROOM) && words.next() == Some("tmpfs")
}

/// Takes away the folders of runs that are over.
fn clear(here: &Path) {
    let Ok(entries) = std::fs::read_dir(here) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str());
        let process = name.and_then(|name| name.strip_prefix(NAME)).filter(|pid| pid.parse::<u32>().is_ok());
        if process.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_memory_needs_room_and_memory() {
        let said = |room: u64, kind: &str| format!("   Avail Type\n{room} {kind}\n");
        assert!(has_room(&said(ROOM, "tmpfs")));
        assert!(!has_room(&said(ROOM - 1, "tmpfs")) && !has_room(&said(ROOM, "ext4")) && !has_room(""));
    }

    #[test]
    fn what_dead_runs_left_is_taken_away_and_what_belongs_to_others_stays() {
        let here = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            std::fs::create_dir(here.path().join(name)).unwrap();
            here.path().join(name)
        };
        // No process has a number as large as that.
        let dead = folder(&format!("{NAME}4294967295"));
        let (alive, other) = (folder(&format!("{NAME}{}", std::process::id())), folder("holdfast-tests-x"));
        clear(here.path());
        assert!(!dead.exists() && alive.exists() && other.exists());
    }
}
