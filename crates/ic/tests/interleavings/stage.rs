//! The simulated world that everybody meets in, and the board that says who owns the lock.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use holdfast_ic::locks;
use holdfast_ic::names::LockName;
use holdfast_ic::owner::{self, Owner, Said};
use holdfast_kernel::{
    Acquire, Command, Holder, LeaseId, Millis, Mode, Name, Policy, Request, Resource, Text,
};
use holdfast_sim::explore::exhaustive::Once;
use holdfast_store::directory::Directory;
use holdfast_store::{Medium, liveness};
use holdfast_sys::sim::{Choices, Config, End, Observer, Process, World};
use holdfast_sys::{Liveness, Sys};

pub(crate) const ROOT: &str = "/locks";
pub(crate) const LOCK: &str = "/locks/sprint/7";
/// Longer than a lock without an owner lasts.
pub(crate) const LONG: Millis = Millis::new(10_000);

/// What somebody does.
pub(crate) type Body = fn(&Sys, &Stage);

/// Who owns the lock. It tells the world, so that states in which others own it are other states.
pub(crate) struct Stage {
    owner: Mutex<Option<&'static str>>,
    observer: Observer,
    /// The grant of somebody who died holding it.
    pub(crate) dead: Mutex<Option<LeaseId>>,
}

/// While this is there, its maker owns the lock. The dead own nothing.
pub(crate) struct Owning<'a>(&'a Stage);

impl Stage {
    pub(crate) fn enter(&self, who: &'static str) -> Owning<'_> {
        let before = self.owner.lock().unwrap().replace(who);
        self.observer.note(who.len() as u64);
        assert_eq!(before, None, "{who} came to own the lock too");
        Owning(self)
    }
}

impl Drop for Owning<'_> {
    fn drop(&mut self) {
        self.0.observer.note(0);
        *self.0.owner.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

pub(crate) fn lock() -> LockName {
    LockName::new("sprint", "7").unwrap()
}

pub(crate) fn resource() -> Resource {
    lock().resource().clone()
}

pub(crate) fn holder(who: &str) -> Holder {
    owner::holder(&Name::new(who).unwrap())
}

pub(crate) fn policy() -> Policy {
    locks::policy(locks::STALE_AFTER)
}

/// The medium as the door has it.
pub(crate) fn medium(sys: &Sys) -> Directory {
    Directory::new(sys.clone(), Path::new(ROOT), locks::settings(locks::STALE_AFTER))
}

pub(crate) fn acquire(sys: &Sys, who: &str, dead: Vec<LeaseId>) -> Command {
    let owner = Owner::this_process(sys, Said { name: Some(who), ..Said::default() }).unwrap();
    Command::Acquire(Acquire {
        id: LeaseId::new(sys.entropy.nonce().unwrap()),
        resource: resource(),
        holder: owner.holder(),
        mode: Mode::Exclusive,
        request: Request::Indefinite,
        reason: Some(Text::new("until its process ends").unwrap()),
        tags: owner.tags(),
        dead,
    })
}

/// Something that one does with a lock: others can do things meanwhile.
pub(crate) fn work(sys: &Sys) {
    let _ = sys.files.stat(Path::new("/work"));
}

/// What came of a run, and what it left if everybody came to an end.
pub(crate) struct Run {
    pub(crate) once: Once<String>,
    pub(crate) end: Option<u128>,
}

impl Run {
    fn cut(stopped: bool, broken: Option<String>) -> Self {
        Self { once: Once { stopped, broken }, end: None }
    }
}

/// One run: first `before`, one after the other, then `others` at once, then somebody who must get the lock.
pub(crate) fn together(
    config: Config,
    choices: impl Choices + 'static,
    before: &[Body],
    others: &[Body],
) -> Run {
    let mut world = World::new(config, choices);
    world.create_dir_all("/locks/sprint").unwrap();
    let (owner, dead) = (Mutex::new(None), Mutex::new(None));
    let stage = Arc::new(Stage { owner, dead, observer: world.observer() });
    let mut processes: Vec<Process> = Vec::new();
    for (index, body) in before.iter().chain(others).copied().enumerate() {
        let stage = Arc::clone(&stage);
        let process = Process::new(format!("p{index}"), 0, move |sys: Sys| body(&sys, &stage));
        // Those before come one by one, and the others when the last of them is gone.
        processes.push(match index.min(before.len()).checked_sub(1) {
            Some(last) => process.after(last),
            None => process,
        });
    }
    let epoch = world.run(processes);
    if epoch.end == End::Stopped {
        return Run::cut(true, None);
    }
    let wrong = (epoch.end != End::Done).then(|| format!("{:?}", epoch.end));
    let said = epoch.panics().map(str::to_owned).chain(wrong).next();
    if said.is_some() {
        return Run::cut(false, said);
    }
    let end = Some(world.fingerprint());
    world.advance(60_000);
    let last = world.run(vec![Process::new("heir", 0, |sys: Sys| inherit(&sys))]);
    let broken = last.panics().map(str::to_owned).next();
    Run { once: Once { stopped: last.end == End::Stopped, broken }, end }
}

/// Takes the lock when everybody is gone, whatever they left.
fn inherit(sys: &Sys) {
    let medium = medium(sys);
    let view = medium.look(&resource()).unwrap();
    let gone = |process| sys.processes.liveness(&process) == Liveness::Dead;
    let dead = view.table.iter().filter(|lease| liveness::process(lease).is_some_and(gone));
    let dead = dead.map(|lease| lease.id).collect();
    medium.transact(&policy(), &acquire(sys, "heir", dead)).unwrap();
}
