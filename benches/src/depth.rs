//! The cost of an operation must not depend on how much happened before it: the same work on logs with 10,
//! 10 thousand and a million records behind it, once through a handle that is open and once as a program
//! that was just started does it.

use std::path::PathBuf;
use std::time::Duration;

use holdfast_store::log::Log;

use crate::fixture::{Worker, fill, handle};
use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::row::Row;
use crate::stats::Spread;

const DEPTHS: [(usize, &str); 3] = [(10, "10"), (10_000, "10 k"), (1_000_000, "1 M")];
const ROUNDS: usize = 25;
const PAIRS: usize = 10;
const AT_MOST: f64 = 1.1;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for (records, name) in DEPTHS {
        let folder = ground.folder(name)?;
        fill(&folder, records)?;
        folders.push(folder);
    }
    let open: Vec<Log> = folders.iter().map(|folder| handle(folder)).collect();
    let worker = Worker::new(0)?;
    let worker = &worker;
    let mut rows = Vec::new();

    let mut warm: Vec<Contender<'_>> = Vec::new();
    for log in &open {
        let pairs = move || (0..PAIRS).try_for_each(|_| worker.acquire_and_release(log));
        warm.push(Box::new(move || timed(pairs)));
    }
    rows.extend(compare("acquire + release", &rounds(ROUNDS, &mut warm)?));

    let mut cold: Vec<Contender<'_>> = Vec::new();
    for folder in &folders {
        let pairs = move || (0..PAIRS).try_for_each(|_| worker.acquire_and_release(&handle(folder)));
        cold.push(Box::new(move || timed(pairs)));
    }
    rows.extend(compare("open + acquire + release", &rounds(ROUNDS, &mut cold)?));
    Ok(rows)
}

/// Compares the deeper logs with the one that is nearly empty.
fn compare(work: &str, times: &[Vec<Duration>]) -> Vec<Row> {
    let Some((shallow, deeper)) = times.split_first() else { return Vec::new() };
    let row = |(ours, (_, name)): (&Vec<Duration>, &(usize, &str))| {
        let per_pair = |times: &[Duration]| Spread::of_times(times).map(|spread| spread.divided(PAIRS));
        Some(Row::of_times(
            &format!("{work}, {name} records behind it"),
            ("10 records", per_pair(shallow)?),
            per_pair(ours)?,
            Spread::of_ratios(ours, shallow)?,
            AT_MOST,
        ))
    };
    deeper.iter().zip(DEPTHS.iter().skip(1)).filter_map(row).collect()
}
