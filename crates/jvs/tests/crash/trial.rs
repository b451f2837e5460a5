//! One operation that is cut off at one call, and what must hold afterwards.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use holdfast_jvs::names::OpId;
use holdfast_jvs::payload::Progress;
use holdfast_jvs::worktree::Worktree;
use holdfast_jvs::{doctor, gc, snapshot, verify};
use holdfast_sys::Sys;
use holdfast_sys::sim::{Config, Faults, Odds, Process, Random, World};

use crate::scenes::Scene;
use crate::stage::Stage;
use crate::strike::{Left, Plan, Strike};

type Payload = Option<BTreeMap<Vec<u8>, Vec<u8>>>;

/// What is there.
struct Seen {
    snapshots: Vec<OpId>,
    heads: Vec<(String, Option<OpId>)>,
    main: Payload,
    unneeded: Vec<OpId>,
}

/// One operation that is cut off at one call.
pub(crate) struct Trial<'a> {
    scene: &'a Scene,
    world: World,
    armed: Arc<AtomicBool>,
    shown: String,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(scene: &'a Scene, plan: Plan, nth: u64) -> Self {
        let armed = Arc::new(AtomicBool::new(false));
        let once = Odds::new(0, 1);
        let faults = Faults { kill: once, power_loss: once, eio: once, enospc: once, ..Faults::NONE };
        let config = Config { faults, names: plan.order, lose_ppm: 500_000, ..Config::default() };
        let seed = match plan.left {
            Left::Something(seed) => seed.wrapping_mul(1_000_003).wrapping_add(nth),
            Left::Nothing | Left::Everything => 0,
        };
        let strike = Strike { plan, countdown: nth, armed: Arc::clone(&armed), random: Random::new(seed) };
        let shown = format!("{}, {plan:?} at occasion {nth}", scene.name);
        Self { scene, world: World::new(config, strike), armed, shown }
    }

    /// Runs `body` as a process; none if it did not come to its end.
    fn process<T: Send + 'static>(&mut self, body: impl FnOnce(Sys) -> T + Send + 'static) -> Option<T> {
        let told = Arc::new(Mutex::new(None));
        let tell = Arc::clone(&told);
        let process = Process::new("it", 0, move |sys: Sys| {
            let answer = body(sys);
            *tell.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        });
        let epoch = self.world.run(vec![process]);
        assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "{}", self.shown);
        told.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether the operation has so many calls that it was cut off.
    pub(crate) fn run(mut self) -> bool {
        let (before, act) = (self.scene.before, self.scene.act);
        let seen = self.process(move |sys| {
            let stage = Stage::found(sys);
            before(&stage);
            look(&stage)
        });
        let seen = seen.unwrap();
        self.armed.store(true, Ordering::SeqCst);
        let done = self.process(move |sys| Stage::try_open(sys).and_then(|stage| act(&stage)).is_ok());
        if self.armed.swap(false, Ordering::SeqCst) {
            return false;
        }
        self.judge(&seen, done == Some(true));
        self.heal();
        self.judge_healed(&seen);
        // What was visible and not acknowledged may be lost now; the doctor clears what is left of that too.
        self.world.lose_power();
        self.heal();
        self.judge_healed(&seen);
        true
    }

    /// Whether an acquisition was cut off at this call. Whoever tries it again with the same session gets the lock:
    /// what failed or died has not locked itself out.
    pub(crate) fn retried(mut self) -> bool {
        let (before, act) = (self.scene.before, self.scene.act);
        self.process(move |sys| before(&Stage::found(sys))).unwrap();
        self.armed.store(true, Ordering::SeqCst);
        self.process(move |sys| Stage::try_open(sys).and_then(|stage| act(&stage)).is_ok());
        if self.armed.swap(false, Ordering::SeqCst) {
            return false;
        }
        let shown = self.shown.clone();
        self.process(move |sys| {
            Stage::open(sys).take("/other.json", None).unwrap_or_else(|error| panic!("{shown}: {error}"));
        });
        true
    }

    /// Nothing partial is visible and nothing is lost, whether or not somebody has repaired anything.
    fn judge(&mut self, before: &Seen, done: bool) {
        let shown = self.shown.clone();
        let after = self.process(move |sys| look(&Stage::open(sys))).unwrap();
        for id in before.snapshots.iter().filter(|id| !before.unneeded.contains(id)) {
            assert!(after.snapshots.contains(id), "{shown}: {id} is lost");
        }
        let more = after.snapshots.iter().filter(|id| !before.snapshots.contains(id)).count();
        assert!(more <= 1, "{shown}");
        if done && self.scene.name == "a snapshot" {
            assert_eq!(more, 1, "{shown}: it was told that the snapshot is published");
            assert_ne!(after.heads, before.heads, "{shown}");
        }
    }

    /// The doctor names what is left and clears it, and has nothing to do the second time.
    fn heal(&mut self) {
        let shown = self.shown.clone();
        self.process(move |sys| {
            let repo = &Stage::open(sys).repo;
            let found = doctor::find(repo, true).unwrap();
            doctor::mend(repo, &found).unwrap();
            let left = doctor::find(repo, true).unwrap();
            assert_eq!(left, [], "{shown}: after {found:?}");
            assert_eq!(doctor::mend(repo, &left).unwrap().len(), 0);
        });
    }

    /// Everything is whole: what is published, what the worktrees point to, the payloads and the audit.
    fn judge_healed(&mut self, before: &Seen) {
        let shown = self.shown.clone();
        let (after, worktrees) = self
            .process(move |sys| {
                let stage = Stage::open(sys);
                let audited = verify::audit(&stage.repo).unwrap_or_else(|error| panic!("{shown}: {error}"));
                if let Some((what, error)) = audited.wrong().first() {
                    panic!("{shown}: {what}: {error}");
                }
                let names: Vec<String> =
                    Worktree::all(&stage.repo).unwrap().iter().map(|one| one.name.to_string()).collect();
                for name in &names {
                    assert!(stage.payload(name).is_some(), "{shown}: the payload of {name} is missing");
                }
                (look(&stage), names)
            })
            .unwrap();
        for id in before.snapshots.iter().filter(|id| !before.unneeded.contains(id)) {
            assert!(after.snapshots.contains(id), "{}: {id} is lost", self.shown);
        }
        for (name, head) in &after.heads {
            assert!(head.is_none_or(|head| after.snapshots.contains(&head)), "{}: {name}", self.shown);
        }
        assert!(worktrees.contains(&"main".to_owned()), "{}", self.shown);
        let restored = self.scene.may_be.and_then(|(_, file, text)| {
            after
                .main
                .as_ref()
                .and_then(|main| main.get(file.as_bytes()))
                .map(|found| found == text.as_bytes())
        });
        assert!(after.main == before.main || restored == Some(true), "{}: the payload", self.shown);
    }
}

/// What is there; every snapshot that is visible is what was published.
fn look(stage: &Stage) -> Seen {
    let repo = &stage.repo;
    let snapshots: Vec<OpId> = snapshot::all(repo).unwrap().iter().map(|one| one.snapshot_id).collect();
    for id in &snapshots {
        verify::snapshot(repo, None, *id, &Progress::default()).unwrap();
    }
    let worktrees = Worktree::all(repo).unwrap();
    let unneeded = gc::plan(repo).unwrap().snapshots.iter().map(|one| one.snapshot_id).collect();
    let heads = worktrees.into_iter().map(|one| (one.name.to_string(), one.head)).collect();
    Seen { snapshots, heads, main: stage.payload("main"), unneeded }
}
