//! One process of a run: follows its script, remembers what it was told, and writes everything down.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use holdfast_kernel::{
    Acquire, Answer, Claim, Command, Holder, Lease, LeaseId, Millis, Mode, Refusal, Request, Resource, Tags,
    Text, Transfer,
};
use holdfast_store::{Error, Medium, Result, Trouble, liveness};
use holdfast_sys::{Liveness, Open, Processes, Sys};

use crate::history::{Actor, Asked, CallId, Told};
use crate::plan::{Plan, Script, Step};
use crate::recorder::{Presence, Recorder};
use crate::subject::Subject;

/// Where the things are that guarded writes write to.
pub(crate) const PROTECTED: &str = "/protected";

/// What every process of a run shares.
pub(crate) struct Stage {
    pub(crate) subject: Subject,
    pub(crate) plan: Plan,
    pub(crate) recorder: Arc<Recorder>,
}

impl Stage {
    /// Follows a script; `number` is unique in the run.
    pub(crate) fn play(&self, sys: &Sys, script: &Script, name: String, number: usize) {
        let holder = self.plan.holder(script.holder);
        let actor = Actor { name, host: script.host, holder: holder.clone(), calm: false };
        let mut performer = Performer::enter(self, sys, actor, number);
        for step in &script.steps {
            performer.perform(step);
        }
    }
}

/// A process at work.
pub(crate) struct Performer<'a> {
    stage: &'a Stage,
    sys: Sys,
    presence: Presence,
    holder: Holder,
    medium: Option<Box<dyn Medium>>,
    number: usize,
    leases: u64,
    /// The leases that it was last told it has.
    mine: BTreeMap<Resource, Lease>,
    /// The leases that it last saw.
    seen: Vec<Lease>,
}

impl<'a> Performer<'a> {
    pub(crate) fn enter(stage: &'a Stage, sys: &Sys, actor: Actor, number: usize) -> Self {
        let holder = actor.holder.clone();
        let presence = stage.recorder.enter(actor, !stage.plan.liveness);
        let sys = presence.noted(sys);
        let (mine, seen) = (BTreeMap::new(), Vec::new());
        Self { stage, sys, presence, holder, medium: None, number, leases: 0, mine, seen }
    }

    pub(crate) fn perform(&mut self, step: &Step) {
        match *step {
            Step::Acquire { resource: number, mode, ttl_ms } => {
                self.acquire(&self.stage.subject.resource(number), mode, ttl_ms);
            }
            Step::Sleep(ms) => self.sys.clock.sleep(Millis::new(ms)),
            Step::Reopen => self.medium = None,
            Step::View => drop(self.view()),
            Step::Sweep => self.command(Command::Sweep),
            Step::KeepUp => {
                // A failure here is like any other: what counts is what callers are told afterwards.
                let _ = self.stage.subject.keep_up(&self.sys, &self.stage.plan.policy);
            }
            Step::Write(number) => self.write(&self.stage.subject.resource(number)),
            Step::Evict(number) => self.evict(&self.stage.subject.resource(number)),
            Step::Renew(number) | Step::Beat(number) | Step::Release(number) => {
                self.keep(step, &self.stage.subject.resource(number));
            }
            Step::Transfer { resource: number, to } => {
                self.transfer(&self.stage.subject.resource(number), to)
            }
        }
    }

    /// An id that no other grant of the run has, without asking the machine for anything.
    fn fresh_id(&mut self) -> LeaseId {
        self.leases += 1;
        LeaseId::from_parts(self.number as u64, u128::from(self.leases))
    }

    /// What says that this process holds a lease, and the leases of those who are gone. None if that cannot
    /// be found out: whoever does not know that its lease is a dead process's must not go on with it.
    fn liveness(&mut self) -> Option<(Tags, Vec<LeaseId>)> {
        if !self.stage.plan.liveness {
            return Some((Tags::none(), Vec::new()));
        }
        if !matches!(self.view(), Told::View(_)) {
            return None;
        }
        let processes = &*self.sys.processes;
        let dead = self.seen.iter().filter(|lease| is_dead(processes, lease)).map(|lease| lease.id).collect();
        let tags = liveness::describe(&processes.me().ok()?, Tags::none())?;
        Some((tags, dead))
    }

    fn acquire(&mut self, resource: &Resource, mode: Mode, ttl_ms: Option<u64>) {
        let Some((tags, dead)) = self.liveness() else { return };
        let request = ttl_ms.map_or(Request::Indefinite, |ms| Request::Finite(Millis::new(ms)));
        let wanted = Acquire {
            id: self.fresh_id(),
            resource: resource.clone(),
            holder: self.holder.clone(),
            mode,
            request,
            reason: Some(because()),
            tags,
            dead,
        };
        self.command(Command::Acquire(wanted));
    }

    fn keep(&mut self, step: &Step, resource: &Resource) {
        let Some(Lease { id: lease, .. }) = self.mine.get(resource).cloned() else { return };
        let holder = self.holder.clone();
        self.command(match step {
            Step::Beat(_) => Command::Beat { lease, holder },
            Step::Release(_) => Command::Release { lease, holder },
            _ => Command::Renew { lease, holder, ttl: None },
        });
    }

    fn transfer(&mut self, resource: &Resource, to: usize) {
        let Some(lease) = self.mine.get(resource).map(|lease| lease.id) else { return };
        let (holder, id, to) = (self.holder.clone(), self.fresh_id(), self.stage.plan.holder(to));
        let wanted = Transfer { lease, holder, id, to, reason: because(), tags: Tags::none() };
        self.command(Command::Transfer(wanted));
    }

    pub(crate) fn evict(&mut self, resource: &Resource) {
        let seen = self.seen.iter().rev().find(|lease| lease.resource.overlaps(resource));
        let Some(lease) = seen.map(|lease| lease.id) else { return };
        self.command(Command::Evict { lease, by: self.holder.clone(), reason: because() });
    }

    fn command(&mut self, command: Command) {
        let policy = &self.stage.plan.policy;
        self.call(Asked::Command(command.clone()), |medium, _, _| {
            medium.transact(policy, &command).map(Told::Answer)
        });
    }

    fn view(&mut self) -> Told {
        self.call(Asked::View, |medium, _, _| medium.view().map(Told::View))
    }

    fn write(&mut self, resource: &Resource) {
        let Some(lease) = self.mine.get(resource) else { return };
        let claim = Claim {
            resource: resource.clone(),
            lease: lease.id,
            holder: self.holder.clone(),
            fence: lease.fence,
        };
        let sys = self.sys.clone();
        self.call(Asked::Write(claim.clone()), |medium, presence, call| {
            let mut act = |held: &holdfast_store::Held<'_>| {
                presence.act(call);
                leave_mark(&sys, held.lease());
                presence.act(call);
            };
            medium.guarded(&claim, &mut act).map(|()| Told::Wrote)
        });
    }

    /// Makes a call and remembers what came of it. A medium that is not open is opened first: whatever
    /// fails there, fails the call.
    fn call(
        &mut self,
        asked: Asked,
        make: impl FnOnce(&dyn Medium, &Presence, CallId) -> Result<Told>,
    ) -> Told {
        let call = self.presence.begin(asked.clone());
        let medium = open(&mut self.medium, &self.stage.subject, &self.sys);
        let told = medium.and_then(|medium| make(medium, &self.presence, call)).unwrap_or_else(failed);
        self.remember(&asked, &told);
        self.presence.end(call, told.clone());
        told
    }

    fn remember(&mut self, asked: &Asked, told: &Told) {
        match told {
            Told::Answer(
                Answer::Granted(lease)
                | Answer::AlreadyHeld(lease)
                | Answer::Renewed(lease)
                | Answer::Beaten(lease),
            ) => {
                self.mine.insert(lease.resource.clone(), lease.clone());
            }
            Told::Answer(Answer::Released(lease))
                if matches!(asked, Asked::Command(Command::Release { .. })) =>
            {
                self.mine.remove(&lease.resource);
            }
            Told::View(view) => {
                self.seen = view.table.iter().cloned().collect();
            }
            Told::Refused(refusal) => self.seen.extend(held(refusal).cloned()),
            _ => {}
        }
    }
}

/// The lease that somebody was told of because it is held.
const fn held(refusal: &Refusal) -> Option<&Lease> {
    let Refusal::Held { blocker, .. } = refusal else { return None };
    Some(blocker)
}

fn is_dead(processes: &dyn Processes, lease: &Lease) -> bool {
    liveness::process(lease).is_some_and(|process| processes.liveness(&process) == Liveness::Dead)
}

fn open<'m>(known: &'m mut Option<Box<dyn Medium>>, subject: &Subject, sys: &Sys) -> Result<&'m dyn Medium> {
    let medium = match known.take() {
        Some(medium) => medium,
        None => subject.open(sys)?,
    };
    Ok(&**known.insert(medium))
}

fn failed(error: Error) -> Told {
    match error {
        Error::Refused(refusal) => Told::Refused(refusal),
        Error::Sys(error) => Told::Failed(format!("{error}: {}", error.source)),
        Error::Shared { trouble: Trouble::Unavailable | Trouble::Unresolved, what } => Told::Failed(what),
        unusable => Told::Unusable(unusable.to_string()),
    }
}

#[expect(clippy::expect_used, reason = "these words are a text")]
fn because() -> Text {
    Text::new("because").expect("a text")
}

/// Writes the fence to what the resource stands for. The calls are there to give others a chance to come in
/// between; whether they fail does not matter.
fn leave_mark(sys: &Sys, lease: &Lease) {
    let path = PathBuf::from(PROTECTED).join(lease.resource.text().replace('/', "-"));
    if let Ok(file) = sys.files.open(&path, Open::Create { mode: 0o644 }) {
        let _ = file.write_all_at(&lease.fence.get().to_le_bytes(), 0);
    }
}
