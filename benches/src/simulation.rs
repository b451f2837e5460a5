//! How many system calls the simulator goes through in a second, checkers included. It runs as a program of
//! its own, because it is built another way: what it kills is unwound.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::row::Row;
use crate::stats::Spread;

const SEEDS: &str = "200";
const ROUNDS: usize = 5;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let program = ground.target().join("debug").join("holdfast-sim");
    let mut calls = 0;
    let simulate: Contender<'_> = Box::new(|| timed(|| calls_of(&program).map(|count| calls = count)));
    let times = rounds(ROUNDS, &mut [simulate])?;
    row(&times, calls).map(|row| vec![row]).ok_or_else(|| "nothing was measured".into())
}

/// Runs the same seeds as always and says how many calls they were.
fn calls_of(program: &Path) -> Result<u64, Failure> {
    let ended = Command::new(program).args(["random", "--seeds", SEEDS]).output();
    let ended = ended.map_err(|why| format!("cannot start {}: {why}", program.display()))?;
    let text = String::from_utf8_lossy(&ended.stdout);
    if !ended.status.success() {
        return Err(format!("the simulator found something:\n{text}").into());
    }
    let counts = text.lines().last().and_then(|line| line.split(" calls").next());
    let calls = counts.and_then(|line| line.rsplit(' ').next()).and_then(|count| count.parse().ok());
    calls.ok_or_else(|| format!("the simulator does not say how many calls it made:\n{text}").into())
}

fn row(times: &[Vec<Duration>], calls: u64) -> Option<Row> {
    let seconds = Spread::of_times(times.first()?)?.middle;
    Some(Row::of_rate("simulated system calls, with checkers", calls as f64 / seconds))
}
