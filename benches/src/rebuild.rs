//! Reading a long log whose index is lost, against reading its bytes: every number, hash and rule is
//! checked on the way.

use std::time::Duration;

use holdfast_store::Medium;

use crate::fixture::{fill, handle, paths};
use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, rate};

const RECORDS: usize = 1_000_000;
const ROUNDS: usize = 7;
const AT_LEAST: f64 = 1_000_000.0;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let folder = ground.folder("log")?;
    fill(&folder, RECORDS)?;
    let files = paths(&folder);
    std::fs::remove_file(&files.index)?;
    let floor: Contender<'_> = Box::new(|| {
        timed(|| {
            let bytes = std::fs::read(&files.log)?;
            if std::hint::black_box(bytes).is_empty() { Err("the log is empty".into()) } else { Ok(()) }
        })
    });
    // Looking at it writes nothing, so the index stays lost from round to round.
    let ours: Contender<'_> = Box::new(|| timed(|| Ok(handle(&folder).view().map(drop)?)));
    let times = rounds(ROUNDS, &mut [floor, ours])?;
    row(&times).map(|row| vec![row]).ok_or_else(|| "nothing was measured".into())
}

fn row(times: &[Vec<Duration>]) -> Option<Row> {
    let [floor, ours] = times else { return None };
    let per_second = |times: &[Duration]| Some(RECORDS as f64 / Spread::of_times(times)?.middle);
    let reached = per_second(ours)?;
    Some(Row {
        work: "rebuild a log of 1 M records without its index".into(),
        peer: format!("reading the bytes {}", rate(per_second(floor)?)),
        ours: rate(reached),
        ratio: Spread::of_ratios(ours, floor),
        aim: Aim::bound("≥ 1 M records/s", reached >= AT_LEAST),
    })
}
