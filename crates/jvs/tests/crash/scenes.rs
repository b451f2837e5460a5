//! What is cut off, and what has to be there before.

use holdfast_jvs::change::Unsaved;
use holdfast_jvs::error::Result;
use holdfast_jvs::intent::{Intent, Task};
use holdfast_jvs::names::OpId;
use holdfast_jvs::payload::Progress;
use holdfast_jvs::repo::make_dir;
use holdfast_jvs::worktree::Isolation;
use holdfast_jvs::{change, doctor, gc, pins};
use holdfast_kernel::Millis;

use crate::stage::{Stage, name_of};

/// An operation, and what has to be there before.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    pub(crate) before: fn(&Stage),
    pub(crate) act: fn(&Stage) -> Result<()>,
    /// What a payload may look like afterwards, beside what it was before: `(worktree, file, text)`.
    pub(crate) may_be: Option<(&'static str, &'static str, &'static str)>,
}

pub(crate) const SCENES: &[Scene] = &[
    Scene { name: "a snapshot", before: changed, act: snapshot, may_be: None },
    Scene { name: "a steal", before: overdue, act: steal, may_be: None },
    Scene { name: "a restore in place", before: changed, act: restore, may_be: Some(("main", "d/f", "one")) },
    Scene { name: "a worktree from a snapshot", before: changed, act: create, may_be: None },
    Scene { name: "a rename", before: two_worktrees, act: rename, may_be: None },
    Scene { name: "a removal", before: two_worktrees, act: remove, may_be: None },
    Scene { name: "a collection", before: unneeded, act: collect, may_be: None },
    Scene { name: "a repair", before: littered, act: repair, may_be: None },
];

/// A locked worktree with a snapshot, and a change since.
fn changed(stage: &Stage) {
    stage.put("main", "d/f", "one");
    let session = stage.lock();
    stage.snapshot(&session).unwrap();
    stage.put("main", "d/f", "two");
}

/// A lock that its holder has had for too long.
fn overdue(stage: &Stage) {
    changed(stage);
    stage.repo.sys.clock.sleep(Millis::from_secs(60));
}

fn steal(stage: &Stage) -> Result<()> {
    stage.take("/other.json", None).map(drop)
}

fn head(stage: &Stage) -> Result<OpId> {
    Ok(stage.worktree("main")?.head.unwrap())
}

fn snapshot(stage: &Stage) -> Result<()> {
    stage.snapshot(&stage.session()?).map(drop)
}

fn restore(stage: &Stage) -> Result<()> {
    let (main, session) = (stage.worktree("main")?, stage.session()?);
    let progress = Progress::default();
    change::restore(&stage.repo, &main, head(stage)?, "wrong", Some(&session), Unsaved::Lose, &progress)
}

fn create(stage: &Stage) -> Result<()> {
    let from = Some(head(stage)?);
    change::create(&stage.repo, name_of("side"), Isolation::Exclusive, from, &Progress::default()).map(drop)
}

fn two_worktrees(stage: &Stage) {
    changed(stage);
    create(stage).unwrap();
}

fn rename(stage: &Stage) -> Result<()> {
    change::rename(&stage.repo, &stage.worktree("side")?, name_of("other")).map(drop)
}

fn remove(stage: &Stage) -> Result<()> {
    change::remove(&stage.repo, &stage.worktree("side")?, true, &Progress::default())
}

/// Two snapshots, of which the second is no head any more.
fn unneeded(stage: &Stage) {
    changed(stage);
    let first = head(stage).unwrap();
    let session = stage.session().unwrap();
    stage.snapshot(&session).unwrap();
    let main = stage.worktree("main").unwrap();
    let progress = Progress::default();
    let second = main.head.unwrap();
    change::restore(&stage.repo, &main, first, "wrong", Some(&session), Unsaved::Refuse, &progress).unwrap();
    pins::remove(&stage.repo, second).unwrap();
}

fn collect(stage: &Stage) -> Result<()> {
    gc::run(&stage.repo, &gc::plan(&stage.repo)?.id).map(drop)
}

/// An intent whose owner is gone, with something in its staging directory, and a staging directory of nobody's.
fn littered(stage: &Stage) {
    changed(stage);
    let repo = &stage.repo;
    let id = OpId::fresh(&repo.sys).unwrap();
    let task = Task::Snapshot { worktree_id: stage.worktree("main").unwrap().worktree_id };
    let intent = repo.together(|| Intent::begin(repo, id, task)).unwrap();
    make_dir(&repo.sys, &repo.staging(id)).unwrap();
    make_dir(&repo.sys, &repo.staging(id).join("payload")).unwrap();
    make_dir(&repo.sys, &repo.control("staging").join("nobodys")).unwrap();
    drop(intent);
}

fn repair(stage: &Stage) -> Result<()> {
    let findings = doctor::find(&stage.repo, true)?;
    doctor::mend(&stage.repo, &findings).map(drop)
}
