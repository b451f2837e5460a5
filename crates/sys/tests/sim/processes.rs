//! Numbers of processes, which are given out again.

use std::sync::{Arc, Mutex};

use holdfast_sys::sim::{Config, Fate, HostConfig, Process, Replay, World};
use holdfast_sys::{Liveness, ProcessId};

use crate::calm;

/// Runs one process after the other; each sees what those before it wrote down about themselves.
fn relay(world: &mut World, hosts: &[usize], last: fn(&holdfast_sys::Sys, &[ProcessId])) {
    let known = Arc::new(Mutex::new(Vec::new()));
    let process = |(index, host): (usize, &usize)| {
        let (known, is_last) = (known.clone(), index + 1 == hosts.len());
        let process = Process::new(index.to_string(), *host, move |sys| {
            let mut known = known.lock().unwrap();
            if is_last {
                last(&sys, &known);
            }
            known.push(sys.processes.me().unwrap());
        });
        if index == 0 { process } else { process.after(index - 1) }
    };
    let epoch = world.run(hosts.iter().enumerate().map(process).collect());
    assert!(epoch.fates.iter().all(|fate| *fate == Fate::Returned), "{epoch:?}");
}

#[test]
fn a_number_is_given_out_again_and_told_apart_by_its_start() {
    relay(&mut calm(0), &[0, 0], |sys, known| {
        let (me, before) = (sys.processes.me().unwrap(), &known[0]);
        assert_eq!(me.pid, before.pid);
        assert_ne!(me.start, before.start);
        assert_eq!(sys.processes.liveness(before), Liveness::Dead);
        assert_eq!(sys.processes.liveness(&me), Liveness::Alive);
    });
}

#[test]
fn another_host_cannot_be_judged() {
    let hosts = vec![HostConfig::default(); 2];
    let mut world = World::new(Config { hosts, ..Config::default() }, Replay::new(Vec::new()));
    relay(&mut world, &[0, 1], |sys, known| {
        assert_eq!(sys.processes.liveness(&known[0]), Liveness::Unknown);
        assert_ne!(sys.processes.me().unwrap().host, known[0].host);
    });
}

#[test]
fn a_reboot_ends_every_process() {
    let mut world = calm(0);
    let known = Arc::new(Mutex::new(None));
    let told = known.clone();
    crate::run(&mut world, move |sys| *told.lock().unwrap() = Some(sys.processes.me().unwrap()));
    world.lose_power();
    crate::run(&mut world, move |sys| {
        let before = known.lock().unwrap().take().unwrap();
        assert_eq!(sys.processes.liveness(&before), Liveness::Dead);
        assert_ne!(sys.processes.me().unwrap().boot, before.boot);
    });
}

#[test]
fn processes_that_run_together_have_different_numbers() {
    let pids = Arc::new(Mutex::new(Vec::new()));
    let process = |name: &str| {
        let pids = pids.clone();
        Process::new(name, 0, move |sys| {
            let me = sys.processes.me().unwrap();
            drop(sys.clock.now());
            pids.lock().unwrap().push(me.pid);
        })
    };
    calm(0).run(vec![process("a"), process("b"), process("c")]);
    let mut pids = pids.lock().unwrap().clone();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 3);
}

#[test]
fn entropy_differs_by_process_and_by_world() {
    let nonces = |entropy| {
        let drawn = Arc::new(Mutex::new(Vec::new()));
        let process = |name: &str| {
            let drawn = drawn.clone();
            Process::new(name, 0, move |sys| drawn.lock().unwrap().push(sys.entropy.nonce().unwrap()))
        };
        World::new(Config { entropy, ..Config::default() }, Replay::new(Vec::new()))
            .run(vec![process("a"), process("b")]);
        Arc::try_unwrap(drawn).unwrap().into_inner().unwrap()
    };
    let (one, again, other) = (nonces(1), nonces(1), nonces(2));
    assert_eq!(one, again);
    assert_ne!(one[0], one[1]);
    assert!(!other.contains(&one[0]) && !other.contains(&one[1]));
}
