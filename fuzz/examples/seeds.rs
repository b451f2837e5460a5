//! Writes the seeds of the targets that read files: good files as the media write them, and each of them
//! spoiled in a way that somebody once thought of. To be run again whenever a format changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use holdfast_hostile::list;
use holdfast_hostile::machine::{FOLDER, content, holder, name, on_a_machine, path, policy, text, wanted};
use holdfast_kernel::{Command, LeaseId, Millis, Mode, Request, Transfer};
use holdfast_store::directory::{self, Directory};
use holdfast_store::log::{self, Log};
use holdfast_store::record::{self, Record};
use holdfast_store::{Error, Medium};
use holdfast_sys::Sys;
use holdfast_tracker::issues::{Change, Document, Issue, Line};

/// Names of seeds, below the folder of their target, and their bytes.
type Seeds = BTreeMap<String, Vec<u8>>;

const TEN_MINUTES: Request = Request::Finite(Millis::from_secs(600));

fn main() {
    let seeds = Arc::new(Mutex::new(Seeds::new()));
    let made = Arc::clone(&seeds);
    on_a_machine(&[], move |sys| {
        let mut seeds = made.lock().expect("nobody else");
        logs(&sys, &mut seeds).expect("a log");
        records(&sys, &mut seeds).expect("a record");
        locks(&sys, &mut seeds).expect("a lock directory");
        issues(&mut seeds);
    });
    let made = Arc::clone(&seeds);
    list::on_issues(move |sys| {
        let (found, _) = list::quick(&sys);
        assert!(!found.is_empty(), "what is remembered is remembered of issues");
        let bytes = content(&sys, &path(list::CACHE));
        for mode in ["r", "s"] {
            let seed = [mode.as_bytes(), &bytes].concat();
            made.lock().expect("nobody else").insert(format!("list_reader/whole-{mode}"), seed);
        }
    });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let seeds = seeds.lock().expect("nobody else");
    for target in
        ["log_reader", "index_reader", "record_reader", "owner_reader", "issue_reader", "list_reader"]
    {
        let folder = folder.join(target);
        fs::remove_dir_all(&folder).expect("the seeds of before");
        fs::create_dir_all(&folder).expect("a folder");
    }
    for (name, bytes) in &*seeds {
        fs::write(folder.join(name), bytes).expect("a seed");
    }
}

/// Issues and sets, plain and odd.
fn issues(seeds: &mut Seeds) {
    let mut keep = |name: &str, bytes: Vec<u8>| drop(seeds.insert(format!("issue_reader/{name}"), bytes));
    let (at, later) = ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z");
    let mut issue = Issue::new("01K0000000000000000000000A".into(), "Log in".into(), at.into());
    keep("plain", issue.bytes());
    issue.description = Some("two\nlines".into());
    issue.assignee = Some("agent:one".into());
    issue.gates.insert("tests".into());
    issue.documents.insert("docs/a.md".into(), Document { added_at: later.into(), ..Document::default() });
    issue.metadata.insert("points".into(), 1.5.into());
    issue.rest.insert("later".into(), vec![1, 2].into());
    (issue.fence, issue.fence_log) = (Some(7), Some("01K0000000000000000000000L".into()));
    keep("full", issue.bytes());
    let line = |id: &str, change| Line { id: id.into(), change, at: at.into(), agent_id: None }.bytes();
    let add = line("1", Change::Add { value: "ui".into() });
    let remove = line("2", Change::Remove { value: "ui".into(), lines: ["1".into()].into() });
    keep("set", [add.clone(), remove.clone(), add.clone()].concat());
    keep("set-conflict", [b"<<<<<<< ours\n".to_vec(), add, b"=======\n".to_vec(), remove].concat());
}

/// A log through everything that can happen to it, with its index at every stage.
fn logs(sys: &Sys, seeds: &mut Seeds) -> Result<(), Error> {
    let paths = log::Paths { log: path("log"), index: path("index"), guard: path("guard") };
    let log = Log::new(sys.clone(), paths.clone(), log::Settings::default());
    let mut keep = |stage: &str, modes: &[&str]| {
        for mode in modes {
            let seed = |file: &Path| [mode.as_bytes(), &content(sys, file)].concat();
            seeds.insert(format!("log_reader/{stage}-{mode}"), seed(&paths.log));
            seeds.insert(format!("index_reader/{stage}-{mode}"), seed(&paths.index));
        }
    };
    let tell = |command: Command| log.transact(&policy(), &command);
    tell(wanted(1, "issue-1", "ada", Mode::Exclusive, TEN_MINUTES))?;
    keep("one", &["r"]);
    tell(Command::Renew { lease: id(1), holder: holder("ada"), ttl: Some(Millis::new(150_000)) })?;
    tell(wanted(2, "issue-2", "bob", Mode::Shared, TEN_MINUTES))?;
    tell(wanted(3, "issue-2", "cyd", Mode::Shared, Request::Indefinite))?;
    tell(Command::Beat { lease: id(3), holder: holder("cyd") })?;
    keep("shared", &["s"]);
    let (from, to) = (holder("ada"), holder("bob"));
    let (reason, tags) = (text("lunch"), holdfast_kernel::Tags::none());
    tell(Command::Transfer(Transfer { lease: id(1), holder: from, id: id(4), to, reason, tags }))?;
    tell(Command::Evict { lease: id(3), by: holder("ada"), reason: text("gone") })?;
    tell(after_death(wanted(5, "issue-1", "ada", Mode::Exclusive, TEN_MINUTES), id(4)))?;
    keep("takeover", &["n"]);
    let batch = [
        wanted(6, "issue-3", "ada", Mode::Exclusive, TEN_MINUTES),
        Command::Release { lease: id(2), holder: holder("bob") },
    ];
    log.transact_all(&policy(), &batch).into_iter().collect::<Result<Vec<_>, _>>()?;
    keep("batch", &["r", "s", "n"]);
    let good = content(sys, &paths.log);
    log.cut(&policy())?;
    keep("cut", &["r", "s"]);
    let cut = content(sys, &paths.log);
    tell(Command::Release { lease: id(5), holder: holder("ada") })?;
    keep("after-cut", &["n"]);
    spoiled_logs(&good, &cut, seeds);
    seeds.insert("good.log".into(), good);
    Ok(())
}

fn spoiled_logs(good: &[u8], cut: &[u8], seeds: &mut Seeds) {
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    let two = lines.get(..2).unwrap_or_default().concat();
    let mut add = |name: &str, mode: &str, bytes: &[u8]| {
        seeds.insert(format!("log_reader/{name}"), [mode.as_bytes(), bytes].concat());
    };
    for (name, from, to) in [
        ("huge-segment", "\"segment\":1", "\"segment\":18446744073709551615"),
        ("huge-sequence", "\"sequence\":0", "\"sequence\":18446744073709551615"),
        ("negative-sequence", "\"sequence\":1", "\"sequence\":-1"),
        ("newer-line", "\"schema_version\":1,\"sequence\":1", "\"schema_version\":3,\"sequence\":1"),
        ("newer-header", "\"schema_version\":1,\"sequence\":0", "\"schema_version\":9,\"sequence\":0"),
        ("doubled-key", "\"ttl_secs\":600", "\"ttl_secs\":600,\"ttl_secs\":601"),
        ("huge-ttl", "\"ttl_secs\":600", "\"ttl_secs\":1e300"),
        ("two-kinds", "\"op\":\"acquire\"", "\"op\":\"renew\""),
    ] {
        add(name, "s", &replaced(&two, from, to));
    }
    add("fence-to-come", "s", &replaced(cut, "\"fence\":", "\"fence\":9"));
    let near_the_end = "\"sequence\":9007199254740989";
    add("last-sequence", "n", &replaced(&two, "\"sequence\":0", near_the_end));
    add("line-at-the-end", "n", &replaced(&two, "\"sequence\":0", "\"sequence\":9007199254740990"));
    let unknown = replaced(&two, "\"grace_secs\"", "\"grace\"");
    add("repaired-near-the-end", "n", &replaced(&unknown, "\"sequence\":0", near_the_end));
    let swapped = lines.iter().enumerate().map(|(at, line)| if at == 2 { lines[3] } else { line });
    add("doubled-line", "s", &swapped.collect::<Vec<_>>().concat());
    add("flipped", "r", &flipped(good));
    add("torn", "r", good.split_at(good.len() - 40).0);
    add("header-only", "r", lines[0]);
    add("no-end", "r", lines[0].split_at(lines[0].len() - 1).0);
    add("zeros", "r", &[0; 600]);
    add("empty", "r", &[]);
}

fn records(sys: &Sys, seeds: &mut Seeds) -> Result<(), Error> {
    let paths = record::Paths::new(Path::new(FOLDER), "r");
    let medium = Record::new(sys.clone(), paths.clone(), name("issue-1"), record::Settings::default());
    singles(sys, &medium, "issue-1", "record_reader", [&paths.fence, &paths.lock], seeds)
}

fn locks(sys: &Sys, seeds: &mut Seeds) -> Result<(), Error> {
    let medium = Directory::new(sys.clone(), Path::new(FOLDER), directory::Settings::default());
    let files = [path(".fence"), path("issue/main/owner.json")];
    singles(sys, &medium, "issue/main", "owner_reader", [&files[0], &files[1]], seeds)
}

/// A medium of one lease a file, held in several ways; the files are that of the fence and that of the lease.
fn singles(
    sys: &Sys,
    medium: &dyn Medium,
    resource: &str,
    target: &str,
    files: [&Path; 2],
    seeds: &mut Seeds,
) -> Result<(), Error> {
    let mut keep = |stage: &str| {
        let seed = files.map(|file| content(sys, file)).concat();
        seeds.insert(format!("{target}/{stage}"), seed);
    };
    medium.transact(&policy(), &wanted(1, resource, "ada", Mode::Exclusive, TEN_MINUTES))?;
    keep("finite");
    let short = Command::Renew { lease: id(1), holder: holder("ada"), ttl: Some(Millis::new(1)) };
    medium.transact(&policy(), &short)?;
    keep("over");
    medium.transact(&policy(), &Command::Release { lease: id(1), holder: holder("ada") })?;
    medium.transact(&policy(), &wanted(2, resource, "ada", Mode::Exclusive, Request::Indefinite))?;
    keep("indefinite");
    spoiled_singles(&files.map(|file| content(sys, file)), target, seeds);
    Ok(())
}

fn spoiled_singles([fence, lock]: &[Vec<u8>; 2], target: &str, seeds: &mut Seeds) {
    let mut add = |name: &str, fence: &[u8], lock: &[u8]| {
        seeds.insert(format!("{target}/{name}"), [fence, lock].concat());
    };
    add("no-fence", b"\n", lock);
    add("no-lease", fence, &[]);
    add("torn", fence, lock.split_at(lock.len() / 2).0);
    add("flipped", fence, &flipped(lock));
    add("near-the-end", &replaced(fence, "\"last\":", "\"last\":900719925474098"), lock);
    add("counter-behind", fence, &replaced(lock, "\"fence\":", "\"fence\":9"));
    for (name, from, to) in [("newer", "1", "7"), ("other-kind", "{", "["), ("not-utf8", "ada", "\u{80}")] {
        add(name, fence, &replaced(lock, from, to));
        add(&format!("{name}-fence"), &replaced(fence, from, to), lock);
    }
}

/// The same command, for somebody who found the holder of a lease dead.
fn after_death(mut command: Command, dead: LeaseId) -> Command {
    if let Command::Acquire(acquire) = &mut command {
        acquire.dead.push(dead);
    }
    command
}

const fn id(number: u128) -> LeaseId {
    LeaseId::new(number)
}

/// The bytes with the first `from` replaced.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8_lossy(bytes).replacen(from, to, 1).into_bytes()
}

/// The bytes with one bit in the middle changed.
fn flipped(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    bytes
}
