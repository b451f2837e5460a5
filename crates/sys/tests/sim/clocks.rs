//! Clocks that are wrong, each in its own way.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::sim::{Choice, Config, Faults, HostConfig, Moment, Odds, Process, Replay, World};

use crate::{By, calm, run};

/// The clock of each host, read twice with a sleep in between, and the true time of both.
fn read(config: Config) -> Vec<[(u64, Stamp); 2]> {
    let hosts = config.hosts.len();
    let mut world = World::new(config, Replay::new(Vec::new()));
    let read = Arc::new(Mutex::new(Vec::new()));
    for host in 0..hosts {
        let (read, observer) = (read.clone(), world.observer());
        let body = move |sys: holdfast_sys::Sys| {
            let first = (sys.clock.now().unwrap(), observer.now_us() / 1_000);
            sys.clock.sleep(Millis::from_secs(1_000));
            let second = (sys.clock.now().unwrap(), observer.now_us() / 1_000);
            read.lock().unwrap().push([(first.1, first.0), (second.1, second.0)]);
        };
        world.run(vec![Process::new("reader", host, body)]);
    }
    Arc::try_unwrap(read).unwrap().into_inner().unwrap()
}

#[test]
fn a_wall_clock_is_off_and_drifts_while_the_boot_clock_is_right() {
    let off = HostConfig { wall_offset_ms: -5_000, wall_drift_ppm: 0, boot_ms: Some(77) };
    let fast = HostConfig { wall_offset_ms: 0, wall_drift_ppm: 100_000, boot_ms: Some(0) };
    let none = HostConfig { boot_ms: None, ..HostConfig::default() };
    let read = read(Config { hosts: vec![off, fast, none], ..Config::default() });
    let [off, fast, none] = &read[..] else { panic!("three hosts") };
    assert_eq!(off.map(|(truth, stamp)| truth - stamp.wall_ms()), [5_000; 2]);
    assert_eq!(off[0].1.boot().unwrap().ms, 77);
    let gone = |read: &[(u64, Stamp); 2]| read[1].1.wall_ms() - read[0].1.wall_ms();
    assert!((1_099_900..1_100_100).contains(&gone(fast)), "{}", gone(fast));
    let boot = fast.map(|(_, stamp)| stamp.boot().unwrap().ms);
    assert!((1_000_000..1_000_010).contains(&(boot[1] - boot[0])));
    assert!(none[0].1.boot().is_none());
    assert_ne!(off[0].1.boot().unwrap().id, fast[0].1.boot().unwrap().id);
}

/// Reads the clock before and after something happens to it.
fn disturbed(what: Choice, answer: usize) -> [Stamp; 3] {
    let choices =
        By(move |asked, _, at: &Moment<'_>| if asked == what && at.calls() == 1 { answer } else { 0 });
    let one = Odds::new(0, 1);
    let faults = Faults { wall_jump: one, delay: one, pause: one, ..Faults::NONE };
    let config = Config {
        faults,
        wall_jumps_ms: vec![-900_000, 900_000],
        wall_stops_ms: vec![10_000],
        ..Config::default()
    };
    let mut world =
        World::new(Config { delays_ms: vec![60_000], pauses_ms: vec![90_000], ..config }, choices);
    let read = Arc::new(Mutex::new(Vec::new()));
    let stamps = read.clone();
    run(&mut world, move |sys| {
        for _ in 0..3 {
            stamps.lock().unwrap().push(sys.clock.now().unwrap());
            sys.clock.sleep(Millis::new(if stamps.lock().unwrap().len() == 2 { 60_000 } else { 0 }));
        }
    });
    let stamps = read.lock().unwrap().clone();
    stamps.try_into().unwrap()
}

/// How far wall and boot-time clock went between two stamps, in whole seconds.
fn gone(one: &Stamp, two: &Stamp) -> (i64, u64) {
    let wall = i64::try_from(two.wall_ms()).unwrap() - i64::try_from(one.wall_ms()).unwrap();
    (wall.div_euclid(1_000), (two.boot().unwrap().ms - one.boot().unwrap().ms) / 1_000)
}

#[test]
fn a_wall_clock_jumps_and_the_boot_clock_does_not() {
    for (answer, by) in [(1, -900), (2, 900)] {
        let [one, two, three] = disturbed(Choice::WallJump, answer);
        assert_eq!(gone(&one, &two), (by, 0));
        assert_eq!(gone(&two, &three), (60, 60));
    }
}

#[test]
fn a_wall_clock_stops_and_goes_on_late() {
    let [one, two, three] = disturbed(Choice::WallJump, 3);
    assert_eq!(gone(&one, &two), (0, 0));
    assert_eq!(gone(&two, &three), (50, 60), "ten seconds are missing");
}

#[test]
fn a_delay_and_a_pause_are_seen_by_all_clocks() {
    let [one, two, _] = disturbed(Choice::Delay, 1);
    assert_eq!(gone(&one, &two), (60, 60));
    let [one, two, _] = disturbed(Choice::Pause, 1);
    assert_eq!(gone(&one, &two), (90, 90));
}

#[test]
fn a_paused_process_lets_the_others_go_on() {
    let choices = By(|what, _, at: &Moment<'_>| usize::from(what == Choice::Pause && at.calls() == 0));
    let faults = Faults { pause: Odds::new(0, 1), ..Faults::NONE };
    let mut world = World::new(Config { faults, pauses_ms: vec![3_600_000], ..Config::default() }, choices);
    let order = Arc::new(Mutex::new(Vec::new()));
    let process = |name: &'static str| {
        let order = order.clone();
        Process::new(name, 0, move |sys| {
            (0..5).for_each(|_| drop(sys.clock.now()));
            order.lock().unwrap().push(name);
        })
    };
    let before = world.observer().now_us();
    world.run(vec![process("paused"), process("one"), process("two")]);
    let order = order.lock().unwrap().clone();
    assert_eq!(order.last(), Some(&"paused"));
    assert_eq!(order.into_iter().collect::<BTreeSet<_>>().len(), 3);
    assert!(world.observer().now_us() - before >= 3_600_000_000);
}

#[test]
fn a_wall_clock_before_1970_cannot_be_read() {
    let host = HostConfig { wall_offset_ms: -2_000_000_000_000, ..HostConfig::default() };
    let mut world = World::new(Config { hosts: vec![host], ..Config::default() }, Replay::new(Vec::new()));
    run(&mut world, |sys| assert_eq!(sys.clock.now().unwrap_err().kind(), std::io::ErrorKind::InvalidData));
}

#[test]
fn looking_costs_no_time_and_no_call() {
    let world = calm(0);
    let observer = world.observer();
    let before = (observer.now_us(), observer.calls(), world.fingerprint());
    assert!(observer.trace().is_empty());
    assert_eq!((observer.now_us(), observer.calls(), world.fingerprint()), before);
}
