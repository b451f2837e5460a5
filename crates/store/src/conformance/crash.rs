//! Cuts every operation off at every call: by a kill, a power loss, a disk that fails or is full. Whatever
//! was acknowledged must be there afterwards, whatever was not must be there whole or not at all, and the
//! medium must go on with larger fences than ever before.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use holdfast_kernel::{Answer, Command, Fence, Lease, LeaseId, Transfer};
use holdfast_sys::Sys;
use holdfast_sys::sim::{
    Choice, Choices, Config, Fault, Faults, Moment, NameOrder, Odds, Process, Random, World,
};

use super::stage::{GRACE, SKEW, TTL, evicting, holder, only, policy, releasing, renewing, text, view};
use super::{Stage, Subject};
use crate::{Medium, Result, View};

/// An operation, and what has to be there before.
struct Scene {
    name: &'static str,
    before: fn(&Stage),
    act: Act,
}

/// Something that is asked of a medium.
type Act = fn(&Stage, &dyn Medium) -> Result<Answer>;

const SCENES: &[Scene] = &[
    Scene { name: "the first grant", before: |_| (), act: |stage, medium| stage.acquire(medium, "anna") },
    Scene {
        name: "a grant after a release",
        before: given_back,
        act: |stage, medium| stage.acquire(medium, "anna"),
    },
    Scene { name: "the same holder again", before: held, act: |stage, medium| stage.acquire(medium, "anna") },
    Scene { name: "a takeover", before: expired, act: |stage, medium| stage.acquire(medium, "berta") },
    Scene { name: "a renewal", before: held, act: |_, medium| with_the_lease(medium, renewing) },
    Scene { name: "a release", before: held, act: |_, medium| with_the_lease(medium, releasing) },
    Scene { name: "an eviction", before: held, act: |_, medium| with_the_lease(medium, evicting) },
    Scene { name: "a transfer", before: held, act: hand_over },
    Scene { name: "a sweep", before: expired, act: |_, medium| medium.transact(&policy(), &Command::Sweep) },
];

fn held(stage: &Stage) {
    stage.grant(&*stage.open(), "anna");
}

fn given_back(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "berta");
    medium.transact(&policy(), &releasing(&lease)).expect("a release");
}

fn expired(stage: &Stage) {
    held(stage);
    stage.pass(TTL.plus(SKEW).plus(GRACE));
}

fn with_the_lease(medium: &dyn Medium, command: fn(&Lease) -> Command) -> Result<Answer> {
    let lease = only(&medium.view()?);
    medium.transact(&policy(), &command(&lease))
}

fn hand_over(stage: &Stage, medium: &dyn Medium) -> Result<Answer> {
    let lease = only(&medium.view()?);
    let transfer = Transfer {
        lease: lease.id,
        holder: lease.holder,
        id: stage.id(),
        to: holder("berta"),
        reason: text("off for lunch"),
        tags: lease.tags,
    };
    medium.transact(&policy(), &Command::Transfer(transfer))
}

/// Whoever died before it could read the answer asks again.
fn ask_again(stage: &Stage, medium: &dyn Medium) -> Result<Answer> {
    match medium.view()?.table.iter().next() {
        Some(lease) => stage.acquire(medium, lease.holder.agent.as_str()),
        None => stage.acquire(medium, "anna"),
    }
}

/// Whoever reads that it holds the lease goes on with it.
fn renew_or_ask_again(stage: &Stage, medium: &dyn Medium) -> Result<Answer> {
    let seen = medium.view()?;
    match seen.table.iter().find(|lease| !lease.standing(&seen.now).is_over()) {
        Some(lease) => medium.transact(&policy(), &renewing(lease)),
        None => ask_again(stage, medium),
    }
}

/// What is left of what was not made durable.
#[derive(Clone, Copy, Debug)]
enum Left {
    Nothing,
    Everything,
    Something(u64),
}

/// What happens at which occasion.
#[derive(Clone, Copy, Debug)]
struct Plan {
    what: Choice,
    /// Which answer is given: the first bad one, or the last one.
    last: bool,
    left: Left,
    order: NameOrder,
}

const fn plan(what: Choice, last: bool, left: Left, order: NameOrder) -> Plan {
    Plan { what, last, left, order }
}

const PLANS: &[Plan] = &[
    plan(Choice::Kill, false, Left::Nothing, NameOrder::PerDirectory),
    plan(Choice::Kill, false, Left::Something(1), NameOrder::PerName),
    plan(Choice::PowerLoss, false, Left::Nothing, NameOrder::PerDirectory),
    plan(Choice::PowerLoss, false, Left::Everything, NameOrder::PerDirectory),
    plan(Choice::PowerLoss, false, Left::Something(2), NameOrder::PerDirectory),
    plan(Choice::PowerLoss, false, Left::Something(3), NameOrder::PerName),
    plan(Choice::PowerLoss, false, Left::Something(4), NameOrder::PerName),
    plan(Choice::PowerLoss, false, Left::Something(5), NameOrder::PerName),
    plan(Choice::Fault(Fault::Eio), false, Left::Nothing, NameOrder::PerDirectory),
    plan(Choice::Fault(Fault::Eio), true, Left::Something(6), NameOrder::PerName),
    plan(Choice::Fault(Fault::Enospc), false, Left::Nothing, NameOrder::PerDirectory),
    plan(Choice::Fault(Fault::Enospc), true, Left::Something(7), NameOrder::PerName),
];

/// Strikes once, at the nth occasion after it was armed.
struct Strike {
    plan: Plan,
    countdown: u64,
    armed: Arc<AtomicBool>,
    random: Random,
}

impl Choices for Strike {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        match (what, self.plan.left) {
            (Choice::Survive(_), Left::Everything) => return 0,
            (Choice::Survive(_), Left::Nothing) => return options - 1,
            (Choice::Survive(_), Left::Something(_)) => return self.random.choose(what, options, at),
            _ if what != self.plan.what || !self.armed.load(Ordering::SeqCst) => return 0,
            _ if self.countdown > 0 => {
                self.countdown -= 1;
                return 0;
            }
            _ => {}
        }
        self.armed.store(false, Ordering::SeqCst);
        if self.plan.last { options - 1 } else { 1 }
    }
}

/// Cuts every operation off at every call, and says how many times it was cut off.
pub fn crashes(subject: &Subject) -> u64 {
    some_crashes(subject, 1)
}

/// As [`crashes`], at one call of so many.
pub fn some_crashes(subject: &Subject, every: usize) -> u64 {
    let mut cuts = 0;
    for scene in SCENES {
        for plan in PLANS {
            for then in [ask_again, renew_or_ask_again] {
                let struck = |nth: &u64| Trial::new(*subject, scene, *plan, *nth).run(then);
                cuts += (0..).step_by(every).take_while(struck).count() as u64;
            }
        }
    }
    cuts
}

/// One operation that is cut off at one call.
struct Trial<'a> {
    scene: &'a Scene,
    subject: Subject,
    world: World,
    armed: Arc<AtomicBool>,
    shown: String,
}

impl<'a> Trial<'a> {
    fn new(subject: Subject, scene: &'a Scene, plan: Plan, nth: u64) -> Self {
        let armed = Arc::new(AtomicBool::new(false));
        let once = Odds::new(0, 1);
        let faults = Faults { kill: once, power_loss: once, eio: once, enospc: once, ..Faults::NONE };
        let config = Config { faults, names: plan.order, lose_ppm: 500_000, ..Config::default() };
        let seed = match plan.left {
            Left::Something(seed) => seed.wrapping_mul(1_000_003).wrapping_add(nth),
            Left::Nothing | Left::Everything => 0,
        };
        let random = Random::new(seed);
        let strike = Strike { plan, countdown: nth, armed: Arc::clone(&armed), random };
        let mut world = World::new(config, strike);
        world.create_dir_all("/medium").expect("an empty world");
        let shown = format!("{}, {plan:?} at occasion {nth}", scene.name);
        Self { scene, subject, world, armed, shown }
    }

    /// Runs `body` as a process; none if it did not come to its end.
    fn process<T: Send + 'static>(&mut self, body: impl FnOnce(&Stage) -> T + Send + 'static) -> Option<T> {
        let told = Arc::new(Mutex::new(None));
        let (subject, tell) = (self.subject, Arc::clone(&told));
        let process = Process::new("it", 0, move |sys: Sys| {
            let told = body(&Stage::new(subject, sys, PathBuf::from("/medium")));
            *tell.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        });
        let epoch = self.world.run(vec![process]);
        assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "{}", self.shown);
        told.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether the operation has so many calls that it was cut off.
    fn run(mut self, then: Act) -> bool {
        let setup = self.scene.before;
        let before = self.process(move |stage| {
            setup(stage);
            view(&*stage.open())
        });
        let before = before.expect("a quiet beginning");
        let act = self.scene.act;
        self.armed.store(true, Ordering::SeqCst);
        let told = self.process(move |stage| act(stage, &*stage.open()).ok()).flatten();
        if self.armed.swap(false, Ordering::SeqCst) {
            return false;
        }
        let after = self.process(|stage| view(&*stage.open())).expect("a view of what is left");
        self.judge(&before, told.as_ref(), &after);
        self.builds_on_it(&before, told.as_ref(), then);
        true
    }

    /// All of it or nothing, and all of it if it was acknowledged.
    fn judge(&self, before: &View, told: Option<&Answer>, after: &View) {
        assert!(after.table.len() <= 1, "{}: {:?}", self.shown, after.table);
        match told {
            Some(answer) => self.is_kept(answer, after),
            None => {
                for lease in after.table.iter() {
                    let old = before.table.get(lease.id);
                    let goes_on = old.is_some_and(|old| old.fence == lease.fence);
                    assert!(goes_on || lease.fence >= before.next, "{}: {lease:?}", self.shown);
                }
            }
        }
    }

    /// What was acknowledged is there.
    fn is_kept(&self, answer: &Answer, after: &View) {
        let gone = |id: LeaseId| assert!(after.table.get(id).is_none(), "{}: {answer:?}", self.shown);
        match answer {
            Answer::Released(lease) | Answer::Evicted(lease) => gone(lease.id),
            Answer::Swept(leases) => leases.iter().for_each(|lease| gone(lease.id)),
            Answer::Granted(lease)
            | Answer::AlreadyHeld(lease)
            | Answer::Renewed(lease)
            | Answer::Beaten(lease)
            | Answer::Transferred(lease)
            | Answer::Valid(lease) => {
                let kept = after.table.get(lease.id);
                assert_eq!(kept, Some(lease), "{}: {answer:?} is not what is left", self.shown);
                assert!(after.next > lease.fence, "{}", self.shown);
            }
        }
    }

    /// Whatever is acknowledged on top of what is left survives a power loss that takes all it can; and
    /// fences are larger than ever before.
    fn builds_on_it(&mut self, before: &View, told: Option<&Answer>, then: Act) {
        let told_then = self.process(move |stage| then(stage, &*stage.open())).expect("an answer");
        let answer = told_then.unwrap_or_else(|error| panic!("{}: going on failed: {error}", self.shown));
        self.world.lose_power();
        let after = self.process(|stage| view(&*stage.open())).expect("a view after the power loss");
        self.is_kept(&answer, &after);
        let anew = self.process(|stage| {
            let medium = stage.open();
            let held = only(&view(&*medium));
            medium.transact(&policy(), &evicting(&held)).expect("an eviction");
            stage.grant(&*medium, "zoe").fence
        });
        let anew = anew.expect("a grant");
        let highest = highest(before).max(told.and_then(fence)).max(fence(&answer));
        assert!(Some(anew) > highest, "{}: {anew} is not above {highest:?}", self.shown);
    }
}

/// The largest fence that is known of.
fn highest(view: &View) -> Option<Fence> {
    view.next.get().checked_sub(1).and_then(|last| Fence::new(last).ok())
}

fn fence(answer: &Answer) -> Option<Fence> {
    match answer {
        Answer::Granted(lease)
        | Answer::AlreadyHeld(lease)
        | Answer::Renewed(lease)
        | Answer::Transferred(lease) => Some(lease.fence),
        _ => None,
    }
}
