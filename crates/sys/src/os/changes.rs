//! Being told that something in a directory has changed, where the system can say so. It is a hint and no more: a change on
//! another machine, or in a directory that came later, is not told, so whoever waits looks from time to time as well.

#[cfg(target_os = "linux")]
pub use notified::Changes;
#[cfg(not(target_os = "linux"))]
pub use silent::Changes;

#[cfg(target_os = "linux")]
mod notified {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use holdfast_kernel::Millis;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use rustix::io::retry_on_intr;

    /// Directories that are watched.
    pub struct Changes(OwnedFd);

    impl Changes {
        /// None where the system does not tell.
        #[must_use]
        pub fn new() -> Option<Self> {
            init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok().map(Self)
        }

        /// Watches what is in a directory from here on, if it can be; doing so again changes nothing.
        pub fn watch(&self, folder: &Path) {
            let changes = WatchFlags::MODIFY
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO
                | WatchFlags::ONLYDIR;
            // What is not there, or is one too many, is looked at from time to time like everything else.
            let _ = add_watch(&self.0, folder, changes);
        }

        /// Waits until something changes, for so long at most; whether it has.
        #[must_use]
        pub fn wait(&self, most: Option<Millis>) -> bool {
            let most = most.map(|most| Timespec {
                tv_sec: i64::try_from(most.get() / 1_000).unwrap_or(i64::MAX),
                tv_nsec: i64::try_from(most.get() % 1_000 * 1_000_000).unwrap_or(0),
            });
            let mut seen = [PollFd::new(&self.0, PollFlags::IN)];
            if !retry_on_intr(|| poll(&mut seen, most.as_ref())).is_ok_and(|ready| ready > 0) {
                return false;
            }
            // Which it was is of no interest: all of them are read, so that the next wait is for others.
            let mut buffer = [MaybeUninit::uninit(); 4_096];
            let mut all = Reader::new(&self.0, &mut buffer);
            while all.next().is_ok() {}
            true
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod silent {
    use std::path::Path;

    use holdfast_kernel::Millis;

    /// Directories that are watched.
    pub enum Changes {}

    impl Changes {
        /// None where the system does not tell.
        #[must_use]
        pub const fn new() -> Option<Self> {
            None
        }

        /// Watches what is in a directory from here on.
        pub fn watch(&self, _: &Path) {
            match *self {}
        }

        /// Waits until something changes.
        #[must_use]
        pub fn wait(&self, _: Option<Millis>) -> bool {
            match *self {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use holdfast_kernel::Millis;

    use super::Changes;

    #[test]
    fn what_is_written_made_or_removed_in_a_directory_ends_the_wait_and_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let (changes, file) = (Changes::new().unwrap(), dir.path().join("log"));
        changes.watch(dir.path());
        changes.watch(&dir.path().join("nowhere"));
        let at_once = Some(Millis::ZERO);
        assert!(!changes.wait(at_once), "nothing has happened");
        let write = |text: &str| std::fs::write(&file, text).unwrap();
        for act in
            [&|| write("one"), &|| write("more"), &|| std::fs::remove_file(&file).unwrap()] as [&dyn Fn(); 3]
        {
            act();
            assert!(changes.wait(at_once));
            assert!(!changes.wait(at_once), "it is told once");
        }
        std::fs::read_dir(dir.path()).unwrap();
        assert!(!changes.wait(at_once), "looking is no change");
        std::thread::scope(|scope| {
            scope.spawn(|| write("late"));
            assert!(changes.wait(None));
        });
    }
}
