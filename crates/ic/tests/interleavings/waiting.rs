//! How long a wait lasts, by a clock that nobody disturbs.

use std::path::Path;
use std::sync::{Arc, Mutex};

use holdfast_ic::cancel::Cancel;
use holdfast_ic::error::Error;
use holdfast_ic::locks::Locks;
use holdfast_ic::owner::{Owner, Said};
use holdfast_ic::wait::How;
use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use holdfast_sys::sim::{Config, Process, Random, World};

use crate::stage::{ROOT, lock};

fn take(sys: &Sys, who: &str, timeout: u64) -> Result<(), Error> {
    let owner = Owner::this_process(sys, Said { name: Some(who), ..Said::default() }).unwrap();
    let how = How { timeout: Millis::new(timeout), strict_order: false };
    let locks = Locks::new(sys, Path::new(ROOT));
    locks.acquire(&lock(), &owner, how, &Cancel::new(), &mut |_| {}).map(drop)
}

/// How long somebody waited who was allowed to wait for so long, in a world where only waiting takes time.
fn waited(timeout: u64) -> u64 {
    let config = Config { call_us: 0, switch_ppm: 0, max_calls: 1_000_000, ..Config::default() };
    let mut world = World::new(config, Random::new(timeout));
    world.create_dir_all(ROOT).unwrap();
    let spent = Arc::new(Mutex::new(None));
    let told = Arc::clone(&spent);
    let epoch = world.run(vec![
        Process::new("holder", 0, |sys: Sys| {
            take(&sys, "holder", 0).unwrap();
            sys.clock.sleep(Millis::new(60_000));
        }),
        Process::new("waiter", 0, move |sys: Sys| {
            sys.clock.sleep(Millis::new(10));
            let from = sys.clock.now().unwrap();
            let refused = take(&sys, "waiter", timeout);
            assert!(matches!(refused, Err(Error::Timeout { .. })), "{refused:?}");
            *told.lock().unwrap() = Some(sys.clock.now().unwrap().since(&from).forward().get());
        }),
    ]);
    assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new());
    let spent = spent.lock().unwrap().take();
    spent.unwrap()
}

#[test]
fn c6_the_whole_wait_is_as_long_as_allowed_and_the_last_sleep_is_cut() {
    for timeout in [0, 1, 2, 3, 7, 99, 100, 101, 300, 1_234] {
        assert_eq!(waited(timeout), timeout);
    }
}
