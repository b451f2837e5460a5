//! Many threads on one handle: whoever waits for a flush shares it, so more writers get more done.

use std::time::Duration;

use crate::fixture::{Worker, handle};
use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, rate};

const WRITERS: [usize; 5] = [1, 2, 4, 8, 16];
const ROUNDS: usize = 15;

/// Pairs of operations in a round, however many share them.
const PAIRS: usize = 64;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let folder = ground.folder("log")?;
    let log = handle(&folder);
    let workers: Vec<Worker> = (0..16).map(Worker::new).collect::<Result<_, _>>()?;
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for writers in WRITERS {
        let (log, team) = (&log, workers.get(..writers).unwrap_or_default());
        contenders.push(Box::new(move || timed(|| together(team, |worker| worker.acquire_and_release(log)))));
    }
    let times = rounds(ROUNDS, &mut contenders)?;
    let rows: Option<Vec<Row>> =
        times.iter().enumerate().map(|(index, ours)| row(&times, index, ours)).collect();
    rows.ok_or_else(|| "nothing was measured".into())
}

/// Lets the team share the pairs of a round, each worker in a thread of its own.
fn together(team: &[Worker], pair: impl Fn(&Worker) -> Result<(), Failure> + Sync) -> Result<(), Failure> {
    let each = PAIRS / team.len();
    std::thread::scope(|scope| {
        let pair = &pair;
        let threads: Vec<_> =
            team.iter().map(|worker| scope.spawn(move || (0..each).try_for_each(|_| pair(worker)))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a writer panicked")?)
    })
}

/// Compares with half as many writers.
fn row(times: &[Vec<Duration>], index: usize, ours: &[Duration]) -> Option<Row> {
    let writers = WRITERS.get(index)?;
    let named = |count: usize| format!("{count} writer{}", if count == 1 { "" } else { "s" });
    let work = format!("operations of {} on one log", named(*writers));
    let per_second = |times: &[Duration]| Some((2 * PAIRS) as f64 / Spread::of_times(times)?.middle);
    let Some(fewer) = index.checked_sub(1).and_then(|before| times.get(before)) else {
        return Some(Row::of_rate(&work, per_second(ours)?));
    };
    let gain = Spread::of_ratios(fewer, ours)?;
    Some(Row {
        work,
        peer: format!("{} {}", named(writers / 2), rate(per_second(fewer)?)),
        ours: rate(per_second(ours)?),
        ratio: Some(gain),
        aim: Aim::bound("grows (> 1×)", gain.middle > 1.0),
    })
}
