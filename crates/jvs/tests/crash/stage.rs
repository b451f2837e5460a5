//! A repository on a simulated machine, and short ways to work in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_jvs::change;
use holdfast_jvs::error::Result;
use holdfast_jvs::guards::Waits;
use holdfast_jvs::lock::session::{Session, Shell};
use holdfast_jvs::lock::take::take;
use holdfast_jvs::names::{OpId, WorktreeName};
use holdfast_jvs::payload::{PlainTrees, Progress, Trees};
use holdfast_jvs::publish::{Wanted, publish};
use holdfast_jvs::repo::{Actor, Repo};
use holdfast_jvs::snapshot::Consistency;
use holdfast_jvs::worktree::Worktree;
use holdfast_sys::{Open, Sys};

const ROOT: &str = "/r";
const SESSION: &str = "/session.json";

/// Who owns every file of the simulated machine.
const USER: u32 = 1_000;

/// A repository on a simulated machine.
pub(crate) struct Stage {
    pub(crate) repo: Repo,
}

impl Stage {
    /// Makes the repository.
    pub(crate) fn found(sys: Sys) -> Self {
        change::found(&sys, Path::new(ROOT), &actor()).unwrap();
        Self::open(sys)
    }

    /// Opens the repository.
    pub(crate) fn open(sys: Sys) -> Self {
        Self::try_open(sys).unwrap()
    }

    /// Opens the repository, where the disk may fail.
    pub(crate) fn try_open(sys: Sys) -> Result<Self> {
        let trees: Arc<dyn Trees> = Arc::new(PlainTrees::new(sys.clone()));
        Ok(Self { repo: Repo::open(&sys, &trees, Path::new(ROOT), &actor(), &Waits::default())? })
    }

    pub(crate) fn worktree(&self, name: &str) -> Result<Worktree> {
        Worktree::named(&self.repo, &name_of(name))
    }

    /// Writes a file of a payload.
    pub(crate) fn put(&self, worktree: &str, path: &str, text: &str) {
        let path = self.repo.payload(&name_of(worktree)).join(path);
        let files = &self.repo.sys.files;
        let _ = files.create_dir(path.parent().unwrap(), 0o755);
        let file = files.open(&path, Open::Create { mode: 0o644 }).unwrap();
        file.truncate(0).unwrap();
        file.write_all_at(text.as_bytes(), 0).unwrap();
        file.sync().unwrap();
        files.sync_dir(path.parent().unwrap()).unwrap();
        files.sync_dir(path.parent().unwrap().parent().unwrap()).unwrap();
    }

    /// Takes the lock of main.
    pub(crate) fn lock(&self) -> Session {
        self.take(SESSION, None).unwrap()
    }

    /// Takes the lock of main for the session in a file.
    pub(crate) fn take(&self, file: &str, lease_ms: Option<u64>) -> Result<Session> {
        let shell = Shell::own(&self.repo.sys, "u")?;
        let taken = take(&self.repo, &name_of("main"), &shell, &|_| Ok(PathBuf::from(file)), lease_ms);
        taken.map(|(session, _)| session)
    }

    /// The session that took the lock of main.
    pub(crate) fn session(&self) -> Result<Session> {
        Ok(Session::load(&self.repo, &self.worktree("main")?, Path::new(SESSION))?.unwrap())
    }

    /// Takes a snapshot of main.
    pub(crate) fn snapshot(&self, session: &Session) -> Result<OpId> {
        let wanted = Wanted { note: None, consistency: Consistency::Quiesced, session: Some(session) };
        let main = self.worktree("main")?;
        Ok(publish(&self.repo, &main, &wanted, &Progress::default())?.snapshot_id)
    }

    /// The payload of a worktree, file by file; none if it is not there.
    pub(crate) fn payload(&self, worktree: &str) -> Option<BTreeMap<Vec<u8>, Vec<u8>>> {
        let root = self.repo.payload(&name_of(worktree));
        let scan = self.repo.trees.scan(&root).ok()?;
        let read = |path: &[u8]| {
            let path = root.join(std::str::from_utf8(path).unwrap());
            self.repo.sys.files.open(&path, Open::Read).unwrap().read_from(0, 1 << 20).unwrap_or_default()
        };
        Some(scan.entries.iter().map(|entry| (entry.path.clone(), read(&entry.path))).collect())
    }
}

fn actor() -> Actor {
    Actor { name: "h:u:1:1".into(), user: USER }
}

pub(crate) fn name_of(name: &str) -> WorktreeName {
    WorktreeName::new(name).unwrap()
}
