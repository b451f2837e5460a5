//! Runs the benchmarks whose name contains one of the words given, or all of them, and prints one table. The same
//! table goes to `target/bench.md`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use holdfast_benches::ground::{Failure, Ground};
use holdfast_benches::row::Row;
use holdfast_benches::{BENCHES, Bench, table};

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &String, bench: &Bench| bench.name.contains(word.as_str());
    if let Some(word) = wanted.iter().find(|word| !BENCHES.iter().any(|bench| has(word, bench))) {
        let names: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        eprintln!("no benchmark has `{word}` in its name; there are: {}", names.join(", "));
        return ExitCode::from(2);
    }
    let is_wanted = |bench: &&Bench| wanted.is_empty() || wanted.iter().any(|word| has(word, bench));
    let chosen: Vec<&Bench> = BENCHES.iter().filter(is_wanted).collect();
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
