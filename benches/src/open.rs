//! Opening a long log with its index, against opening one that has hardly begun: the index exists so that
//! nobody notices the difference.

use std::path::Path;

use holdfast_store::Medium;

use crate::fixture::{fill, handle};
use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, time};

const RECORDS: usize = 1_000_000;
const ROUNDS: usize = 51;
const AT_MOST_MORE: f64 = 0.005;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let (short, long) = (ground.folder("short")?, ground.folder("long")?);
    fill(&short, 2)?;
    fill(&long, RECORDS)?;
    let times = rounds(ROUNDS, &mut [opening(&short), opening(&long)])?;
    let [short, long] = times.as_slice() else { return Err("nothing was measured".into()) };
    let row = || {
        let (peer, ours) = (Spread::of_times(short)?, Spread::of_times(long)?);
        let more = ours.middle - peer.middle;
        Some(Row {
            work: format!("open a log of 1 M records with its index ({} more)", time(more.max(0.0))),
            peer: format!("an empty log {}", time(peer.middle)),
            ours: time(ours.middle),
            ratio: Spread::of_ratios(long, short),
            aim: Aim::bound("< 5 ms more", more < AT_MOST_MORE),
        })
    };
    row().map(|row| vec![row]).ok_or_else(|| "nothing was measured".into())
}

/// What a program does that was just started: a handle, and everything that is held.
fn opening(folder: &Path) -> Contender<'_> {
    Box::new(move || timed(|| Ok(handle(folder).view().map(drop)?)))
}
