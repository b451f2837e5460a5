//! Control planes that a disk or a person has damaged, in every way that chance finds: after `recover` they work again,
//! no fence is granted twice, and no claim is lost without a word.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdfast_trial::{Dice, seeds};
use serde_json::Value;

use crate::bench::Bench;

const LOG: &str = "claims.jsonl";
const INDEX: &str = "claims.index.json";
const SEGMENT: &str = "claims.jsonl.1";
const EVENTS: &str = "events/control.jsonl";
const PLACE: &str = "events/control.place";

/// A control plane with a history: claims that were released, evicted, handed over and renewed, an archived segment,
/// and several that are in force.
struct Plane {
    bench: Bench,
    files: BTreeMap<&'static str, Vec<u8>>,
    leases: Vec<Value>,
    log: String,
    highest: u64,
}

impl Plane {
    fn new() -> Self {
        let bench = Bench::new();
        let (_, released) = bench.claimed("agent:a");
        bench.jit(&["claim", "release", &released]).ok();
        bench.claimed("agent:b");
        let (_, evicted) = bench.claimed("agent:c");
        bench.jit(&["claim", "force-evict", &evicted, "--reason", "it hangs"]).ok();
        let sys = holdfast_sys::Sys::os();
        let nowhere = holdfast_tracker::config::Sources::default();
        let config = holdfast_tracker::config::Config::load(&sys, &nowhere).unwrap();
        let log = holdfast_tracker::claims::log_at(&sys, &bench.control(""), 0o600);
        log.cut(&config.policy()).unwrap();
        let (_, renewed) = bench.claimed("agent:d");
        bench.run("agent:d", &["claim", "renew", &renewed, "--ttl", "7200"]).ok();
        let issue = bench.issue("for a long time");
        bench.run("agent:e", &["claim", "acquire", &issue, "--ttl", "0", "--reason", "long"]).ok();
        bench.run("agent:e", &["claim", "heartbeat", &issue]).ok();
        let (_, handed) = bench.claimed("agent:f");
        let place = bench.leases()[0]["worktree_id"].as_str().unwrap().to_owned();
        let to = ["--to-agent", "agent:g", "--to-worktree", &place, "--reason", "end of shift"];
        bench.run("agent:f", &[&["claim", "transfer", &handed], &to[..]].concat()).ok();
        bench.claimed("agent:h");
        let files = [LOG, INDEX, SEGMENT, EVENTS, PLACE];
        let files = files.map(|name| (name, std::fs::read(bench.control(name)).unwrap())).into();
        let leases = bench.leases();
        assert_eq!(leases.len(), 5);
        let highest = leases.iter().map(|lease| lease["fence"].as_u64().unwrap()).max().unwrap();
        let log = log_id(&bench).unwrap();
        Self { bench, files, leases, log, highest }
    }

    /// Puts everything back as it was.
    fn restore(&self) {
        for entry in std::fs::read_dir(self.bench.control("")).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                std::fs::remove_file(path).unwrap();
            }
        }
        for (name, bytes) in &self.files {
            std::fs::write(self.bench.control(name), bytes).unwrap();
        }
    }

    /// What has to be so after a repair, whatever was damaged.
    fn is_mended(&self, story: &str) {
        let dry = self.bench.jit(&["--json", "recover", "--dry-run"]);
        let recovered = self.bench.jit(&["--json", "recover"]);
        assert!(matches!(recovered.code, Some(0 | 7)), "{story}: {recovered}");
        let found = recovered.json()["recovery"]["findings"].as_array().unwrap().clone();
        assert_eq!(dry.code == Some(7), !found.is_empty(), "{story}: {dry} {recovered}");
        let lost = |id: &Value| found.iter().any(|found| found["kind"] == "lost" && found["lease_id"] == *id);
        assert_eq!(recovered.code == Some(7), found.iter().any(is_loss), "{story}: {recovered}");
        self.bench.jit(&["claim", "history"]).ok();
        let checked = self.bench.jit(&["--json", "validate", "leases"]).ok().json();
        assert_eq!(checked["checks"][0]["ok"], true, "{story}: {checked}");
        let left = self.bench.leases();
        for lease in &self.leases {
            let id = &lease["lease_id"];
            let kept = left.iter().find(|kept| kept["lease_id"] == *id);
            assert!(kept.is_some() || lost(id), "{story}: {lease} vanished: {recovered}");
            if let Some(kept) = kept {
                for part in ["issue_id", "agent_id", "worktree_id", "fence", "ttl_secs", "expires_at"] {
                    assert_eq!(kept[part], lease[part], "{story}: {part}");
                }
            }
        }
        let issue = self.bench.issue("one more");
        let fresh = self.bench.run("agent:z", &["--json", "claim", "acquire", &issue]).ok().json();
        let fence = fresh["lease"]["fence"].as_u64().unwrap();
        assert!(fence > self.highest || log_id(&self.bench).unwrap() != self.log, "{story}: {fence} again");
        let clean = self.bench.jit(&["recover", "--dry-run"]);
        assert_eq!(clean.code, Some(0), "{story}: {clean}");
    }
}

fn is_loss(found: &Value) -> bool {
    found["kind"] == "lost" || found["kind"] == "missing_records"
}

/// The id of the log that grants fences by now.
fn log_id(bench: &Bench) -> Option<String> {
    let log = std::fs::read_to_string(bench.control(LOG)).ok()?;
    let first: Value = serde_json::from_str(log.lines().next()?).ok()?;
    Some(first["log_id"].as_str()?.to_owned())
}

fn below(dice: &mut Dice, limit: usize) -> usize {
    usize::try_from(dice.roll(limit as u64)).unwrap()
}

/// Damages a file, and says how.
fn damage(path: &Path, dice: &mut Dice) -> String {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut bytes = std::fs::read(path).unwrap();
    let at = below(dice, bytes.len().max(1));
    match below(dice, 4) {
        0 => {
            std::fs::remove_file(path).unwrap();
            return format!("{name} was removed");
        }
        1 => bytes.truncate(at),
        _ => {
            let bit = below(dice, 8);
            bytes[at] ^= 1 << bit;
            std::fs::write(path, &bytes).unwrap();
            return format!("bit {bit} of byte {at} of {name} flipped");
        }
    }
    std::fs::write(path, &bytes).unwrap();
    format!("{name} was cut to {at} bytes")
}

fn swap(one: &Path, two: &Path) -> String {
    let (first, second) = (std::fs::read(one).unwrap(), std::fs::read(two).unwrap());
    std::fs::write(one, second).unwrap();
    std::fs::write(two, first).unwrap();
    format!("{} and {} were swapped", one.display(), two.display())
}

#[test]
fn whatever_is_damaged_the_claims_work_again_after_a_repair_and_none_is_lost_without_a_word() {
    let plane = Plane::new();
    let at = |name: &str| -> PathBuf { plane.bench.control(name) };
    plane.is_mended("nothing was damaged");
    for seed in seeds(60) {
        let mut dice = Dice::new(seed, std::time::Duration::from_millis(1));
        plane.restore();
        let mut story = vec![format!("seed {seed}")];
        // Of the three that tell of everything, one is left as it was.
        let mut sources = vec![LOG, INDEX, EVENTS];
        sources.remove(below(&mut dice, 3));
        match below(&mut dice, 4) {
            0 => story.push(swap(&at(sources[0]), &at(sources[1]))),
            1 => story.push(swap(&at(sources[0]), &at(SEGMENT))),
            2 => story.extend(sources.iter().map(|name| damage(&at(name), &mut dice))),
            _ => story.push(damage(&at(sources[below(&mut dice, 2)]), &mut dice)),
        }
        for name in [SEGMENT, PLACE] {
            if below(&mut dice, 3) == 0 {
                story.push(damage(&at(name), &mut dice));
            }
        }
        plane.is_mended(&story.join(", "));
    }
}

/// The number that the next grant got, and under which name.
fn grant(bench: &Bench, at: &Path) -> (String, u64, String) {
    let title = ["--json", "claim", "create", "--title", "work"];
    let granted = bench.run_at("agent:a", &title, at).ok();
    let log = std::fs::read_to_string(at.join(".git/jit/claims.jsonl")).unwrap();
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    let fence = granted.json()["lease"]["fence"].as_u64().unwrap();
    (first["log_id"].as_str().unwrap().to_owned(), fence, granted.stderr)
}

#[test]
fn a_copy_of_a_control_plane_grants_under_a_name_of_its_own() {
    let bench = Bench::new();
    let (own, first, _) = grant(&bench, &bench.repo());
    let sys = holdfast_sys::Sys::os();
    let nowhere = holdfast_tracker::config::Sources::default();
    let policy = holdfast_tracker::config::Config::load(&sys, &nowhere).unwrap().policy();
    holdfast_tracker::claims::log_at(&sys, &bench.control(""), 0o600).cut(&policy).unwrap();
    let copy = bench.root().join("copy");
    let copied =
        std::process::Command::new("cp").args(["-a", "repo", "copy"]).current_dir(bench.root()).status();
    assert!(copied.unwrap().success());
    let (theirs, fence, said) = grant(&bench, &copy);
    assert_ne!(own, theirs);
    assert!(fence > first, "numbers go on all the same");
    assert!(said.contains("copy of") && said.contains(&theirs), "{said}");
    // From then on nobody is told of it, in either.
    for (at, name) in [(&copy, &theirs), (&bench.repo(), &own)] {
        let (log, _, said) = grant(&bench, at);
        assert_eq!((&log, said.contains("copy of")), (name, false), "{said}");
        bench.run_at("agent:a", &["claim", "history"], at).ok();
        let clean = bench.run_at("agent:a", &["recover", "--dry-run"], at);
        assert_eq!(clean.code, Some(0), "{clean}");
    }
    assert_eq!(bench.run_at("agent:b", &["--json", "claim", "list"], &copy).ok().json()["count"], 3);
}

#[test]
fn a_control_plane_that_was_moved_or_is_seen_through_a_link_keeps_its_name() {
    let bench = Bench::new();
    let (own, ..) = grant(&bench, &bench.repo());
    let (link, moved) = (bench.root().join("link"), bench.root().join("moved"));
    std::os::unix::fs::symlink(bench.repo(), &link).unwrap();
    assert_eq!(grant(&bench, &link).0, own);
    std::fs::remove_file(&link).unwrap();
    std::fs::rename(bench.repo(), &moved).unwrap();
    let (log, _, said) = grant(&bench, &moved);
    assert_eq!((log, said.contains("copy of")), (own.clone(), false), "{said}");
    // What takes the old place then is the copy, although it has been there before.
    let copied =
        std::process::Command::new("cp").args(["-a", "moved", "repo"]).current_dir(bench.root()).status();
    assert!(copied.unwrap().success());
    assert_ne!(grant(&bench, &bench.repo()).0, own);
    assert_eq!(grant(&bench, &moved).0, own);
}
