//! Control groups of Linux: a set of processes that none of them can leave by starting another, ended with one write.
//! They are asked for and done without where they cannot be had: on other systems, before Linux 5.14, in a container or a
//! login that may not make any.

use std::io;
use std::path::{Component, Path, PathBuf};

/// What stands between where a file system is mounted and what it is.
const SEPARATOR: &str = " - ";

/// How deep groups below one are looked for: a command may have made some.
const DEEPEST: usize = 16;

/// A control group, and the one that it is made below.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlGroup {
    path: PathBuf,
    above: PathBuf,
}

impl ControlGroup {
    /// The place for one below that of this process. Nothing is made yet.
    #[must_use]
    pub fn place(name: &str) -> Option<Self> {
        let read = |path| std::fs::read_to_string(path).ok();
        let above = own(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?)?;
        is_kept_there(&above).then(|| Self { path: above.join(name), above })
    }

    /// One of this name that was made before, at a place that was noted.
    #[must_use]
    pub fn noted(path: &Path, name: &str) -> Option<Self> {
        let above = path.parent()?.to_path_buf();
        let is_it = path.file_name().is_some_and(|last| last == name) && is_kept_there(path);
        is_it.then(|| Self { path: path.to_path_buf(), above })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it, and says whether it can be had.
    #[must_use]
    pub fn make(&self) -> bool {
        if std::fs::create_dir(&self.path).is_err() {
            return false;
        }
        let can_kill = self.path.join("cgroup.kill").exists();
        if !can_kill {
            let _ = std::fs::remove_dir(&self.path);
        }
        can_kill
    }

    /// Has this process be in it: what is started from here on is, too.
    pub(super) fn enter(&self) -> io::Result<()> {
        std::fs::write(self.path.join("cgroup.procs"), "0")
    }

    /// Has this process be where it was before.
    pub(super) fn leave(&self) -> io::Result<()> {
        std::fs::write(self.above.join("cgroup.procs"), "0")
    }

    /// Kills everybody in it, and in those below it.
    pub fn kill(&self) {
        // One that is gone has nobody in it.
        let _ = std::fs::write(self.path.join("cgroup.kill"), "1");
    }

    /// How many are in it, and in those below it. Those that have ended do not count.
    #[must_use]
    pub fn count(&self) -> usize {
        let here = |path: &Path| {
            let members = std::fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
            members.lines().count()
        };
        tree(&self.path).iter().map(|path| here(path)).sum()
    }

    /// Takes it away, with those below it, unless somebody is in one of them. Says whether nobody was.
    #[must_use]
    pub fn remove(&self) -> bool {
        let is_free = |path: &PathBuf| match std::fs::remove_dir(path) {
            Ok(()) => true,
            Err(error) => error.kind() != io::ErrorKind::ResourceBusy,
        };
        tree(&self.path).iter().rev().all(is_free)
    }
}

/// A group and all below it, those above first.
fn tree(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![path.to_path_buf()];
    let mut level = all.clone();
    for _ in 0..DEEPEST {
        let below = level.iter().filter_map(|path| std::fs::read_dir(path).ok()).flatten().flatten();
        let groups = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        level = groups.map(|entry| entry.path()).collect();
        all.extend(level.iter().cloned());
    }
    all
}

/// Where the group of a process is, by what the system says of what is mounted and of that process.
fn own(mounts: &str, groups: &str) -> Option<PathBuf> {
    let group = Path::new(groups.lines().find_map(|line| line.strip_prefix("0::"))?);
    // One that is outside of what this process sees is named by a way up.
    if group.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(SEPARATOR)?;
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        // A name with an escape is not worth the trouble.
        let is_it = kind.starts_with("cgroup2 ") && !point.contains('\\');
        let below = group.strip_prefix(root).ok().filter(|_| is_it)?;
        Some(Path::new(point).join(below))
    })
}

/// Whether this is a place of control groups, and no other directory.
#[cfg(target_os = "linux")]
fn is_kept_there(path: &Path) -> bool {
    const MAGIC: u64 = 0x6367_7270;
    rustix::fs::statfs(path).is_ok_and(|found| u64::try_from(found.f_type) == Ok(MAGIC))
}

#[cfg(not(target_os = "linux"))]
fn is_kept_there(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const HYBRID: &str = "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n\
                          41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
    const PLAIN: &str = "30 23 0:26 /pod/one /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n";

    #[test]
    fn the_own_group_is_found_wherever_groups_are_mounted() {
        let found = |mounts, groups| own(mounts, groups).map(|path| path.to_string_lossy().into_owned());
        let at = |path: &str| Some(path.to_owned());
        assert_eq!(found(HYBRID, "4:memory:/x\n0::/user/a\n"), at("/sys/fs/cgroup/unified/user/a"));
        assert_eq!(found(PLAIN, "0::/pod/one/b\n"), at("/sys/fs/cgroup/b"));
        for (mounts, groups) in [
            (HYBRID, "4:memory:/x\n"),
            (HYBRID, "0::/../other\n"),
            (PLAIN, "0::/pod/two\n"),
            ("", "0::/\n"),
            ("41 31 0:38 / /a\\040b rw - cgroup2 cgroup2 rw\n", "0::/\n"),
        ] {
            assert_eq!(found(mounts, groups), None, "{mounts}{groups}");
        }
    }

    #[test]
    fn a_directory_that_is_no_group_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("jit-1");
        std::fs::create_dir(&path).unwrap();
        assert_eq!(ControlGroup::noted(&path, "jit-1"), None);
        assert_eq!(ControlGroup::noted(Path::new("/"), "jit-1"), None);
    }

    /// Whoever has left its parent, its group, its session and its environment is still in it.
    #[test]
    fn everybody_in_a_group_is_killed_and_then_it_goes() {
        let name = format!("jit-test-{}", std::process::id());
        let Some(group) = ControlGroup::place(&name).filter(ControlGroup::make) else {
            // A machine that lets nobody make any has nothing to show here.
            return;
        };
        let script = "(setsid env -i sleep 1000 &) ; exec true";
        group.enter().unwrap();
        let below = group.path().join("below");
        std::fs::create_dir(&below).unwrap();
        let status = Command::new("sh").args(["-c", script]).status();
        group.leave().unwrap();
        assert!(status.unwrap().success());
        assert_eq!(group.count(), 1);
        assert!(!group.remove() && group.path().exists());
        assert_eq!(ControlGroup::noted(group.path(), &name), Some(group.clone()));
        assert_eq!(ControlGroup::noted(group.path(), "another"), None);
        while !group.remove() {
            group.kill();
            std::thread::yield_now();
        }
        assert!(!group.path().exists());
    }
}
