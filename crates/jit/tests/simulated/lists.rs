//! What is remembered of issues while processes die and the power goes, between a change of a file and what is written down
//! of it: it changes no answer.

use std::path::PathBuf;

use holdfast_kernel::Millis;
use holdfast_sys::Open;
use holdfast_sys::sim::{Config, Faults, Odds};
use holdfast_tracker::Session;
use holdfast_tracker::issues::{Issues, Scope, Sets, Whose};
use holdfast_trial::seeds;

use crate::stage::{ANNA, Agent, BERTA, ISSUE, Question, Stage};

/// More than a cache is written for.
const COUNT: usize = 20;

/// What questions rest on.
const SETS: [Sets; 4] =
    [Sets::OPEN, Sets::WORKABLE, Sets { labels: Whose::Nobody, deps: Whose::Workable }, Sets::ALL];

const CACHES: [&str; 2] = ["/repo/.git/jit/lists/main", "/repo/.git/worktrees/linked/jit-list"];

fn id(number: usize) -> String {
    format!("01K742SG0000067JZ1WHCK4{:03}", number + 100)
}

fn path(root: &str, number: usize) -> String {
    format!("{root}/.jit/issues/{}/issue.json", id(number))
}

/// All texts are of one length, so that only their times tell files apart.
fn text(number: usize, version: u64) -> String {
    let (id, state) = (id(number), ["ready", "gated"][usize::try_from(version % 2).unwrap()]);
    format!(
        r#"{{"id":"{id}","title":"t{version:06}","state":"{state}","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z"}}"#
    )
}

/// Looks at everything at a glance, which writes down what was seen.
fn glance(session: &Session, sets: Sets) -> (Vec<String>, Vec<String>) {
    let scan = Issues::new(session).glance_with(Scope::All, sets, |issue| Some(format!("{issue:?}")));
    scan.map(|scan| (scan.found, scan.problems)).unwrap_or_default()
}

/// Other content in the same file, which nobody flushes, as an editor does; or another file in its place.
fn edit(session: &Session, root: &str, number: usize, version: u64) {
    let files = &session.sys().files;
    let (path, text) = (PathBuf::from(path(root, number)), text(number, version));
    let beside = path.with_file_name(".new");
    // What cannot be written was not changed.
    let _ = if version.is_multiple_of(3) {
        let put = || {
            let _ = files.remove_file(&beside);
            files.open(&beside, Open::New { mode: 0o644 })?.write_all_at(text.as_bytes(), 0)?;
            files.rename(&beside, &path)
        };
        put()
    } else {
        files.open(&path, Open::Write).and_then(|file| file.write_all_at(text.as_bytes(), 0))
    };
}

/// An issue more in the directory, or one less.
fn come_or_go(session: &Session, root: &str, number: usize, version: u64) {
    let (files, path) = (&session.sys().files, PathBuf::from(path(root, number)));
    let Some(home) = path.parent() else { return };
    // What cannot be made or removed stays as it is.
    let _ = match files.create_dir(home, 0o755) {
        Ok(()) => files
            .open(&path, Open::New { mode: 0o644 })
            .and_then(|file| file.write_all_at(text(number, version).as_bytes(), 0)),
        Err(_) => files.remove_file(&path).and_then(|()| files.remove_dir(home)),
    };
}

/// Changes issues and looks at them, by turns, while others do the same.
fn work(root: &'static str, seed: u64) -> Question<()> {
    Box::new(move |session| {
        for round in 0..3_u64 {
            for number in 0..COUNT {
                if !(seed + round + number as u64).is_multiple_of(8) {
                    edit(session, root, number, seed % 900 * 100 + round * 20 + number as u64 % 7);
                }
            }
            session.sys().clock.sleep(Millis::new(seed % 3 * 2));
            glance(session, SETS[usize::try_from((seed + round) % 4).unwrap()]);
            // Within the tick of the clock in which somebody listed them.
            if (seed + round).is_multiple_of(3) {
                come_or_go(session, root, COUNT + usize::try_from(round).unwrap(), round);
            }
        }
    })
}

/// What lists say is what reading all files gives; asked twice, because the first one may write something down.
fn check(stage: &mut Stage, seed: u64) {
    let compare = |_: ()| -> Question<Vec<String>> {
        Box::new(|session| {
            let mut wrong = Vec::new();
            for sets in SETS.into_iter().chain(SETS) {
                let quick = glance(session, sets);
                let slow = Issues::new(session)
                    .scan_with(Scope::All, sets, |seen| Some(format!("{:?}", seen.glance())))
                    .unwrap();
                if quick != (slow.found.clone(), slow.problems.clone()) {
                    wrong.push(format!("{sets:?}: {quick:?} is not {:?} {:?}", slow.found, slow.problems));
                }
            }
            wrong
        })
    };
    for agent in [ANNA, BERTA] {
        let wrong = stage.ask(false, vec![(agent, compare(()))]).remove(0);
        assert_eq!(wrong, Some(Vec::new()), "seed {seed}, {agent:?}");
    }
}

fn people(seed: u64) -> Vec<(Agent, Question<()>)> {
    vec![(ANNA, work("/repo", seed)), (BERTA, work("/linked", seed + 1)), (BERTA, work("/repo", seed + 2))]
}

#[test]
fn what_is_remembered_changes_no_answer_whoever_dies_and_whatever_is_lost() {
    let once = |ppm| Odds::new(ppm, 1);
    let faults = Faults { kill: once(300), power_loss: once(300), eio: once(100), ..Faults::NONE };
    let mut caches = 0;
    let (mut count, mut lost) = (0, 0);
    for seed in seeds(60) {
        // A cache is worth something only where all of it survives; and files change within one tick of the clock.
        let lose_ppm = [500_000, 100_000, 30_000][usize::try_from(seed % 3).unwrap()];
        let config = Config { faults, lose_ppm, switch_ppm: 50_000, call_us: 1, ..Config::default() };
        let mut stage = Stage::by_chance(config, seed);
        for root in ["/repo", "/linked"] {
            (0..COUNT).for_each(|number| stage.write(&path(root, number), &text(number, 1)));
        }
        // The first write makes the control plane.
        stage.quietly(ANNA, &["claim", "acquire", ISSUE]).unwrap();
        stage.sleep(Millis::from_secs(1));
        let told = stage.ask(true, people(seed));
        lost += usize::from(told.iter().any(Option::is_none));
        check(&mut stage, seed);
        stage.sleep(Millis::from_secs(1));
        stage.ask(false, people(seed + 7));
        check(&mut stage, seed);
        caches += CACHES.iter().filter(|cache| stage.has(cache)).count();
        stage.lose_power();
        check(&mut stage, seed);
        count += 1;
    }
    assert!(caches > count / 2, "hardly anything was remembered: {caches} caches in {count} worlds");
    assert!(count < 20 || lost > 0, "nobody died");
}
