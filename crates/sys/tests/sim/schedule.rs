//! Who runs when: every order can happen, and each happens again when it is asked for.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use holdfast_kernel::Millis;
use holdfast_sys::sim::{
    Choice, Choices, Config, End, Fate, Fault, Faults, Line, Made, Moment, Odds, Process, Random, Recording,
    Replay, World,
};
use holdfast_sys::{Guard, LockMode, Sys};

use crate::{By, create, rough, save};

fn traced(seed: u64) -> Config {
    Config { faults: rough(), trace: true, entropy: seed, ..Config::default() }
}

/// A bit of everything, never minding what fails.
fn work(sys: &Sys) {
    let Ok(mut guard) = Guard::open(sys, Path::new("/guard"), 0o600) else { return };
    for _ in 0..3 {
        let Ok(_section) = guard.enter(sys, LockMode::Exclusive) else { return };
        let path = format!("/{}", sys.entropy.nonce().unwrap());
        let Ok(file) = sys.files.open(Path::new(&path), holdfast_sys::Open::New { mode: 0o600 }) else {
            return;
        };
        let _ = file.write_all_at(&[1; 700], 0);
        let _ = file.sync();
        let _ = sys.files.rename(Path::new(&path), Path::new("/all"));
        let _ = sys.clock.now();
        sys.clock.sleep(Millis::new(3));
    }
}

/// Three processes over two epochs.
fn story(world: &mut World) -> (Vec<Line>, u128) {
    for _ in 0..2 {
        let epoch = world.run(["a", "b", "c"].map(|name| Process::new(name, 0, |sys| work(&sys))).into());
        assert_eq!(epoch.panics().count(), 0);
    }
    (world.trace(), world.fingerprint())
}

#[test]
fn the_same_answers_give_the_same_story() {
    let mut stories = BTreeSet::new();
    for seed in 0..60 {
        let recording = Recording::new(Random::new(seed));
        let told = story(&mut World::new(traced(seed), recording.clone()));
        assert_eq!(told, story(&mut World::new(traced(seed), Random::new(seed))), "seed {seed}");
        assert_eq!(
            told,
            story(&mut World::new(traced(seed), Replay::new(recording.answers()))),
            "seed {seed}"
        );
        stories.insert(told.1);
    }
    assert!(stories.len() > 50, "other seeds tell other stories: {}", stories.len());
}

#[test]
fn the_calm_answers_run_one_after_the_other() {
    let mut world = World::new(traced(0), Replay::new(Vec::new()));
    world.run(["a", "b"].map(|name| Process::new(name, 0, |sys| save(&sys, "/f", b"1"))).into());
    let who: Vec<String> = world.trace().into_iter().map(|line| line.who).collect();
    let first_b = who.iter().position(|who| who == "b").unwrap();
    assert!(who[first_b..].iter().all(|who| who == "b"), "{who:?}");
    let made: Vec<Made> = world.trace().into_iter().flat_map(|line| line.choices).collect();
    assert!(!made.is_empty() && made.iter().all(|made| made.answer == 0));
}

#[test]
fn a_line_of_the_trace_says_what_happened() {
    let mut world = World::new(Config { trace: true, ..Config::default() }, Replay::new(Vec::new()));
    world.run(vec![Process::new("alice", 0, |sys| save(&sys, "/f", b"some\n"))]);
    let lines: Vec<String> = world.trace().iter().map(ToString::to_string).collect();
    assert!(lines[1].contains("100 µs") && lines[1].contains("alice"), "{lines:?}");
    assert!(lines[1].contains(r#"write /f at 0: 5 bytes "some\n" → Ok(5)"#), "{lines:?}");
}

/// Runs a world for every list of answers there is, and collects what each one shows.
fn explore<T: Ord>(
    config: &Config,
    bodies: fn() -> Vec<Process>,
    show: fn(&World) -> T,
) -> (BTreeSet<T>, usize) {
    let (mut shown, mut runs) = (BTreeSet::new(), 0);
    let mut ahead = vec![Vec::new()];
    while let Some(answers) = ahead.pop() {
        let recording = Recording::new(Replay::new(answers.clone()));
        let mut world = World::new(config.clone(), recording.clone());
        let epoch = world.run(bodies());
        assert_eq!(epoch.end, End::Done);
        shown.insert(show(&world));
        runs += 1;
        let made = recording.made();
        for (index, choice) in made.iter().enumerate().skip(answers.len()) {
            let before: Vec<usize> = made[..index].iter().map(|made| made.answer).collect();
            ahead.extend((1..choice.options).map(|answer| [before.clone(), vec![answer]].concat()));
        }
    }
    (shown, runs)
}

fn order(world: &World) -> String {
    world
        .trace()
        .iter()
        .filter(|line| line.what.starts_with("read the clock"))
        .map(|line| &*line.who)
        .collect()
}

#[test]
fn every_order_of_calls_is_reached() {
    let config = Config { trace: true, ..Config::default() };
    let clocks = || {
        let body = |sys: Sys| (0..2).for_each(|_| drop(sys.clock.now()));
        ["a", "b"].map(|name| Process::new(name, 0, body)).into()
    };
    let (orders, _) = explore(&config, clocks, order);
    let expected = ["aabb", "abab", "abba", "baab", "baba", "bbaa"];
    assert_eq!(orders, expected.map(str::to_owned).into());
}

#[test]
fn the_order_of_what_does_not_touch_leaves_no_trace_in_the_fingerprint() {
    let config = Config { call_us: 0, ..Config::default() };
    let apart = || {
        ["/a", "/b"]
            .map(|path| Process::new(path, 0, move |sys: Sys| drop(sys.files.stat(Path::new(path)))))
            .into()
    };
    let (states, runs) = explore(&config, apart, World::fingerprint);
    assert_eq!(states.len(), 1);
    assert!(runs > 1, "there was more than one order");
}

#[test]
fn the_fingerprint_tells_apart_what_differs() {
    let after = |body: fn(&Sys)| {
        let mut world = World::new(Config { call_us: 0, ..Config::default() }, Replay::new(Vec::new()));
        world.create_dir_all("/d").unwrap();
        world.run(vec![Process::new("a", 0, move |sys| body(&sys))]);
        world.fingerprint()
    };
    let bodies: [fn(&Sys); 8] = [
        |_| {},
        |sys| drop(create(sys, "/f")),
        |sys| drop(create(sys, "/g")),
        |sys| save(sys, "/f", b""),
        |sys| save(sys, "/f", b"1"),
        |sys| save(sys, "/f", b"2"),
        |sys| create(sys, "/f").write_all_at(b"1", 0).unwrap(),
        |sys| sys.clock.sleep(Millis::new(1)),
    ];
    assert_eq!(bodies.map(after).into_iter().collect::<BTreeSet<_>>().len(), bodies.len());
    assert_eq!(bodies.map(after), bodies.map(after));
    let what_nobody_knows_any_more = |sys: &Sys| drop(sys.files.stat(Path::new("/d")));
    assert_eq!(after(what_nobody_knows_any_more), after(|_| {}));
}

#[test]
fn there_is_a_fingerprint_while_a_sync_fails_and_somebody_waits_for_a_lock() {
    let asked = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&asked);
    let choices = By(move |what, _, at: &Moment<'_>| {
        if matches!(what, Choice::Survive(_)) {
            seen.lock().unwrap().insert(at.fingerprint());
        }
        // The other one gets as far as the lock, then the sync fails.
        usize::from(matches!(what, Choice::Schedule | Choice::Fault(Fault::Eio)) && at.call().0 == "flush")
    });
    let faults = Faults { eio: Odds::new(0, 1), ..Faults::NONE };
    let mut world = World::new(Config { faults, ..Config::default() }, choices);
    let body = |sys: Sys| {
        let handle = create(&sys, "/f");
        handle.lock(LockMode::Exclusive).unwrap();
        handle.write_all_at(&[1; 600], 0).unwrap();
        let _ = handle.sync();
    };
    world.run(["a", "b"].map(|name| Process::new(name, 0, body)).into());
    assert!(asked.lock().unwrap().len() > 1);
}

#[test]
fn the_fingerprint_tells_apart_what_the_living_know() {
    let while_alive = |path: &'static str| {
        let seen = Arc::new(Mutex::new(0));
        let mut world = World::new(Config { call_us: 0, ..Config::default() }, Replay::new(Vec::new()));
        world.create_dir_all("/d").unwrap();
        let (observer, fingerprint) = (world.observer(), Arc::clone(&seen));
        world.run(vec![Process::new("a", 0, move |sys| {
            drop(sys.files.stat(Path::new(path)));
            *fingerprint.lock().unwrap() = observer.fingerprint();
        })]);
        *seen.lock().unwrap()
    };
    assert_ne!(while_alive("/d"), while_alive("/none"));
}

#[test]
fn a_note_tells_states_apart() {
    let world = World::new(Config::default(), Replay::new(Vec::new()));
    let before = world.fingerprint();
    world.observer().note(1);
    assert_ne!(world.fingerprint(), before);
}

#[test]
fn waiting_for_each_other_is_a_deadlock() {
    let both = |paths: [&'static str; 2]| {
        move |sys: Sys| {
            let files = paths.map(|path| create(&sys, path));
            files.iter().for_each(|file| file.lock(LockMode::Exclusive).unwrap());
        }
    };
    let ends: BTreeSet<bool> = (0..50)
        .map(|seed| {
            let mut world = World::new(Config::default(), Random::new(seed));
            let one = Process::new("one", 0, both(["/f", "/g"]));
            let epoch = world.run(vec![one, Process::new("two", 0, both(["/g", "/f"]))]);
            let fate = if epoch.end == End::Deadlock { Fate::Cut } else { Fate::Returned };
            assert_eq!(epoch.fates, [fate.clone(), fate]);
            epoch.end == End::Deadlock
        })
        .collect();
    assert_eq!(ends.len(), 2, "it depends on who runs when");
}

#[test]
fn running_for_ever_is_noticed() {
    let config = Config { max_calls: 500, ..Config::default() };
    let mut world = World::new(config, Random::new(1));
    let forever = |sys: Sys| while sys.clock.now().is_ok() {};
    let epoch = world.run(vec![Process::new("a", 0, forever), Process::new("b", 0, forever)]);
    assert_eq!((epoch.end, epoch.fates), (End::TooManyCalls, vec![Fate::Cut, Fate::Cut]));
    assert_eq!(world.observer().calls(), 500);
}

/// Has seen enough when somebody is about to make this call.
struct Until(&'static str);

impl Choices for Until {
    fn choose(&mut self, _: Choice, _: usize, _: &Moment<'_>) -> usize {
        0
    }

    fn go_on(&mut self, at: &Moment<'_>) -> bool {
        at.call() != (self.0, Path::new("/f"))
    }
}

#[test]
fn a_run_stops_when_whoever_chooses_has_seen_enough() {
    let mut world = World::new(Config::default(), Box::new(Until("flush")) as Box<dyn Choices>);
    let bodies = ["a", "b"].map(|name| Process::new(name, 0, |sys| save(&sys, "/f", b"1")));
    let epoch = world.run(bodies.into());
    assert_eq!((epoch.end, epoch.fates), (End::Stopped, vec![Fate::Cut, Fate::Cut]));
    assert_eq!(world.read_file("/f").unwrap(), b"1", "the write came before");
    assert_eq!(world.durable_file("/f"), None, "and no sync after it");
}

#[test]
#[should_panic(expected = "no idea")]
fn choices_that_panic_are_heard_of() {
    let mut asked = 0;
    // The second question comes when the first process is through, and there is nobody to panic but the world.
    let choices = By(move |_, _, _: &Moment<'_>| {
        asked += 1;
        assert!(asked < 2, "no idea");
        0
    });
    World::new(Config::default(), choices)
        .run(["a", "b", "c"].map(|name| Process::new(name, 0, drop)).into());
}

#[test]
fn sleepers_wake_in_their_order_and_time_goes_by_for_them() {
    let woken = Arc::new(Mutex::new(Vec::new()));
    let mut world = World::new(Config::default(), Random::new(3));
    let observer = world.observer();
    let before = observer.now_us();
    let sleeper = |ms: u64| {
        let (woken, observer) = (woken.clone(), observer.clone());
        Process::new(format!("{ms}"), 0, move |sys| {
            sys.clock.sleep(Millis::new(ms));
            woken.lock().unwrap().push((ms, observer.running()));
        })
    };
    world.run(vec![sleeper(30_000), sleeper(1_000), sleeper(60_000)]);
    let names = [1_000, 30_000, 60_000].map(|ms: u64| (ms, ms.to_string()));
    assert_eq!(*woken.lock().unwrap(), names);
    assert!((60_000_000..61_000_000).contains(&(world.observer().now_us() - before)));
}
