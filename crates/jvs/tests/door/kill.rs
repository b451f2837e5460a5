//! `kill -9` at random moments of snapshots, restores and changes: nothing partial is ever visible, nothing
//! that was published is lost, and the doctor clears what is left.

use std::time::Duration;

use holdfast_trial::{Answer, Dice};

use crate::bench::{Bench, long};

/// Runs the program and kills it after a random while. Gives the answer if it got that far.
fn killed(bench: &Bench, dice: &mut Dice, args: &[&str]) -> (Option<Answer>, bool) {
    let mut command = bench.command(args, &bench.root());
    command.env("JVS_SESSION_FILE", bench.dir().join("s.session"));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let (output, died) = dice.kill(command.spawn().unwrap());
    ((!died).then(|| Answer::from(output)), died)
}

#[test]
fn nothing_partial_is_visible_and_nothing_is_lost_whenever_somebody_dies() {
    let seed = Dice::seed();
    let mut dice = Dice::new(seed, Duration::from_millis(40));
    let bench = Bench::new();
    for n in 0..60 {
        bench.put(&format!("d{}/f{n}", n % 7), &format!("{n}"));
    }
    bench.other("s", &["lock", "acquire", "--lease-ms", "86400000"]).ok();
    let mut known = vec![crate::bench::id(&bench.other("s", &["snapshot"]).ok())];
    let (mut deaths, mut round) = (0, 0);
    let wanted = if long() { 400 } else { 30 };
    while deaths < wanted {
        round += 1;
        assert!(round < wanted * 40, "seed {seed}: only {deaths} processes died");
        let name = format!("w{round}");
        let from = dice.pick(&known).clone();
        let (answer, died) = match dice.roll(4) {
            0 | 1 => killed(&bench, &mut dice, &["snapshot"]),
            2 => killed(&bench, &mut dice, &["restore", &from, "--inplace", "--reason", "r"]),
            _ => killed(&bench, &mut dice, &["restore", &from, "--name", &name]),
        };
        deaths += usize::from(died);
        if let Some(answer) = answer {
            answer.ok();
        }
        let seen = bench.run_at(&bench.root(), &["history"]).ok().json();
        let ids: Vec<String> = seen["snapshots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["snapshot_id"].as_str().unwrap().to_owned())
            .collect();
        for id in &known {
            assert!(ids.contains(id), "seed {seed}: {id} is lost");
        }
        known = ids;
        if died {
            repaired(&bench, seed);
        }
    }
    bench.run_at(&bench.root(), &["verify", "--all"]).ok();
    println!("{deaths} deaths in {round} rounds, {} snapshots", known.len());
}

/// The doctor clears what is left, twice is a no-op, and the payload is whole.
fn repaired(bench: &Bench, seed: u64) {
    let strict = bench.run_at(&bench.root(), &["doctor", "--strict"]).json();
    let done = bench.run_at(&bench.root(), &["doctor", "--repair"]);
    assert_eq!(done.code, Some(0), "seed {seed}: {done} after {strict}");
    let again = bench.run_at(&bench.root(), &["doctor", "--repair"]).ok().json();
    assert_eq!(again["findings"], serde_json::json!([]), "seed {seed}");
    let files = (0..7).map(|n| std::fs::read_dir(bench.main().join(format!("d{n}"))).unwrap().count());
    assert_eq!(files.sum::<usize>(), 60, "seed {seed}");
    assert_eq!(std::fs::read_dir(bench.control("staging")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(bench.control("intents")).unwrap().count(), 0);
}
