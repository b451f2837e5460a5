//! Whole commands of the door, with waiting, judging and the record of order, in random worlds.

use std::path::Path;

use holdfast_ic::cancel::Cancel;
use holdfast_ic::error::Error;
use holdfast_ic::locks::Locks;
use holdfast_ic::owner::{Owner, Said};
use holdfast_ic::wait::How;
use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use holdfast_sys::sim::{Config, Faults, Odds, Random};
use holdfast_trial::seeds;

use crate::script::{other_script, quick_script, slow_script};
use crate::stage::{LONG, ROOT, Stage, lock, together, work};

fn locks(sys: &Sys) -> Locks {
    Locks::new(sys, Path::new(ROOT))
}

fn take(sys: &Sys, who: &str) -> Result<Owner, Error> {
    let owner = Owner::this_process(sys, Said { name: Some(who), ..Said::default() }).unwrap();
    let how = How { timeout: Millis::new(20_000), strict_order: false };
    locks(sys).acquire(&lock(), &owner, how, &Cancel::new(), &mut |_| {}).map(|_| owner)
}

/// `ic lock acquire`, some work, `ic lock release`, again and again.
fn worker(sys: &Sys, stage: &Stage, who: &'static str) {
    for _ in 0..3 {
        match take(sys, who) {
            Ok(owner) => {
                let owning = stage.enter(who);
                work(sys);
                drop(owning);
                locks(sys).release(&lock(), &owner.name).unwrap();
            }
            Err(Error::Timeout { .. }) => {}
            Err(error) => panic!("{who}: {error}"),
        }
    }
}

fn worker_a(sys: &Sys, stage: &Stage) {
    worker(sys, stage, "worker a");
}

fn worker_bb(sys: &Sys, stage: &Stage) {
    worker(sys, stage, "worker bb");
}

fn cleaner(sys: &Sys, _: &Stage) {
    let by = Owner::this_process(sys, Said::default()).unwrap();
    for _ in 0..3 {
        locks(sys).clean(Millis::ZERO, &by).unwrap();
        sys.clock.sleep(Millis::new(LONG.get() / 3));
    }
}

#[test]
fn c1_whole_commands_and_scripts_in_random_worlds() {
    for seed in seeds(2_000) {
        let kill = Odds::new(10_000, 3);
        let config = Config {
            faults: Faults { kill, ..Faults::NONE },
            switch_ppm: if seed % 2 == 0 { 300_000 } else { 50_000 },
            max_calls: 500_000,
            ..Config::default()
        };
        let everybody = [worker_a, worker_bb, cleaner, quick_script, slow_script, other_script];
        let run = together(config, Random::new(seed), &[], &everybody);
        assert_eq!(run.once.broken, None, "seed {seed}");
    }
}
