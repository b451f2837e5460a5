//! The power goes between any two calls of the program: the vault opens, it is as it was after one of the
//! operations, none that was answered is undone, and no fence that somebody was told of is granted again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use holdfast_kc::{lineage_lock_acquire, vault, verify};
use holdfast_sys::Sys;
use holdfast_trial::has;

use crate::arm::{Arm, Core, Op, request};
use crate::bench::{Bench, Dump, KC, LEASE, NOW};
use crate::traced::{Call, Disk, calls};

const TRACED: &str = "trace=openat,pwrite64,write,fsync,fdatasync,ftruncate,unlink";

/// When everything that anybody holds has run out.
const LATER: i64 = NOW + 100 * LEASE;

/// What was done, what it left after each operation, and the fences that were told of up to there.
struct Story {
    ops: Vec<Op>,
    states: Vec<Dump>,
    fences: Vec<u64>,
}

/// A turn on a document and its end; the next one, which is taken over; and what is refused in between.
fn story(bench: &Bench) -> Story {
    let mut core = Core(bench.open());
    let mut story = Story { ops: Vec::new(), states: vec![bench.dump()], fences: vec![0] };
    let (mut token, mut overlay) = (String::new(), String::new());
    for step in 0..14_i64 {
        let (doc, now) = ("doc".to_owned(), NOW + step * LEASE / 4);
        let op = match step {
            0 | 5 | 9 => Op::Acquire { doc, owner: format!("owner-{step}"), now },
            4 | 13 => Op::Release { doc, token: token.clone() },
            3 | 11 => Op::Remove { overlay: overlay.clone(), token: token.clone(), now },
            7 => Op::Status { doc: Some(doc), now },
            _ => {
                let evidence = "seen ".repeat(700);
                Op::Add { doc, from: format!("node-{step}"), evidence, token: token.clone(), now }
            }
        };
        let said = core.run(&op).unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().map(ToOwned::to_owned);
        token = text(&said["lease"]["token"]).unwrap_or(token);
        overlay = text(&said["overlay"]["overlay_id"]).unwrap_or(overlay);
        let told = said["lease"]["fence"].as_u64().unwrap_or(0);
        story.fences.push(told.max(*story.fences.last().unwrap()));
        story.ops.push(op);
        story.states.push(bench.dump());
    }
    assert_eq!(*story.fences.last().unwrap(), 5, "three grants, a release and a takeover in between");
    story
}

/// Has a program do all this to the vault, and gives what it called.
fn traced(bench: &Bench, story: &Story) -> Vec<Call> {
    let lines: String = story.ops.iter().map(|op| format!("{}\n", request(op))).collect();
    let (input, log) = (bench.beside("requests"), bench.beside("calls"));
    fs::write(&input, lines).unwrap();
    let to = log.to_str().unwrap();
    let words = ["-f", "-qq", "-y", "-xx", "-s", "100000", "-o", to, "-e", TRACED, KC, "rpc", "VAULT"];
    let mut strace = bench.command("strace", &words);
    let ended = strace.stdin(fs::File::open(input).unwrap()).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let calls = calls(&fs::read_to_string(log).unwrap(), &bench.vault().canonicalize().unwrap());
    let answers: usize = calls.iter().map(answered).sum();
    assert_eq!(answers, story.ops.len(), "every operation was answered");
    calls
}

const fn answered(call: &Call) -> usize {
    match call {
        Call::Answered(count) => *count,
        _ => 0,
    }
}

fn files(bench: &Bench) -> BTreeMap<String, Vec<u8>> {
    let named = bench
        .bytes()
        .into_iter()
        .map(|(path, bytes)| (path.file_name().unwrap().to_str().unwrap().to_owned(), bytes));
    named.filter(|(name, _)| name.starts_with("lineage") && !name.ends_with("-shm")).collect()
}

/// Ways to lose power: everything is lost that can be, nothing is, or chance decides.
fn coin(seed: u64) -> impl FnMut() -> bool {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match seed % 4 {
            0 => false,
            1 => true,
            _ => state >> 63 == 1,
        }
    }
}

/// What is left is a vault as it was after an operation, the last one that was answered or a later one.
fn judge(spare: &Bench, left: &BTreeMap<String, Vec<u8>>, story: &Story, told: usize, when: &str) {
    for name in ["lineage.sqlite3", "lineage.sqlite3-wal", "lineage.sqlite3-shm"] {
        let _ = fs::remove_file(spare.vault().join(name));
    }
    left.iter().for_each(|(name, bytes)| fs::write(spare.vault().join(name), bytes).unwrap());
    let mut conn = vault::open(&Sys::os(), &spare.vault()).unwrap_or_else(|error| panic!("{when}: {error}"));
    verify::verify(&mut conn).unwrap_or_else(|error| panic!("{when}: {error}"));
    let state = spare.dump();
    assert!(story.states[told..].contains(&state), "{when}: it is not as any operation left it");
    let next = lineage_lock_acquire(&mut conn, "doc", "heir", LATER).unwrap();
    assert!(next.fence > story.fences[told], "{when}: fence {} was granted before", next.fence);
}

/// Loses the power between any two calls that a program makes to a vault which was found like this.
fn the_power_goes_anywhere(bench: &Bench) {
    let (start, spare) = (files(bench), bench.copy());
    let story = story(&bench.copy());
    let (mut disk, mut told, mut tried) = (Disk::new(&start), 0, BTreeSet::new());
    for (at, call) in traced(bench, &story).iter().enumerate() {
        disk.apply(call);
        told += answered(call);
        if answered(call) > 0 {
            assert!(disk.is_settled(), "answer {told} was given before everything was flushed");
        }
        for way in 0..4 {
            let left = disk.without_power(&mut coin(at as u64 * 4 + way));
            if tried.insert((told, left.clone())) {
                judge(&spare, &left, &story, told, &format!("call {at}, {call:.60?}, way {way}"));
            }
        }
    }
    println!("{} ways in which the power went", tried.len());
    assert!(tried.len() > 100);
}

#[test]
fn the_power_may_go_between_any_two_calls() {
    if has("strace") {
        the_power_goes_anywhere(&Bench::new(&["doc"]));
    }
}

/// A log that was moved into the database is written over from its beginning: what is left of the old one must
/// not be taken for a part of the new one.
#[test]
fn the_power_may_go_while_the_log_begins_anew() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new(&["doc"]);
    // While somebody looks on, the log stays when the program ends.
    let looks_on = rusqlite::Connection::open(bench.database()).unwrap();
    looks_on.query_row("SELECT count(*) FROM documents", [], |row| row.get::<_, u64>(0)).unwrap();
    for n in 0..20 {
        bench.run(&["doc", "add", "VAULT", &format!("another document {n}")]).ok();
    }
    looks_on.query_row("PRAGMA wal_checkpoint(FULL)", [], |_| Ok(())).unwrap();
    assert!(files(&bench)["lineage.sqlite3-wal"].len() > 20 * 4_096);
    the_power_goes_anywhere(&bench);
}
