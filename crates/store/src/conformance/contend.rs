//! Many at once: whoever writes under a lease is alone, and fences never fall.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use holdfast_kernel::{Answer, Lease, Millis, Refusal};
use holdfast_sys::Sys;
use holdfast_sys::sim::{Config, End, Process, Random, World};

use super::stage::{policy, releasing};
use super::{Stage, Subject, real};
use crate::{Error, Medium};

const WORKERS: [&str; 4] = ["anna", "berta", "carla", "dora"];

/// What those who write under a lease have in common.
#[derive(Default)]
struct Board {
    busy: AtomicBool,
    fence: AtomicU64,
    writes: AtomicU64,
}

impl Board {
    /// Writes something that takes a while, alone.
    fn write(&self, lease: &Lease, meanwhile: &dyn Fn()) {
        assert!(!self.busy.swap(true, Ordering::SeqCst), "two write at once");
        meanwhile();
        let before = self.fence.swap(lease.fence.get(), Ordering::SeqCst);
        assert!(before <= lease.fence.get(), "a write with fence {} came after {before}", lease.fence);
        self.writes.fetch_add(1, Ordering::SeqCst);
        assert!(self.busy.swap(false, Ordering::SeqCst));
    }
}

/// Takes the resource, writes twice and gives it back, `rounds` times.
fn work(stage: &Stage, who: &str, rounds: u32, board: &Board, meanwhile: &dyn Fn()) {
    let medium = stage.open();
    for _ in 0..rounds {
        let lease = wait_for(stage, &*medium, who, meanwhile);
        for _ in 0..2 {
            let write = &mut |_: &crate::Held<'_>| board.write(&lease, meanwhile);
            medium.guarded(&lease.claim(), write).expect("a write by the holder");
        }
        medium.transact(&policy(), &releasing(&lease)).expect("a release by the holder");
    }
}

fn wait_for(stage: &Stage, medium: &dyn Medium, who: &str, meanwhile: &dyn Fn()) -> Lease {
    loop {
        match stage.acquire(medium, who) {
            Ok(Answer::Granted(lease)) => return lease,
            Err(Error::Refused(Refusal::Held { .. })) => meanwhile(),
            other => panic!("granted or held, not {other:?}"),
        }
    }
}

/// Threads, each with a handle of its own, on real files in `scratch`.
pub fn contention_on_real_files(subject: &Subject, scratch: &Path, rounds: u32) {
    let sys = real();
    let board = Board::default();
    let start = Barrier::new(WORKERS.len());
    std::thread::scope(|scope| {
        for who in WORKERS {
            let (sys, board, start) = (sys.clone(), &board, &start);
            let stage = Stage::new(*subject, sys, scratch.to_path_buf());
            scope.spawn(move || {
                start.wait();
                work(&stage, who, rounds, board, &std::thread::yield_now);
            });
        }
    });
    assert_eq!(board.writes.into_inner(), u64::from(rounds) * 2 * WORKERS.len() as u64);
}

/// Processes on simulated files, interleaved in as many ways as there are seeds.
pub fn contention_in_simulation(subject: &Subject, seeds: u64) {
    for seed in 0..seeds {
        let board = Arc::new(Board::default());
        let mut world = World::new(Config::default(), Random::new(seed));
        let dir = PathBuf::from("/medium");
        world.create_dir_all(&dir).expect("an empty world");
        let workers = WORKERS.iter().map(|who| {
            let (subject, dir, board) = (*subject, dir.clone(), Arc::clone(&board));
            Process::new(*who, 0, move |sys: Sys| {
                let clock = Arc::clone(&sys.clock);
                let stage = Stage::new(subject, sys, dir);
                work(&stage, who, 2, &board, &|| clock.sleep(Millis::new(1)));
            })
        });
        let epoch = world.run(workers.collect());
        assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "seed {seed}");
        assert_eq!(epoch.end, End::Done, "seed {seed}");
        assert_eq!(board.writes.load(Ordering::SeqCst), 4 * WORKERS.len() as u64, "seed {seed}");
    }
}
