//! What it takes to have `jit`: its size on the disk, its start against that of a program that does nothing, and building it
//! where nothing was built before.

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{Floor, command, shipped, succeed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, time};

const PROGRAMS: [&str; 6] = ["jit", "jit-server", "jit-board", "jvs", "kc_cli", "ic"];
const ROUNDS: usize = 101;
const LONGEST_BUILD: f64 = 300.0;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let mut rows = sizes(ground)?;
    rows.push(start(ground)?);
    rows.push(build(ground)?);
    Ok(rows)
}

fn sizes(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let mut bytes = Vec::new();
    for name in PROGRAMS {
        bytes.push(std::fs::metadata(shipped(ground, name)?)?.len());
    }
    let row = |work: &str, bytes: u64| {
        let ours = format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000);
        Row { work: work.into(), peer: "–".into(), ours, ratio: None, aim: Aim::None }
    };
    let alone = bytes.first().copied().ok_or("there is no program")?;
    Ok(vec![row("jit on the disk", alone), row("all programs on the disk", bytes.iter().sum())])
}

fn start(ground: &Ground) -> Result<Row, Failure> {
    let (floor, at) = (Floor::new(ground)?, ground.folder("start")?);
    let jit = shipped(ground, "jit")?;
    let empty: Contender = Box::new(|| floor.process());
    let own: Contender = Box::new(|| timed(|| succeed(command(&jit, &at).arg("--version"))));
    let times = rounds(ROUNDS, &mut [empty, own])?;
    let [empty, own] = times.as_slice() else { return Err("nothing was measured".into()) };
    let row = || {
        let (peer, ours) = (Spread::of_times(empty)?, Spread::of_times(own)?);
        Some(Row {
            work: "jit --version".into(),
            peer: format!("an empty process {}", time(peer.middle)),
            ours: time(ours.middle),
            ratio: Spread::of_ratios(own, empty),
            aim: Aim::None,
        })
    };
    row().ok_or_else(|| "nothing was measured".into())
}

/// With what was downloaded, and nothing that was built.
fn build(ground: &Ground) -> Result<Row, Failure> {
    let root = ground.target().parent().ok_or("there is no workspace around the target directory")?;
    let to = ground.folder("build")?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let words = ["build", "--release", "--quiet", "--locked", "--package", "holdfast-jit", "--bin", "jit"];
    // The machine's own home: cargo and the compiler are there.
    let took = timed(|| {
        let mut cargo = std::process::Command::new(&cargo);
        cargo
            .args(words)
            .current_dir(root)
            .env("CARGO_TARGET_DIR", &to)
            .env_remove("RUSTC_WORKSPACE_WRAPPER");
        succeed(cargo.env_remove("CARGO_MANIFEST_DIR").stdin(std::process::Stdio::null()))
    })?;
    let seconds = took.as_secs_f64();
    Ok(Row {
        work: "build jit alone, from clean".into(),
        peer: "–".into(),
        ours: format!("{seconds:.0} s"),
        ratio: None,
        aim: Aim::bound("≤ 5 minutes on 2 cores", seconds <= LONGEST_BUILD),
    })
}
