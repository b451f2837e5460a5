//! Where the output of a command goes: a file of its own in the control plane, byte for byte, of bounded size. The
//! beginning and the end are worth most: of what is too long, the middle is left out.
//!
//! Nothing here may hold a command up: what cannot be written is lost, and the command goes on.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use holdfast_sys::{Handle, Open, Sys};
use serde::{Deserialize, Serialize};

use crate::ids::IssueId;

/// How many logs of one issue are kept.
const KEPT: usize = 5;

/// How long the last words of a command are waited for: everybody who could say them has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A log and how large it may become.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bound {
    /// The file.
    pub path: PathBuf,
    /// Who may read it.
    pub mode: u32,
    /// How many bytes it holds at most, together with the one that it replaced.
    pub most: u64,
}

impl Bound {
    /// The log of the work on an issue under a grant.
    #[must_use]
    pub fn of(control: &Path, issue: IssueId, fence: u64, mode: u32, most: u64) -> Self {
        Self { path: folder(control, issue).join(format!("{fence:020}.log")), mode, most }
    }
}

fn folder(control: &Path, issue: IssueId) -> PathBuf {
    control.join("logs").join(issue.to_string())
}

/// The logs of an issue, the oldest first. The first part of a long one has a name of its own, behind it.
///
/// # Errors
/// When they cannot be listed.
pub fn logs(sys: &Sys, control: &Path, issue: IssueId) -> holdfast_sys::Result<Vec<PathBuf>> {
    let folder = folder(control, issue);
    let names = match sys.files.list(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        names => names?,
    };
    let mut paths: Vec<PathBuf> = names.into_iter().map(|name| folder.join(name)).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    paths.sort();
    Ok(paths)
}

/// The name of the first part of a log that became too long.
#[must_use]
pub fn first_part(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

/// A log that is being written.
pub(super) struct Writing {
    written: Receiver<u64>,
}

impl Writing {
    /// Has a command write into a log.
    pub(super) fn of(sys: &Sys, bound: &Bound, command: &mut Command) -> io::Result<Self> {
        let (mut output, input) = io::pipe()?;
        command.stdout(input.try_clone()?).stderr(input);
        let mut file = Rotating::new(sys, bound);
        let (tell, written) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            let mut all = 0_u64;
            loop {
                match output.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(got) => {
                        all += got as u64;
                        file.write(buffer.get(..got).unwrap_or_default());
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // Nobody may listen any more.
            let _ = tell.send(all);
        });
        Ok(Self { written })
    }

    /// Waits for the last words, and says how many bytes were written in all.
    pub(super) fn end(self) -> u64 {
        self.written.recv_timeout(LAST_WORDS).unwrap_or(0)
    }
}

/// A file that makes room for itself: the first half stays, the second begins anew each time it is full.
struct Rotating {
    sys: Sys,
    bound: Bound,
    file: Option<Box<dyn Handle>>,
    size: u64,
    has_first: bool,
}

impl Rotating {
    fn new(sys: &Sys, bound: &Bound) -> Self {
        let mut rotating =
            Self { sys: sys.clone(), bound: bound.clone(), file: None, size: 0, has_first: false };
        rotating.open();
        rotating
    }

    fn open(&mut self) {
        let opened = self.sys.files.open(&self.bound.path, Open::Append { mode: self.bound.mode });
        self.file = opened.ok();
        if let Some(file) = &self.file {
            let _ = file.truncate(0);
        }
        self.size = 0;
    }

    fn write(&mut self, mut bytes: &[u8]) {
        let half = (self.bound.most / 2).max(1);
        while !bytes.is_empty() {
            if self.size >= half {
                self.turn();
            }
            let room = usize::try_from(half.saturating_sub(self.size)).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.append(now);
            self.size += now.len() as u64;
            bytes = later;
        }
    }

    fn append(&mut self, mut bytes: &[u8]) {
        let Some(file) = &self.file else { return };
        while !bytes.is_empty() {
            match file.append(bytes) {
                Ok(written @ 1..) => bytes = bytes.get(written..).unwrap_or_default(),
                // A full disk: what does not fit is lost.
                Ok(_) | Err(_) => return,
            }
        }
    }

    fn turn(&mut self) {
        if !self.has_first {
            self.has_first = self.sys.files.rename(&self.bound.path, &first_part(&self.bound.path)).is_ok();
        }
        self.open();
    }
}

/// Makes the place for a log, and room for it: the oldest ones of the issue are removed.
///
/// # Errors
/// When that is not possible.
pub fn prepare(sys: &Sys, control: &Path, issue: IssueId, directory: u32) -> holdfast_sys::Result<()> {
    crate::durable::make_dirs(sys, &folder(control, issue), directory)?;
    let all = logs(sys, control, issue)?;
    for old in all.iter().take(all.len().saturating_sub(KEPT - 1)) {
        // Somebody else may have been faster.
        let _ = sys.files.remove_file(old);
        let _ = sys.files.remove_file(&first_part(old));
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "these tests look at files behind their back")]
mod tests {
    use super::*;

    #[test]
    fn of_much_output_the_beginning_and_the_end_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let bound = Bound { path: dir.path().join("1.log"), mode: 0o600, most: 2_000 };
        let mut log = Rotating::new(&Sys::os(), &bound);
        log.write(b"the beginning\n");
        for number in 0..10_000 {
            log.write(format!("{number}\n").as_bytes());
        }
        log.write(b"the end\n");
        let text = |path: &Path| std::fs::read_to_string(path).unwrap();
        let (first, last) = (text(&first_part(&bound.path)), text(&bound.path));
        assert!(
            first.starts_with("the beginning\n0\n1\n") && last.ends_with("9999\nthe end\n"),
            "{first}{last}"
        );
        assert!(first.len() + last.len() <= 2_000, "{} {}", first.len(), last.len());
    }

    #[test]
    fn of_many_logs_the_newest_are_kept() {
        let (sys, dir) = (Sys::os(), tempfile::tempdir().unwrap());
        let issue = IssueId::parse("01K8ZQ00000000000000000000").unwrap();
        for fence in 1..=12 {
            prepare(&sys, dir.path(), issue, 0o700).unwrap();
            Rotating::new(&sys, &Bound::of(dir.path(), issue, fence, 0o600, 100)).write(&[b'x'; 500]);
        }
        let left = logs(&sys, dir.path(), issue).unwrap();
        assert_eq!(left.len(), KEPT, "{left:?}");
        assert_eq!(left.last(), Some(&Bound::of(dir.path(), issue, 12, 0, 0).path));
        assert_eq!(std::fs::read_dir(folder(dir.path(), issue)).unwrap().count(), 2 * KEPT);
    }

    #[test]
    fn logs_that_cannot_be_listed_are_not_none() {
        let (sys, dir) = (Sys::os(), tempfile::tempdir().unwrap());
        let issue = IssueId::parse("01K8ZQ00000000000000000000").unwrap();
        assert!(logs(&sys, dir.path(), issue).unwrap().is_empty());
        std::fs::create_dir(dir.path().join("logs")).unwrap();
        std::fs::write(folder(dir.path(), issue), "").unwrap();
        assert!(logs(&sys, dir.path(), issue).is_err());
    }
}
