//! Waiting in line for one thing. Each waiter has a ticket file with a number, and holds a lock on it for as
//! long as it lives: whoever dies leaves the line with its last breath, and the others notice.

use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::{Guard, Handle, LockMode, Open, Sys};

use crate::agent::AgentId;
use crate::control::Access;
use crate::durable;
use crate::error::Result;

/// The line for one thing: an issue, or the turn to move a branch.
pub struct Queue {
    sys: Sys,
    directory: PathBuf,
    guard: PathBuf,
    access: Access,
}

/// A place in the line. Dropping it leaves the line.
pub struct Ticket<'a> {
    queue: &'a Queue,
    path: PathBuf,
    number: u64,
    _locked: Box<dyn Handle>,
}

impl Queue {
    /// The line of this name, which is a file's.
    #[must_use]
    pub fn new(sys: &Sys, control: &Path, line: &str, access: Access) -> Self {
        let locks = control.join("locks");
        let directory = locks.join("wait").join(line);
        Self { sys: sys.clone(), directory, guard: locks.join("wait.lock"), access }
    }

    /// Takes a place at the end of the line.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn join(&self, who: &AgentId) -> Result<Ticket<'_>> {
        let mut guard = Guard::open(&self.sys, &self.guard, self.access.file())?;
        let _section = guard.enter(&self.sys, LockMode::Exclusive)?;
        self.line_up(who)
    }

    /// Takes a place at the end of each of several lines at once: of two who want some of the same things, one comes
    /// first in every line that both stand in, so they never wait for each other.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn join_all<'q>(lines: &'q [Self], who: &AgentId) -> Result<Vec<Ticket<'q>>> {
        let Some(first) = lines.first() else { return Ok(Vec::new()) };
        let mut guard = Guard::open(&first.sys, &first.guard, first.access.file())?;
        let section = guard.enter(&first.sys, LockMode::Exclusive)?;
        let mut tickets = Vec::with_capacity(lines.len());
        let lined_up = lines.iter().try_for_each(|line| line.line_up(who).map(|ticket| tickets.push(ticket)));
        // Whoever gives a ticket back needs the lock.
        drop(section);
        lined_up.map(|()| tickets)
    }

    fn line_up(&self, who: &AgentId) -> Result<Ticket<'_>> {
        durable::make_dirs(&self.sys, &self.directory, self.access.directory())?;
        let number = self.numbers()?.last().map_or(1, |last| last + 1);
        let path = self.path(number);
        let handle = self.sys.files.open(&path, Open::New { mode: self.access.file() })?;
        // Nobody else can have opened it yet.
        handle.try_lock(LockMode::Exclusive)?;
        handle.write_all_at(who.to_string().as_bytes(), 0)?;
        Ok(Ticket { queue: self, path, number, _locked: handle })
    }

    /// Who stands before this ticket. Tickets of the dead are removed.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn ahead(&self, ticket: &Ticket<'_>) -> Result<Vec<String>> {
        let mut guard = Guard::open(&self.sys, &self.guard, self.access.file())?;
        let _section = guard.enter(&self.sys, LockMode::Exclusive)?;
        let mut ahead = Vec::new();
        for number in self.numbers()?.into_iter().filter(|number| *number < ticket.number) {
            ahead.extend(self.living(number)?);
        }
        Ok(ahead)
    }

    /// Who has the ticket with this number, if whoever it is lives.
    fn living(&self, number: u64) -> Result<Option<String>> {
        let path = self.path(number);
        let handle = match self.sys.files.open(&path, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            handle => handle?,
        };
        if handle.try_lock(LockMode::Exclusive)? {
            self.sys.files.remove_file(&path)?;
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&handle.read_from(0, 256)?).into_owned()))
    }

    /// The numbers of all tickets, sorted.
    fn numbers(&self) -> Result<Vec<u64>> {
        let names = match self.sys.files.list(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names?,
        };
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn path(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{number:010}"))
    }

    fn leave(&self, path: &Path) -> Result<()> {
        let mut guard = Guard::open(&self.sys, &self.guard, self.access.file())?;
        let _section = guard.enter(&self.sys, LockMode::Exclusive)?;
        self.sys.files.remove_file(path)?;
        // Others may be in it.
        let _ = self.sys.files.remove_dir(&self.directory);
        Ok(())
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        // A ticket that cannot be removed is a dead one as soon as its lock is gone.
        let _ = self.queue.leave(&self.path);
    }
}

/// The tickets of the dead in every line, removed if `remove` is set.
///
/// # Errors
/// When that cannot be told.
pub fn dead(sys: &Sys, control: &Path, remove: bool) -> Result<Vec<PathBuf>> {
    let locks = control.join("locks");
    let Some(mut guard) = Guard::open_existing(sys, &locks.join("wait.lock"), 0o600)? else {
        return Ok(Vec::new());
    };
    let _section = guard.enter(sys, LockMode::Exclusive)?;
    let mut found = Vec::new();
    for line in listed(sys, &locks.join("wait"))? {
        for ticket in listed(sys, &line)? {
            if sys.files.open(&ticket, Open::Read)?.try_lock(LockMode::Exclusive)? {
                if remove {
                    sys.files.remove_file(&ticket)?;
                }
                found.push(ticket);
            }
        }
        if remove {
            // Others may be in it.
            let _ = sys.files.remove_dir(&line);
        }
    }
    Ok(found)
}

/// Somebody who waits.
pub struct Waiting {
    /// The line.
    pub line: String,
    /// Who.
    pub who: String,
    /// The number of its ticket, which another one may have had before.
    pub number: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: i64,
}

/// Who waits for what, in each line in the order in which they came.
///
/// # Errors
/// When that cannot be told.
pub fn waiting(sys: &Sys, control: &Path) -> Result<Vec<Waiting>> {
    let locks = control.join("locks");
    let lines = listed(sys, &locks.join("wait"))?;
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let Some(mut guard) = Guard::open_existing(sys, &locks.join("wait.lock"), 0o600)? else {
        return Ok(Vec::new());
    };
    let _section = guard.enter(sys, LockMode::Exclusive)?;
    let mut found = Vec::new();
    for line in lines {
        let name = line.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for ticket in listed(sys, &line)? {
            let handle = sys.files.open(&ticket, Open::Read)?;
            if !handle.try_lock(LockMode::Exclusive)? {
                let who = String::from_utf8_lossy(&handle.read_from(0, 256)?).into_owned();
                let number = ticket.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let since_ms = handle.stat()?.modified_ms;
                found.push(Waiting { line: name.clone(), who, number, since_ms });
            }
        }
    }
    Ok(found)
}

fn listed(sys: &Sys, directory: &Path) -> Result<Vec<PathBuf>> {
    match sys.files.list(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        names => Ok(names?.into_iter().map(|name| directory.join(name)).collect()),
    }
}
