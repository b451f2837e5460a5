//! A terminal that nobody sits at.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Stdio;
use std::thread::JoinHandle;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A terminal that nobody sits at: what a program writes to, and what reached it in the end.
#[derive(Debug)]
pub struct Screen {
    line: File,
    keys: File,
    reader: JoinHandle<String>,
}

impl Screen {
    /// A terminal with so many columns.
    ///
    /// # Panics
    /// If there is none to be had.
    #[must_use]
    pub fn new(columns: u16) -> Self {
        let (mut screen, line) = terminal(columns);
        let keys = screen.try_clone().unwrap();
        let reader = std::thread::spawn(move || {
            let (mut seen, mut piece) = (Vec::new(), [0; 4096]);
            // Once nobody has the other end any more, reading fails.
            while let Ok(got @ 1..) = screen.read(&mut piece) {
                seen.extend_from_slice(&piece[..got]);
            }
            String::from_utf8(seen).unwrap()
        });
        Self { line, keys, reader }
    }

    /// The other end, for a program.
    ///
    /// # Panics
    /// If it cannot be had twice.
    #[must_use]
    pub fn line(&self) -> Stdio {
        self.line.try_clone().unwrap().into()
    }

    /// What somebody types.
    ///
    /// # Panics
    /// If nobody can.
    pub fn press(&self, keys: &[u8]) {
        (&self.keys).write_all(keys).unwrap();
    }

    /// What reached the screen until every program had ended. Drop commands first: they keep their end.
    ///
    /// # Panics
    /// If it was no text.
    #[must_use]
    pub fn read(self) -> String {
        drop(self.line);
        self.reader.join().unwrap()
    }
}

/// A terminal with so many columns: the end that somebody sits at, and the one for programs. Whoever lets go of the
/// first one closes it.
///
/// # Panics
/// If there is none to be had.
#[must_use]
pub fn terminal(columns: u16) -> (File, File) {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    tcsetwinsize(&screen, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap();
    let no_ctty = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
    let mut line = OpenOptions::new();
    let line = line.read(true).write(true).custom_flags(no_ctty);
    let line = line.open(OsStr::from_bytes(name.as_bytes())).unwrap();
    (File::from(screen), line)
}
