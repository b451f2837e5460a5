//! The door `jvs` against what people use instead: `cp` and `sha256sum` for a snapshot, `sha256sum` for a
//! check, and for the lock two processes that do nothing but the flushes that it needs.
//!
//! A snapshot is durable and what `cp` makes is not; that is counted against us. The sizes are a part of the
//! full ones unless `HOLDFAST_BENCH_FULL` is set.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{command, shipped, succeed};
use crate::row::Row;
use crate::stats::Spread;

const COPY_ROUNDS: usize = 3;
const LOCK_ROUNDS: usize = 31;
const SNAPSHOT_AT_MOST: f64 = 0.6;
const VERIFY_AT_MOST: f64 = 0.5;
const LOCK_AT_MOST: f64 = 2.0;
const MIB: usize = 1 << 20;

/// How many small files, and how many files of 256 MiB.
fn sizes() -> (usize, usize) {
    if std::env::var_os("HOLDFAST_BENCH_FULL").is_some() { (100_000, 8) } else { (10_000, 2) }
}

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let (small, large) = sizes();
    let mut rows = Vec::new();
    let tree = ground.folder("small")?;
    fill_small(&tree, small)?;
    rows.extend(trees(ground, &tree, &format!("{small} small files"))?);
    std::fs::remove_dir_all(&tree)?;
    let tree = ground.folder("large")?;
    fill_large(&tree, large)?;
    rows.extend(trees(ground, &tree, &format!("{} MiB in large files", large * 256))?);
    std::fs::remove_dir_all(&tree)?;
    rows.push(locks(ground)?);
    Ok(rows)
}

/// Files of 100 to 6,000 bytes, a hundred in a directory.
fn fill_small(tree: &Path, count: usize) -> Result<(), Failure> {
    let mut state = 1_u64;
    for n in 0..count {
        let directory = tree.join(format!("d{:04}", n / 100));
        if n % 100 == 0 {
            std::fs::create_dir_all(&directory)?;
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let len = 100 + usize::try_from((state >> 33) % 5_900)?;
        let bytes: Vec<u8> = state.to_le_bytes().into_iter().cycle().take(len).collect();
        std::fs::write(directory.join(format!("f{n:06}")), bytes)?;
    }
    Ok(())
}

fn fill_large(tree: &Path, count: usize) -> Result<(), Failure> {
    for n in 0..count {
        let mut file = File::create(tree.join(format!("f{n}")))?;
        for part in 0..256_usize {
            let bytes: Vec<u8> = (n * 256 + part).to_le_bytes().into_iter().cycle().take(MIB).collect();
            file.write_all(&bytes)?;
        }
    }
    Ok(())
}

fn shell(script: &str, at: &Path) -> Result<(), Failure> {
    succeed(command("sh", at).args(["-c", script]))
}

const HASH: &str = "find copy -type f -print0 | xargs -0 sha256sum > /dev/null";

/// A snapshot and a check of a tree.
fn trees(ground: &Ground, tree: &Path, what: &str) -> Result<Vec<Row>, Failure> {
    let place = ground.folder("place")?;
    let program = shipped(ground, "jvs")?;
    let jvs = |args: &[&str]| succeed(command(&program, &place.join("r")).args(args));
    let begin = || {
        succeed(command(&program, &place).args(["init", "r"]))?;
        std::fs::remove_dir(place.join("r/main"))?;
        std::fs::rename(tree, place.join("r/main"))?;
        jvs(&["lock", "acquire", "--lease-ms", "86400000"])
    };
    begin()?;
    let clear = || shell("rm -rf copy", &place);
    let peer: Contender<'_> = Box::new(|| {
        let time = timed(|| {
            shell("cp -a --reflink=auto r/main copy", &place)?;
            shell(HASH, &place)
        })?;
        clear().map(|()| time)
    });
    let ours: Contender<'_> = Box::new(|| {
        let time = timed(|| jvs(&["snapshot"]))?;
        forget_snapshots(&place.join("r"))?;
        Ok(time)
    });
    let copies = rounds(COPY_ROUNDS, &mut [peer, ours])?;
    // A check would miss the snapshots that were removed behind its back.
    std::fs::rename(place.join("r/main"), tree)?;
    std::fs::remove_dir_all(place.join("r"))?;
    begin()?;
    jvs(&["snapshot"])?;
    shell("cp -a --reflink=auto r/main copy", &place)?;
    let peer: Contender<'_> = Box::new(|| timed(|| shell(HASH, &place)));
    let ours: Contender<'_> = Box::new(|| timed(|| jvs(&["verify", "--all"])));
    let checks = rounds(COPY_ROUNDS, &mut [peer, ours])?;
    std::fs::rename(place.join("r/main"), tree)?;
    std::fs::remove_dir_all(&place)?;
    let snapshot = row(&format!("snapshot of {what}"), "cp -a + sha256sum", &copies, SNAPSHOT_AT_MOST);
    let verify = row(&format!("verify --all, {what}"), "sha256sum", &checks, VERIFY_AT_MOST);
    Ok([snapshot, verify].into_iter().flatten().collect())
}

/// Removes the snapshots of a repository behind its back, so that every round begins alike.
fn forget_snapshots(root: &Path) -> Result<(), Failure> {
    for entry in std::fs::read_dir(root.join(".jvs/snapshots"))? {
        std::fs::remove_dir_all(entry?.path())?;
    }
    Ok(())
}

fn row(work: &str, peer: &str, times: &[Vec<Duration>], at_most: f64) -> Option<Row> {
    let [floor, ours] = times else { return None };
    let ratio = Spread::of_ratios(ours, floor)?;
    Some(Row::of_times(work, (peer, Spread::of_times(floor)?), Spread::of_times(ours)?, ratio, at_most))
}

/// Taking the lock and giving it back, as two commands of one shell.
fn locks(ground: &Ground) -> Result<Row, Failure> {
    let place = ground.folder("locks")?;
    let program = shipped(ground, "jvs")?;
    succeed(command(&program, &place).args(["init", "r"]))?;
    let bare = ground.folder("bare")?;
    let floor: Contender<'_> = Box::new(|| {
        timed(|| {
            succeed(&mut command("true", &bare))?;
            flushes_of_acquire(&bare)?;
            succeed(&mut command("true", &bare))?;
            flushes_of_release(&bare)
        })
    });
    let jvs = |args: &[&str]| succeed(command(&program, &place.join("r/main")).args(args));
    let ours: Contender<'_> = Box::new(|| {
        timed(|| {
            jvs(&["lock", "acquire"])?;
            jvs(&["lock", "release"])
        })
    });
    let times = rounds(LOCK_ROUNDS, &mut [floor, ours])?;
    let name = "two empty processes + the flushes";
    row("lock acquire + release, as commands", name, &times, LOCK_AT_MOST)
        .ok_or_else(|| "nothing was measured".into())
}

/// One line of audit, a counter and a record.
fn flushes_of_acquire(at: &Path) -> Result<(), Failure> {
    append(at)?;
    replace(at, "fence", 61)?;
    replace(at, "lock", 800)
}

fn flushes_of_release(at: &Path) -> Result<(), Failure> {
    append(at)?;
    std::fs::remove_file(at.join("lock"))?;
    Ok(File::open(at)?.sync_all()?)
}

fn append(at: &Path) -> Result<(), Failure> {
    let mut file = OpenOptions::new().create(true).append(true).open(at.join("audit"))?;
    file.write_all(&[b'x'; 500])?;
    Ok(file.sync_data()?)
}

fn replace(at: &Path, name: &str, len: usize) -> Result<(), Failure> {
    let beside = at.join(format!("{name}.tmp"));
    let mut file = File::create(&beside)?;
    file.write_all(&vec![b'x'; len])?;
    file.sync_data()?;
    std::fs::rename(&beside, at.join(name))?;
    Ok(File::open(at)?.sync_all()?)
}
