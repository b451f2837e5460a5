//! Named locks as whole commands: `ic lock acquire` and `release` against two runs of flock(1), among ten
//! thousand other locks, and handed from one who releases to one who waits.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{command, shipped, succeed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, time};

const ROUNDS: usize = 61;
const AT_MOST: f64 = 1.5;
const CROWDED_AT_MOST: f64 = 1.1;
const HAND_OVERS: usize = 31;
/// How much longer than the releasing call a hand-over may take, in seconds.
const HAND_OVER_AT_MOST: f64 = 0.010;
const CROWD: usize = 10_000;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let few = Locks::new(ground, "few", 0)?;
    let many = Locks::new(ground, "many", CROWD)?;
    let at = ground.folder("flock")?;
    let flock: Contender<'_> = Box::new(|| {
        let once = || succeed(command("flock", &at).args(["-n", "file", "true"]));
        timed(|| once().and_then(|()| once()))
    });
    let times = rounds(ROUNDS, &mut [flock, few.pair(), many.pair()])?;
    let [flock, few_times, many_times] = times.as_slice() else { return Err("nothing was measured".into()) };
    let rows = [
        row("ic lock acquire + release", ("two runs of flock -n", flock), few_times, AT_MOST),
        row("the same among 10,000 locks", ("one lock", few_times), many_times, CROWDED_AT_MOST),
        hand_over(&few)?,
    ];
    rows.into_iter().collect::<Option<Vec<Row>>>().ok_or_else(|| "nothing was measured".into())
}

fn row(work: &str, peer: (&str, &Vec<Duration>), ours: &[Duration], at_most: f64) -> Option<Row> {
    let (name, peer) = peer;
    let ratio = Spread::of_ratios(ours, peer)?;
    Some(Row::of_times(work, (name, Spread::of_times(peer)?), Spread::of_times(ours)?, ratio, at_most))
}

/// Somebody releases and somebody waits: from the beginning of the release until the waiter has gone on.
fn hand_over(locks: &Locks) -> Result<Option<Row>, Failure> {
    let (mut releases, mut totals, mut extra) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..HAND_OVERS {
        succeed(&mut locks.ic("acquire", "first"))?;
        let mut waiter = locks.ic("acquire", "second").args(["--timeout", "60s"]).spawn()?;
        locks.until_somebody_waits()?;
        let start = Instant::now();
        succeed(&mut locks.ic("release", "first"))?;
        let released = start.elapsed();
        if !waiter.wait()?.success() {
            return Err("the waiter did not get the lock".into());
        }
        let total = start.elapsed();
        releases.push(released);
        totals.push(total);
        extra.push(total.saturating_sub(released));
        succeed(&mut locks.ic("release", "second"))?;
    }
    let (Some(release), Some(total)) = (Spread::of_times(&releases), Spread::of_times(&totals)) else {
        return Ok(None);
    };
    let Some(extra) = Spread::of_times(&extra) else { return Ok(None) };
    Ok(Some(Row {
        work: format!("hand-over to a waiter, {} after the release", time(extra.middle)),
        peer: format!("the releasing call {}", time(release.middle)),
        ours: time(total.middle),
        ratio: Spread::of_ratios(&totals, &releases),
        aim: Aim::bound("< 10 ms more", extra.middle < HAND_OVER_AT_MOST),
    }))
}

/// A root with locks.
struct Locks {
    program: PathBuf,
    at: PathBuf,
}

impl Locks {
    /// A root with so many locks that nobody asks for.
    fn new(ground: &Ground, name: &str, crowd: usize) -> Result<Self, Failure> {
        let at = ground.folder(name)?;
        let locks = Self { program: shipped(ground, "ic")?, at };
        // Made first by `ic` itself, so that it is as `ic` wants it.
        succeed(&mut locks.ic("acquire", "first"))?;
        succeed(&mut locks.ic("release", "first"))?;
        for number in 0..crowd {
            std::fs::create_dir_all(locks.root().join(format!("bench/{number}")))?;
        }
        Ok(locks)
    }

    fn root(&self) -> PathBuf {
        self.at.join("locks")
    }

    fn ic(&self, verb: &str, owner: &str) -> Command {
        let mut ic = command(&self.program, &self.at);
        ic.arg("--root").arg(self.root()).args(["lock", verb, "bench", "x", "--owner", owner]);
        ic
    }

    fn pair(&self) -> Contender<'_> {
        Box::new(|| {
            timed(|| {
                succeed(&mut self.ic("acquire", "first"))?;
                succeed(&mut self.ic("release", "first"))
            })
        })
    }

    fn until_somebody_waits(&self) -> Result<(), Failure> {
        let waiting = self.root().join(".order/waiting");
        let start = Instant::now();
        while notes(&waiting) == 0 {
            if start.elapsed() > Duration::from_secs(60) {
                return Err("nobody waits".into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // By then it is asleep between two looks.
        std::thread::sleep(Duration::from_millis(20));
        Ok(())
    }
}

fn notes(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).count()
}
