//! How far a long copy or hash has got. Counting never prints; whoever has a terminal looks from time to time.

use std::sync::atomic::{AtomicU64, Ordering};

/// How far something has got.
#[derive(Debug, Default)]
pub struct Progress {
    files: AtomicU64,
    bytes: AtomicU64,
    all_files: AtomicU64,
    all_bytes: AtomicU64,
}

impl Progress {
    /// There is that much more to do.
    pub fn expect(&self, (files, bytes): (u64, u64)) {
        self.all_files.fetch_add(files, Ordering::Relaxed);
        self.all_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// That many bytes are done.
    pub fn bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A file is done.
    pub fn file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    /// A line about it for a person.
    #[must_use]
    pub fn line(&self) -> String {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (bytes, all) = (get(&self.bytes), get(&self.all_bytes));
        let percent = (bytes.min(all) * 100).checked_div(all).unwrap_or(0);
        let mib = |bytes: u64| bytes >> 20;
        format!(
            "{percent:3} %  {} of {} files, {} of {} MiB",
            get(&self.files),
            get(&self.all_files),
            mib(bytes),
            mib(all)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn it_tells_how_far_it_is_and_never_more_than_all() {
        let progress = Progress::default();
        assert_eq!(progress.line(), "  0 %  0 of 0 files, 0 of 0 MiB");
        progress.expect((2, 4 << 20));
        progress.file();
        progress.bytes(1 << 20);
        assert_eq!(progress.line(), " 25 %  1 of 2 files, 1 of 4 MiB");
        progress.bytes(9 << 20);
        assert!(progress.line().starts_with("100 %"));
    }
}
