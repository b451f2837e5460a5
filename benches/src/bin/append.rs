//! The least that a process can do which keeps others out and makes a record durable: it takes a lock, appends, flushes and
//! gives the lock back, as often as it is told.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// About what one record of ours takes.
const RECORD: [u8; 256] = [b'x'; 256];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("no folder was given")?);
    let times: usize = args.next().ok_or("no number was given")?.parse()?;
    let guard = OpenOptions::new().create(true).append(true).open(folder.join("guard"))?;
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join("file"))?;
    for _ in 0..times {
        guard.lock()?;
        file.write_all(&RECORD)?;
        file.sync_data()?;
        guard.unlock()?;
    }
    Ok(())
}
