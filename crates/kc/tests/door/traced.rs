//! What a program really wrote and flushed, call by call, as strace saw it; and what of that a disk may have when
//! the power goes in between. A disk keeps what was flushed. Of everything else each sector is kept or lost on its
//! own, and so is whether a file is there.

use std::collections::BTreeMap;
use std::path::Path;

const SECTOR: usize = 512;

/// One call that matters.
#[derive(Debug)]
pub(crate) enum Call {
    Made(String),
    Removed(String),
    Wrote {
        file: String,
        bytes: Vec<u8>,
        at: usize,
    },
    Cut {
        file: String,
        len: usize,
    },
    Flushed(String),
    /// The names in the directory were flushed.
    FlushedNames,
    /// So many answers were given.
    Answered(usize),
}

/// The calls in a log of `strace -y -xx` that are about the files in `vault`, which is called so in full.
pub(crate) fn calls(log: &str, vault: &Path) -> Vec<Call> {
    log.lines().filter_map(|line| call(line, vault)).collect()
}

fn call(line: &str, vault: &Path) -> Option<Call> {
    let (_, line) = line.split_once(' ')?;
    let (name, rest) = line.trim_start().split_once('(')?;
    let (rest, result) = rest.rsplit_once(") = ")?;
    let told = rest.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map(|(path, _)| unhex(path));
    let text = rest.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map(|(text, _)| unhex(text));
    let file = |path: Option<Vec<u8>>| {
        let path = String::from_utf8(path?).ok()?;
        let name = Path::new(&path).strip_prefix(vault).ok()?.to_str()?.to_owned();
        // What SQLite keeps for running processes is made anew after a crash.
        (!name.ends_with("-shm")).then_some(name)
    };
    let last = || rest.rsplit_once(", ").and_then(|(_, number)| number.parse().ok());
    match name {
        "openat" if rest.contains("O_CREAT") => Some(Call::Made(file(text)?)),
        "unlink" => Some(Call::Removed(file(text)?)),
        "pwrite64" => {
            let mut bytes = text?;
            bytes.truncate(result.parse().ok()?);
            Some(Call::Wrote { file: file(told)?, bytes, at: last()? })
        }
        "ftruncate" => Some(Call::Cut { file: file(told)?, len: last()? }),
        "fsync" | "fdatasync" => match file(told)? {
            name if name.is_empty() => Some(Call::FlushedNames),
            name => Some(Call::Flushed(name)),
        },
        "write" if rest.starts_with("1<") => {
            Some(Call::Answered(text?.iter().filter(|byte| **byte == b'\n').count()))
        }
        _ => None,
    }
}

/// The bytes that strace wrote as `\x41\x42`.
fn unhex(text: &str) -> Vec<u8> {
    text.split("\\x").skip(1).map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}

/// A file on the disk.
#[derive(Clone, Default)]
struct File {
    flushed: Vec<u8>,
    /// What was done since: bytes and where, or a length.
    since: Vec<(usize, Option<Vec<u8>>)>,
    is_there: bool,
    is_there_for_good: bool,
}

/// What a disk has, and may have.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    files: BTreeMap<String, File>,
}

impl Disk {
    /// A disk that has had all the time in the world to write these files.
    pub(crate) fn new(files: &BTreeMap<String, Vec<u8>>) -> Self {
        let file = |bytes: &Vec<u8>| {
            let (is_there, is_there_for_good) = (true, true);
            File { flushed: bytes.clone(), since: Vec::new(), is_there, is_there_for_good }
        };
        Self { files: files.iter().map(|(name, bytes)| (name.clone(), file(bytes))).collect() }
    }

    pub(crate) fn apply(&mut self, call: &Call) {
        match call {
            Call::Made(name) => self.file(name).is_there = true,
            Call::Removed(name) => self.file(name).is_there = false,
            Call::Wrote { file, bytes, at } => self.file(file).since.push((*at, Some(bytes.clone()))),
            Call::Cut { file, len } => self.file(file).since.push((*len, None)),
            Call::Flushed(name) => {
                let file = self.file(name);
                file.flushed = file.after(&mut |_| true);
                file.since.clear();
            }
            Call::FlushedNames => {
                self.files.values_mut().for_each(|file| file.is_there_for_good = file.is_there);
            }
            Call::Answered(_) => {}
        }
    }

    fn file(&mut self, name: &str) -> &mut File {
        self.files.entry(name.to_owned()).or_default()
    }

    /// Whether nothing can be lost: every file that is there was flushed, and so was its name.
    pub(crate) fn is_settled(&self) -> bool {
        let settled = |file: &File| file.since.is_empty() && file.is_there_for_good;
        self.files.values().filter(|file| file.is_there).all(settled)
    }

    /// What is left when the power goes, where `keeps` says of each thing whether it is.
    pub(crate) fn without_power(&self, keeps: &mut dyn FnMut() -> bool) -> BTreeMap<String, Vec<u8>> {
        let mut left = BTreeMap::new();
        for (name, file) in &self.files {
            let changed = file.is_there != file.is_there_for_good;
            if if changed && !keeps() { file.is_there_for_good } else { file.is_there } {
                left.insert(name.clone(), file.after(&mut |_| keeps()));
            }
        }
        left
    }
}

impl File {
    /// The content with as much of what was not flushed as is kept.
    fn after(&self, keeps: &mut dyn FnMut(usize) -> bool) -> Vec<u8> {
        let mut content = self.flushed.clone();
        for (at, bytes) in &self.since {
            match bytes {
                None if keeps(*at) => content.resize(*at, 0),
                None => {}
                Some(bytes) => write(&mut content, bytes, *at, keeps),
            }
        }
        content
    }
}

fn write(content: &mut Vec<u8>, bytes: &[u8], at: usize, keeps: &mut dyn FnMut(usize) -> bool) {
    let mut from = 0;
    while from < bytes.len() {
        let to = bytes.len().min(from + SECTOR - (at + from) % SECTOR);
        if keeps(at + from) {
            content.resize(content.len().max(at + to), 0);
            content[at + from..at + to].copy_from_slice(&bytes[from..to]);
        }
        from = to;
    }
}
