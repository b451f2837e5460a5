//! Several processes change one file.

use std::sync::{Arc, Barrier, Mutex};

use holdfast_sys::sim::{self, Faults, Process, Random, World};

use super::*;

#[test]
fn of_many_changes_at_once_none_is_lost() {
    let home = Home::with("# ours\n");
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let (home, start) = (&home, &start);
            scope.spawn(move || {
                start.wait();
                for round in 1..=5 {
                    home.set(&format!("coordination.kinds.k{worker}.min_ttl_secs"), &round.to_string())
                        .unwrap();
                    home.set(&format!("coordination.kinds.k{worker}-{round}.max_ttl_secs"), "60").unwrap();
                }
            });
        }
    });
    let config = home.load();
    assert_eq!(config.kinds.len(), 8 * 6);
    for worker in 0..8 {
        assert_eq!(config.kinds[&format!("k{worker}")].min_ttl_secs, Some(5));
    }
    assert!(home.read("r/config.toml").starts_with("# ours\n"));
}

/// Three processes that set two keys each, with whatever may happen to them; what they were told was done.
fn told(seed: u64) -> (World, Vec<String>) {
    let config = sim::Config { faults: Faults::some(), ..sim::Config::default() };
    let mut world = World::new(config, Random::new(seed));
    world.write_file("/r/config.toml", OURS.as_bytes()).unwrap();
    let done = Arc::new(Mutex::new(Vec::new()));
    let worker = |name: &'static str| {
        let done = Arc::clone(&done);
        Process::new(name, 0, move |sys| {
            for field in ["min_ttl_secs", "max_ttl_secs"] {
                let key = format!("coordination.kinds.{name}.{field}");
                if set(&sys, &simulated(), Scope::Repository, &key, "60").is_ok() {
                    done.lock().unwrap().push(key);
                }
            }
        })
    };
    world.run(vec![worker("a"), worker("b"), worker("c")]);
    world.lose_power();
    let done = done.lock().unwrap().clone();
    (world, done)
}

const OURS: &str = "# ours\n[worktree]\nmode = \"auto\" # as it is\n";

fn simulated() -> Places {
    let sources = Sources { repository: Some("/r/config.toml".into()), ..Sources::default() };
    Places { sources, agent: None }
}

#[test]
fn whatever_happens_the_file_is_whole_and_has_all_that_was_acknowledged() {
    let (mut acknowledged, mut not) = (0, 0);
    for seed in 0..400 {
        let (world, done) = told(seed);
        let text = String::from_utf8(world.read_file("/r/config.toml").unwrap()).unwrap();
        assert!(text.starts_with(OURS), "seed {seed}: {text}");
        let home = Home::with(&text);
        assert_eq!(home.problems(), [""; 0], "seed {seed}: {text}");
        for key in &done {
            assert!(matches!(home.load().origin(key), Origin::File { .. }), "seed {seed}: {key} is lost");
        }
        acknowledged += done.len();
        not += 6 - done.len();
    }
    assert!(acknowledged > 400 && not > 100, "{acknowledged} changes were made, {not} were not");
}
