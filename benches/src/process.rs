//! Programs as they are shipped, run as somebody at a shell runs them, and the floor under them.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::ground::{Contender, Failure, Ground, timed};

/// About what one record of ours takes.
const RECORD: [u8; 256] = [b'x'; 256];

/// A program of ours as it is installed: built to be shipped, and copied. A copy starts sooner than what the
/// linker wrote, because the system has it in memory in larger pieces.
///
/// # Errors
/// When it was not built, or there is no room.
pub fn shipped(ground: &Ground, name: &str) -> Result<PathBuf, Failure> {
    let (built, place) = (ground.target().join("release").join(name), ground.folder("bin")?.join(name));
    if !place.exists() {
        std::fs::copy(&built, &place).map_err(|why| format!("cannot install {}: {why}", built.display()))?;
    }
    Ok(place)
}

/// A command that finds nothing of the machine's own settings.
#[must_use]
pub fn command(program: impl AsRef<Path>, at: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(at).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.env("HOME", at).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command
}

/// Runs a command that has to succeed.
///
/// # Errors
/// What it said when it did not.
pub fn succeed(command: &mut Command) -> Result<(), Failure> {
    let ended = command.output().map_err(|why| format!("cannot start {:?}: {why}", command.get_program()))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    Err(format!("{command:?} ended with {}: {said}", ended.status).into())
}

/// The floor under a command that makes one record durable: an empty process, then one append and a flush.
pub struct Floor {
    empty: PathBuf,
    at: PathBuf,
    file: File,
}

impl Floor {
    /// The floor in a folder of the ground.
    ///
    /// # Errors
    /// When there is no room.
    pub fn new(ground: &Ground) -> Result<Self, Failure> {
        let at = ground.folder("floor")?;
        let file = OpenOptions::new().create(true).append(true).open(at.join("file"))?;
        Ok(Self { empty: shipped(ground, "empty")?, at, file })
    }

    /// How long an empty process takes.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn process(&self) -> Result<Duration, Failure> {
        timed(|| succeed(&mut command(&self.empty, &self.at)))
    }

    /// How long an empty process and one durable append take.
    ///
    /// # Errors
    /// When one of them fails.
    pub fn durable(&mut self) -> Result<Duration, Failure> {
        timed(|| {
            succeed(&mut command(&self.empty, &self.at))?;
            self.file.write_all(&RECORD)?;
            Ok(self.file.sync_data()?)
        })
    }

    /// [`Floor::durable`] as a contender.
    pub fn contender(&mut self) -> Contender<'_> {
        Box::new(|| self.durable())
    }
}
