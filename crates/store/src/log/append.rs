//! Writing: what becomes durable, in which order, and what happens when it does not. Everything here runs
//! inside the exclusive section.

use holdfast_kernel::{Answer, Command, Event, Fence, Policy, Refusal, Stamp, Table, apply, decide};
use holdfast_sys::Open;

use super::Log;
use super::chain::{self, Link};
use super::index::{IndexFile, Keep};
use super::observer::Recorded;
use super::scan::Cursor;
use super::segment::Header;
use super::state::State;
use crate::json::Words;
use crate::json::write::{self, MOST_TOGETHER, Spot};
use crate::{CounterId, Error, Plan, Record, Result, View, check_decision};

/// Whoever is alone with the log.
pub(super) struct Writer<'a> {
    pub(super) log: &'a Log,
    pub(super) state: Option<State>,
    pub(super) index: &'a mut IndexFile,
}

impl Writer<'_> {
    /// Decides the commands in their order, up to the first answer at which to `stop`, makes all events
    /// durable with one write, and answers.
    pub(super) fn commit(
        &mut self,
        requests: &[(Policy, Command)],
        stop: &dyn Fn(&Result<Answer>) -> bool,
    ) -> Result<Vec<Result<Answer>>> {
        let now = self.log.sys.clock.now()?;
        self.state = self.log.current(self.state.take(), self.index)?;
        if self.state.is_none() {
            // Whoever is refused leaves nothing behind, not even an empty log.
            if let Some(answers) = without_events(requests, stop, &now) {
                return Ok(answers);
            }
            self.open()?;
        }
        let words = &self.log.settings.words;
        let cursor = &mut self.opened()?.cursor;
        let mut batch = Batch::after(cursor)?;
        let before = cursor.sequence;
        let mut answers = Vec::with_capacity(requests.len());
        for (policy, command) in requests {
            let answer = batch.add(cursor, words, policy, command, &now)?;
            let enough = stop(&answer);
            answers.push(answer);
            if enough {
                break;
            }
        }
        let wrote = if cursor.sequence > before {
            self.append(&batch)?;
            true
        } else {
            // An answer must not rest on what a crash could still take away.
            answers.iter().any(Result::is_ok) && self.settle()?
        };
        if let Some((policy, _)) = requests.last().filter(|_| wrote) {
            self.write_index(policy, batch.lines.len() as u64, &now)?;
        }
        self.tell(&batch.records);
        Ok(answers)
    }

    /// Decides the commands of a plan in their order and makes all their events durable in one write that counts as a
    /// whole. If one is refused, nothing is written, and what is known of the log is forgotten.
    pub(super) fn commit_together(&mut self, policy: &Policy, plan: &Plan<'_>) -> Result<Vec<Answer>> {
        let now = self.log.sys.clock.now()?;
        self.state = self.log.current(self.state.take(), self.index)?;
        let commands = self.planned(plan, &now)?;
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        if self.state.is_none() {
            // Whoever is refused leaves nothing behind, not even an empty log.
            decided(&mut Table::new(), policy, &commands, &now, Fence::FIRST)?;
            self.open()?;
        }
        let words = &self.log.settings.words;
        let cursor = &mut self.opened()?.cursor;
        let first = next(cursor)?;
        let (records, answers) = decided(&mut cursor.table, policy, &commands, &now, first)?;
        let mut batch = Batch::after(cursor)?;
        let count = records.len() as u64;
        if count > MOST_TOGETHER {
            let (path, what) = (self.log.paths.log.clone(), "more than 65,536 changes in one step");
            return Err(Error::Unsupported { path, what });
        }
        let counted = Some(count).filter(|count| *count > 1 && commands.len() > 1);
        for record in records {
            let together = counted.filter(|_| record.sequence == first);
            batch.line(words, &record.event, record.sequence, together);
            cursor.sequence = record.sequence.get();
            batch.records.push(record);
        }
        let wrote = if count > 0 {
            self.append(&batch)?;
            true
        } else {
            // An answer must not rest on what a crash could still take away.
            self.settle()?
        };
        if wrote {
            self.write_index(policy, batch.lines.len() as u64, &now)?;
        }
        self.tell(&batch.records);
        Ok(answers)
    }

    /// What a plan asks for, shown what is known of the log.
    fn planned(&mut self, plan: &Plan<'_>, now: &Stamp) -> Result<Vec<Command>> {
        let now = *now;
        let Some(State { cursor, .. }) = &mut self.state else {
            return plan(&View { table: Table::new(), counter: None, next: Fence::FIRST, now });
        };
        let (counter, next) = (Some(cursor.log), next(cursor)?);
        // The table is lent: to copy it would cost every grant as much as there are leases.
        let view = View { table: std::mem::take(&mut cursor.table), counter, next, now };
        let commands = plan(&view);
        cursor.table = view.table;
        commands
    }

    /// Tells whoever watches the log what became durable.
    pub(super) fn tell(&self, records: &[Record]) {
        if let (Some(observer), Some(State { cursor, .. })) = (&self.log.observer, &self.state) {
            observer.recorded(&Recorded { log: self.log, cursor, records });
        }
    }

    /// Makes sure that what was read of the log is durable; says whether that took a write. A writer that
    /// died or failed may have left its last append in memory only, even where a later flush of it would
    /// report success; so it is written again.
    pub(super) fn settle(&mut self) -> Result<bool> {
        self.open()?;
        let cursor = &self.opened()?.cursor;
        let doubtful = cursor.doubtful.is_some();
        if doubtful {
            let nothing = Batch::after(cursor)?;
            self.append(&nothing)?;
        }
        Ok(doubtful)
    }

    /// Reads the log, making one if there never was one.
    pub(super) fn open(&mut self) -> Result<()> {
        self.state = self.log.current(self.state.take(), self.index)?;
        if self.state.is_none() {
            self.create()?;
            self.state = self.log.current(None, self.index)?;
        }
        Ok(())
    }

    pub(super) fn opened(&mut self) -> Result<&mut State> {
        let gone = || Error::damaged(&self.log.paths.log, "the whole of it", "it vanished while it was open");
        self.state.as_mut().ok_or_else(gone)
    }

    fn create(&self) -> Result<()> {
        let now = self.log.sys.clock.now()?;
        let log = CounterId::new(self.log.sys.entropy.lease_id(&now)?);
        let header = Header { log, segment: 1, sequence: 0, before: Link::START, table: Table::new() };
        let path = self.write_segment(&header, &now)?;
        self.log.sys.files.rename_new(&path, &self.log.paths.log)?;
        Ok(self.log.sys.files.sync_dir(self.log.paths.directory())?)
    }

    /// Writes a segment that consists of its first line to a file beside the log, durably.
    pub(super) fn write_segment(&self, header: &Header, now: &Stamp) -> Result<std::path::PathBuf> {
        let (line, _) = header.line(&self.log.settings.words, now);
        self.write_beside("new", &line)
    }

    /// Writes a file of its own beside the log, durably, and says where.
    pub(super) fn write_beside(&self, kind: &str, bytes: &[u8]) -> Result<std::path::PathBuf> {
        let sys = &self.log.sys;
        let path = self.log.paths.beside(&format!(".{kind}-{:032x}", sys.entropy.nonce()?));
        let handle = sys.files.open(&path, Open::New { mode: self.log.settings.mode })?;
        if let Err(error) = handle.write_all_at(bytes, 0).and_then(|()| handle.sync()) {
            // It is of no use to anybody half-written; if it cannot be removed either, it harms nobody.
            let _ = sys.files.remove_file(&path);
            return Err(error.into());
        }
        Ok(path)
    }

    /// Makes `batch` durable behind the last good line.
    fn append(&mut self, batch: &Batch) -> Result<()> {
        if let Some(why) = &self.opened()?.unwritable {
            return Err(why.again().into());
        }
        self.set_torn_tail_aside()?;
        let sys = &self.log.sys;
        let paths = &self.log.paths;
        let state = self.opened()?;
        let end = state.cursor.len;
        let again = match state.cursor.doubtful {
            Some(from) => state.handle.read_from(from, usize::try_from(end - from).unwrap_or(usize::MAX))?,
            None => Vec::new(),
        };
        if let Some(from) = state.cursor.doubtful.filter(|_| !again.is_empty()) {
            // First and by itself: parts of one write reach the disk in any order, and a line of a later append behind a
            // broken one means that the broken one was acknowledged.
            state.handle.write_all_at(&again, from).and_then(|()| state.handle.sync())?;
        }
        if again.is_empty() || !batch.lines.is_empty() {
            let written = state.handle.write_all_at(&batch.lines, end).and_then(|()| state.handle.sync());
            if let Err(error) = written {
                // Nobody was told of it, so nobody shall find it. Should that fail too, whoever reads it next
                // takes it for a last append of doubtful durability, which it is.
                let _ = state.handle.truncate(end).and_then(|()| state.handle.sync());
                return Err(error.into());
            }
        }
        if state.cursor.doubtful.take().is_some() {
            // The name of a log that was just made may be as doubtful as its content.
            sys.files.sync_dir(paths.directory())?;
        }
        state.cursor.len = end + batch.lines.len() as u64;
        state.cursor.link = batch.link;
        Ok(())
    }

    /// Keeps what a crash left behind the last good line in a file of its own, and cuts it off.
    pub(super) fn set_torn_tail_aside(&mut self) -> Result<()> {
        let state = self.opened()?;
        let Some(len) = state.torn else { return Ok(()) };
        let end = state.cursor.len;
        let tail = state.handle.read_from(end, usize::try_from(len - end).unwrap_or(usize::MAX))?;
        self.write_beside("torn", &tail)?;
        self.log.sys.files.sync_dir(self.log.paths.directory())?;
        let state = self.opened()?;
        state.handle.truncate(end)?;
        state.torn = None;
        Ok(())
    }

    /// Brings the index up to date with the log.
    pub(super) fn write_index(&mut self, policy: &Policy, written: u64, now: &Stamp) -> Result<()> {
        let log = self.log;
        let keep = Keep {
            path: &log.paths.index,
            mode: log.settings.mode,
            words: &log.settings.words,
            fsync: log.settings.fsync_index,
        };
        let Some(state) = &self.state else { return Ok(()) };
        self.index.update(&log.sys, &keep, &state.cursor, written, policy.stale_after, now);
        Ok(())
    }
}

/// What commands on an empty log are told, if they change nothing.
fn without_events(
    requests: &[(Policy, Command)],
    stop: &dyn Fn(&Result<Answer>) -> bool,
    now: &Stamp,
) -> Option<Vec<Result<Answer>>> {
    let mut answers = Vec::with_capacity(requests.len());
    for (policy, command) in requests {
        let answer = match decide(&Table::new(), policy, command, now, Fence::FIRST) {
            Ok(decision) if decision.events.is_empty() => Ok(decision.answer),
            Ok(_) => return None,
            Err(refusal) => Err(refusal.into()),
        };
        let enough = stop(&answer);
        answers.push(answer);
        if enough {
            break;
        }
    }
    Some(answers)
}

/// What commands cause one after the other, put into the table, and what their callers are told; the refusal of the
/// first that is refused.
fn decided(
    table: &mut Table,
    policy: &Policy,
    commands: &[Command],
    now: &Stamp,
    first: Fence,
) -> Result<(Vec<Record>, Vec<Answer>)> {
    let exhausted = || Error::Refused(Refusal::FencesExhausted);
    let mut records: Vec<Record> = Vec::new();
    let mut answers = Vec::with_capacity(commands.len());
    for command in commands {
        let position = first.plus(records.len() as u64).ok_or_else(exhausted)?;
        let decision = decide(table, policy, command, now, position)?;
        check_decision(command, position, &decision);
        for event in &decision.events {
            let sequence = first.plus(records.len() as u64).ok_or_else(exhausted)?;
            let misfit = |what: &dyn std::fmt::Display| {
                Error::damaged(std::path::Path::new("the table"), "a decision", what)
            };
            let record = Record::of(sequence, event, table);
            records.push(record.ok_or_else(|| misfit(&"it is about a lease that is not there"))?);
            apply(table, event).map_err(|error| misfit(&error))?;
        }
        answers.push(decision.answer);
    }
    Ok((records, answers))
}

/// The number that the next line will have.
pub(super) fn next(cursor: &Cursor) -> Result<Fence> {
    Fence::new(cursor.sequence + 1).map_err(|_| Error::Refused(Refusal::FencesExhausted))
}

/// Lines that become durable together.
struct Batch {
    /// The number of the first one.
    first: Fence,
    lines: Vec<u8>,
    /// The hash of the last one.
    link: Link,
    /// What they say.
    records: Vec<Record>,
}

impl Batch {
    /// No lines yet, behind what has been read.
    fn after(cursor: &Cursor) -> Result<Self> {
        Ok(Self { first: next(cursor)?, lines: Vec::new(), link: cursor.link, records: Vec::new() })
    }

    /// Adds the line of an event.
    fn line(&mut self, words: &Words, event: &Event, sequence: Fence, together: Option<u64>) {
        let start = self.lines.len();
        write::event(&mut self.lines, words, event, &Spot { sequence, batch: self.first, together });
        self.link = chain::seal(&mut self.lines, start, self.link);
    }

    /// Decides a command and adds the lines of its events. What it changes in the cursor is true only
    /// once the batch is durable.
    fn add(
        &mut self,
        cursor: &mut Cursor,
        words: &Words,
        policy: &Policy,
        command: &Command,
        now: &Stamp,
    ) -> Result<Result<Answer>> {
        let position = next(cursor)?;
        let decision = match decide(&cursor.table, policy, command, now, position) {
            Ok(decision) => decision,
            Err(refusal) => return Ok(Err(refusal.into())),
        };
        check_decision(command, position, &decision);
        for event in &decision.events {
            let sequence = next(cursor)?;
            self.line(words, event, sequence, None);
            self.records.extend(Record::of(sequence, event, &cursor.table));
            apply(&mut cursor.table, event)
                .map_err(|error| Error::damaged(std::path::Path::new("the table"), "a decision", error))?;
            cursor.sequence = sequence.get();
        }
        Ok(Ok(decision.answer))
    }
}
