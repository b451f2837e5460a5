//! What every medium must do, as one suite that runs on real and on simulated files.
//!
//! A medium's test describes it as a [`Subject`] and calls [`on_real_files`], [`in_simulation`],
//! [`contention_on_real_files`], [`contention_in_simulation`] and [`crashes`]. Each clause of the contract is
//! one function; it gets a [`Stage`] of its own and panics when the medium does not keep to it. Nothing here
//! knows any medium's bytes, and nothing sleeps: time goes by when the suite says so.
#![expect(clippy::panic, clippy::expect_used, reason = "a suite of tests fails by panicking")]

mod clock;
mod contend;
mod crash;
mod end;
mod files;
mod grant;
mod guarded;
mod keep;
mod stage;
mod twins;
mod watched;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_sys::Sys;
use holdfast_sys::sim::{Config, Process, Random, World};

pub use clock::ManualClock;
pub use contend::{contention_in_simulation, contention_on_real_files};
pub use crash::{crashes, some_crashes};
pub use files::garbage;
pub use stage::Stage;
pub use twins::Twins;
pub use watched::{Call, Watched};

use crate::Medium;

/// A medium to be tried.
#[derive(Clone, Copy)]
pub struct Subject {
    /// A handle on the medium in this directory, which is there.
    pub open: fn(&Sys, &Path) -> Box<dyn Medium>,
    /// Names of resources that it can keep at the same time; at least one.
    pub resources: &'static [&'static str],
    /// Whether it can keep shared leases.
    pub shared: bool,
    /// Files and contents that must be refused by name while the first resource is held.
    pub hostile: fn(&Path) -> Vec<Planted>,
}

/// A file, and bytes to put into it.
pub type Planted = (PathBuf, Vec<u8>);

/// One clause of the contract.
type Clause = fn(&Stage);

/// All clauses, by what they say.
const CLAUSES: &[(&str, Clause)] = &[
    ("nobody has written: it is empty, and stays so", grant::empty),
    ("a grant is what was asked for", grant::as_asked),
    ("who holds it keeps others out", grant::held),
    ("the same holder again gets the same lease, or is refused", grant::again),
    ("an expired lease is taken over only after skew and grace", grant::takeover),
    ("the dead are taken over at once", grant::of_the_dead),
    ("a lease that was handed out cannot be handed out twice", grant::duplicate_id),
    ("an indefinite lease needs a reason and never ends by itself", grant::indefinite),
    ("resources do not know each other", grant::independent),
    ("shared leases are kept together or refused", grant::shared),
    ("patterns are kept apart or refused", grant::patterns),
    ("a renewal prolongs from now", keep::renew),
    ("over is over", keep::over),
    ("a beat keeps an indefinite lease from going stale", keep::beat),
    ("a lease can be handed over", keep::transfer),
    ("only the holder gives back", end::release),
    ("an eviction needs nobody's consent", end::evict),
    ("a sweep ends what anybody might take over", end::sweep),
    ("fences rise across releases and handles", end::fences_rise),
    ("a guarded write is made by whoever holds it", guarded::by_the_holder),
    ("a guarded write is refused to everybody else", guarded::refused),
    ("two handles see each other at once", files::two_handles),
    ("another handle sees the same", files::reopened),
    ("looking writes nothing", files::looking_writes_nothing),
    ("a refusal writes nothing", files::refusals_write_nothing),
    ("what cannot be read is named and kept", files::hostile),
];

/// Runs every clause on real files in subdirectories of `scratch`.
pub fn on_real_files(subject: &Subject, scratch: &Path) {
    for (number, (_, clause)) in CLAUSES.iter().enumerate() {
        let sys = real();
        let dir = scratch.join(format!("clause-{number}"));
        sys.files.create_dir(&dir, 0o700).expect("a scratch directory that can be written to");
        clause(&Stage::new(*subject, sys, dir));
    }
}

/// Runs every clause on simulated files.
pub fn in_simulation(subject: &Subject) {
    for (name, clause) in CLAUSES {
        let (subject, clause) = (*subject, *clause);
        let mut world = World::new(Config::default(), Random::new(1));
        let dir = PathBuf::from("/medium");
        world.create_dir_all(&dir).expect("an empty world");
        let run = Process::new(*name, 0, move |sys| clause(&Stage::new(subject, sys, dir)));
        let epoch = world.run(vec![run]);
        assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "{name}");
    }
}

/// The real machine with a clock that goes when it is told to.
fn real() -> Sys {
    let sys = Sys::os();
    let now = sys.clock.now().expect("a clock");
    Sys { clock: Arc::new(ManualClock::new(now)), ..sys }
}
