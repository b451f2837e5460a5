//! scratch
#![allow(
    clippy::all,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::unwrap_used,
    missing_docs,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::indexing_slicing
)]
use holdfast_kernel::*;
use holdfast_store::{Medium, log::*};
use holdfast_sys::Sys;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;
fn policy() -> Policy {
    Policy {
        again: Again::Return,
        rule: KindRule {
            ttl: TtlRange { min: Millis::new(1), max: Millis::from_secs(86400) },
            indefinite: true,
        },
        kinds: BTreeMap::new(),
        skew: Millis::ZERO,
        grace: Millis::ZERO,
        stale_after: Millis::from_secs(3600),
        limits: Limits::NONE,
    }
}
fn acq(sys: &Sys, r: &str, who: &str) -> Command {
    let now = sys.clock.now().unwrap();
    Command::Acquire(Acquire {
        id: sys.entropy.lease_id(&now).unwrap(),
        resource: Name::new(r).unwrap(),
        holder: Holder { agent: Name::new(who).unwrap(), place: Name::new("wt:abc123ef").unwrap() },
        mode: Mode::Exclusive,
        request: Request::Finite(Millis::from_secs(600)),
        reason: None,
        tags: Tags::none().with("branch", Text::new("agents/copilot-1").unwrap()).unwrap(),
        dead: vec![],
    })
}
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let d = std::path::PathBuf::from(&dir);
    let sys = Sys::os();
    let words = Words { resource: "issue_id", agent: "agent_id", place: "worktree_id", tags: &["branch"] };
    let open = |sys: &Sys| {
        Log::new(
            sys.clone(),
            Paths {
                log: d.join("claims.jsonl"),
                index: d.join("claims.index.json"),
                guard: d.join("claims.lock"),
            },
            Settings { words, mode: 0o600, fsync_index: false },
        )
    };
    let p = policy();
    let log = open(&sys);
    let rel = |l: &Lease| Command::Release { lease: l.id, holder: l.holder.clone() };
    let mut line = Vec::new();
    for _ in 0..20 {
        let Answer::Granted(l) =
            log.transact(&p, &acq(&sys, "01HXJK2M3N4P5Q6R7S8T9VWXYZ", "agent:copilot-1")).unwrap()
        else {
            panic!()
        };
        log.transact(&p, &rel(&l)).unwrap();
    }
    let text = std::fs::read(d.join("claims.jsonl")).unwrap();
    println!("{}", String::from_utf8_lossy(&text[..1200]));
    println!("{}", std::fs::read_to_string(d.join("claims.index.json")).unwrap());
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    line.extend_from_slice(lines[1]);
    let line2 = lines[2].to_vec();
    let mut floor = std::fs::OpenOptions::new().append(true).create(true).open(d.join("floor")).unwrap();
    let mut rf = Vec::new();
    let mut ro = Vec::new();
    for _ in 0..300 {
        let t = Instant::now();
        floor.write_all(&line).unwrap();
        floor.sync_data().unwrap();
        floor.write_all(&line2).unwrap();
        floor.sync_data().unwrap();
        rf.push(t.elapsed());
        let t = Instant::now();
        let Answer::Granted(l) =
            log.transact(&p, &acq(&sys, "01HXJK2M3N4P5Q6R7S8T9VWXYZ", "agent:copilot-1")).unwrap()
        else {
            panic!()
        };
        log.transact(&p, &rel(&l)).unwrap();
        ro.push(t.elapsed());
    }
    rf.sort();
    ro.sort();
    println!(
        "floor {:?} ours {:?} ratio {:.3}",
        rf[150],
        ro[150],
        ro[150].as_secs_f64() / rf[150].as_secs_f64()
    );
    for n in [1, 2, 4, 8, 16] {
        let t = Instant::now();
        std::thread::scope(|s| {
            for k in 0..n {
                let (log, sys, p) = (&log, &sys, &p);
                s.spawn(move || {
                    for _ in 0..200 {
                        let Answer::Granted(l) =
                            log.transact(p, &acq(sys, &format!("R{k}"), "agent:a")).unwrap()
                        else {
                            panic!()
                        };
                        log.transact(p, &rel(&l)).unwrap();
                    }
                });
            }
        });
        println!("{n} writers {:.0} ops/s", (n * 400) as f64 / t.elapsed().as_secs_f64());
    }
    let t = Instant::now();
    let total = 1_000_000;
    let mut done = 0;
    while done < total {
        let cmds: Vec<_> = (0..1000).map(|k| acq(&sys, &format!("B{k:020}"), "agent:copilot-1")).collect();
        let a = log.transact_all(&p, &cmds);
        let rels: Vec<_> = a
            .into_iter()
            .map(|a| match a.unwrap() {
                Answer::Granted(l) => rel(&l),
                _ => panic!(),
            })
            .collect();
        for r in log.transact_all(&p, &rels) {
            r.unwrap();
        }
        done += 2000;
    }
    println!(
        "1M written in {:?}, {} MB",
        t.elapsed(),
        std::fs::metadata(d.join("claims.jsonl")).unwrap().len() >> 20
    );
    for _ in 0..3 {
        let t = Instant::now();
        let l2 = open(&sys);
        l2.view().unwrap();
        println!("open with index {:?}", t.elapsed());
    }
    std::fs::copy(d.join("claims.index.json"), d.join("claims.index.bak")).unwrap();
    std::fs::remove_file(d.join("claims.index.json")).unwrap();
    for _ in 0..2 {
        let t = Instant::now();
        let l2 = open(&sys);
        l2.view().unwrap();
        let e = t.elapsed();
        println!("rebuild {:?} = {:.2} M/s", e, 1.0 / e.as_secs_f64());
    }
    let t = Instant::now();
    let b = std::fs::read(d.join("claims.jsonl")).unwrap();
    println!("plain read {:?} {}", t.elapsed(), b.len());
}
