//! Runs the benchmarks whose name contains the word given, or all of them, and prints one table. The same
//! table goes to `target/bench.md`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use holdfast_benches::ground::{Failure, Ground};
use holdfast_benches::row::Row;
use holdfast_benches::{BENCHES, Bench, table};

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let chosen: Vec<&Bench> = BENCHES.iter().filter(|bench| bench.name.contains(&wanted)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        eprintln!("no benchmark has `{wanted}` in its name; there are: {}", names.join(", "));
        return ExitCode::from(2);
    }
    match run(&chosen) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run(chosen: &[&Bench]) -> Result<(), Failure> {
    let target = target();
    let mut rows: Vec<Row> = Vec::new();
    for bench in chosen {
        eprintln!("measuring {} …", bench.name);
        let ground = Ground::new(&target, bench.name)?;
        rows.extend((bench.run)(&ground)?);
    }
    print!("{}", table::text(&rows));
    let page = target.join("bench.md");
    std::fs::write(&page, table::markdown(&rows))?;
    eprintln!("also in {}", page.display());
    Ok(())
}

/// The folder that this program was built into.
fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.ancestors().find(|folder| folder.ends_with("target"));
    folder.unwrap_or_else(|| Path::new("target")).to_path_buf()
}
