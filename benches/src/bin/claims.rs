//! A process that takes something and gives it back in a log of claims, as often as it is told.

use std::path::PathBuf;

fn main() -> Result<(), holdfast_benches::ground::Failure> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("no folder was given")?);
    let times: usize = args.next().ok_or("no number was given")?.parse()?;
    let number: usize = args.next().ok_or("no number of its own was given")?.parse()?;
    holdfast_benches::crowd::work(&folder, times, number)
}
