//! What it takes to have `jit`: its size on the disk, and building it where nothing was built before. How soon it starts is
//! measured with its commands.

use std::path::Path;
use std::process::Stdio;

use crate::ground::{Failure, Ground, timed};
use crate::process::succeed;
use crate::row::{Aim, Row};

const PROGRAMS: [&str; 6] = ["jit", "jit-server", "jit-board", "jvs", "kc_cli", "ic"];
/// In seconds, on two processors that have nothing else to do.
const LONGEST_BUILD: f64 = 300.0;
/// What Linux counts the time of processes in.
const TICKS: f64 = 100.0;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let mut rows = sizes(ground)?;
    rows.push(build(ground)?);
    Ok(rows)
}

fn sizes(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let mut bytes = Vec::new();
    for name in PROGRAMS {
        let path = ground.target().join("release").join(name);
        let built = std::fs::metadata(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        bytes.push(built.len());
    }
    let row = |work: &str, bytes: u64| {
        let (peer, ours) = ("–".into(), size(bytes));
        Row { work: work.into(), peer, ours, ratio: None, aim: Aim::None }
    };
    let alone = bytes.first().copied().ok_or("there is no program")?;
    Ok(vec![row("jit on the disk", alone), row("all programs on the disk", bytes.iter().sum())])
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

/// With what was downloaded, and nothing that was built.
fn build(ground: &Ground) -> Result<Row, Failure> {
    let root = ground.target().parent().ok_or("there is no workspace around the target directory")?;
    let to = ground.folder("build")?;
    let before = of_children()?;
    let took = timed(|| cargo(root, &to))?.as_secs_f64();
    let worked = of_children()? - before;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Row {
        work: format!("build jit alone, from clean, {processors} processors"),
        peer: format!("processors at work {worked:.0} s"),
        ours: format!("{took:.0} s"),
        ratio: None,
        aim: Aim::bound("≤ 300 s on 2 processors", took <= LONGEST_BUILD),
    })
}

fn cargo(root: &Path, to: &Path) -> Result<(), Failure> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let words = ["build", "--release", "--quiet", "--locked", "--package", "holdfast-jit", "--bin", "jit"];
    // In the home of whoever asks: the compiler and what was downloaded are there.
    let mut cargo = std::process::Command::new(cargo);
    cargo.args(words).current_dir(root).env("CARGO_TARGET_DIR", to).env("CARGO_INCREMENTAL", "0");
    succeed(cargo.env_remove("RUSTC_WORKSPACE_WRAPPER").stdin(Stdio::null()))
}

/// How long processors worked for the processes that this one has waited for, and for theirs.
fn of_children() -> Result<f64, Failure> {
    let said = std::fs::read_to_string("/proc/self/stat")?;
    ticks(&said).map(|ticks| ticks / TICKS).ok_or_else(|| format!("/proc/self/stat says {said}").into())
}

/// The 16th and the 17th field; the second one, a name, may have anything in it.
fn ticks(said: &str) -> Option<f64> {
    let (_, fields) = said.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some(next()? + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_children_is_read() {
        let said = "42 (a) b) S 1 42 42 0 -1 4194304 1 2 3 4 500 600 7 8 20 0 1 0 100 1 1\n";
        assert_eq!(ticks(said), Some(15.0));
        assert_eq!(ticks("42 (a"), None);
    }

    #[test]
    fn sizes_are_shown_in_megabytes() {
        assert_eq!(size(7_361_024), "7.3 MB");
        assert_eq!(size(99_999), "0.0 MB");
    }
}
