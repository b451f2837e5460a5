//! One process that takes and gives back, against the least that two durable records can cost: appending
//! the same bytes to a bare file, one flush each.

use std::fs::OpenOptions;
use std::io::Write;

use crate::fixture::{Worker, fill, handle, lines};
use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::row::Row;
use crate::stats::Spread;

const ROUNDS: usize = 41;
const PAIRS: usize = 20;
const AT_MOST: f64 = 1.15;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let folder = ground.folder("log")?;
    fill(&folder, 2 * PAIRS)?;
    let records: Vec<Vec<u8>> = lines(&folder)?.into_iter().skip(1).collect();
    let mut bare = OpenOptions::new().create(true).append(true).open(ground.folder("bare")?.join("file"))?;
    let (log, worker) = (handle(&folder), Worker::new(0)?);

    let floor: Contender<'_> = Box::new(|| {
        timed(|| {
            for record in &records {
                bare.write_all(record)?;
                bare.sync_data()?;
            }
            Ok(())
        })
    });
    let ours: Contender<'_> =
        Box::new(|| timed(|| (0..PAIRS).try_for_each(|_| worker.acquire_and_release(&log))));
    let times = rounds(ROUNDS, &mut [floor, ours])?;
    row(&times).map(|row| vec![row]).ok_or_else(|| "nothing was measured".into())
}

fn row(times: &[Vec<std::time::Duration>]) -> Option<Row> {
    let [floor, ours] = times else { return None };
    let per_pair = |spread: Spread| spread.divided(PAIRS);
    Some(Row::of_times(
        "acquire + release, one process",
        ("append + fdatasync of the same bytes", per_pair(Spread::of_times(floor)?)),
        per_pair(Spread::of_times(ours)?),
        Spread::of_ratios(ours, floor)?,
        AT_MOST,
    ))
}
