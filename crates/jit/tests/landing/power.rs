//! Landing cut off by a power loss. A command is stopped behind every flush that it makes, and the disk is looked at. From
//! what was flushed by then and what was not, images are made of what a disk may hold after the next moment: of the names
//! that changed since any may be missing, and of the contents that changed any may be the old ones, or none at all. In each
//! image the command is typed again.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_trial::{Answer, Dice, has, until};

use crate::bench::JIT;
use crate::cuts::lands_once;
use crate::ground::{Agent, Ground, is_long, pair};

/// Which file it is, however it is called: its number, and when it was made, because numbers are used again.
type File = (u64, u128);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Thing {
    Directory,
    Link(PathBuf),
    File(File, u32),
}

/// What a disk holds.
#[derive(Clone, Default)]
struct Disk {
    names: BTreeMap<PathBuf, Thing>,
    contents: BTreeMap<File, Vec<u8>>,
}

impl Disk {
    fn read(root: &Path) -> Self {
        let mut disk = Self::default();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(root.join(&folder)).unwrap() {
                let entry = entry.unwrap();
                let (name, path) = (folder.join(entry.file_name()), entry.path());
                let stat = std::fs::symlink_metadata(&path).unwrap();
                let thing = if stat.is_dir() {
                    open.push(name.clone());
                    Thing::Directory
                } else if stat.is_symlink() {
                    Thing::Link(std::fs::read_link(&path).unwrap())
                } else {
                    let born =
                        stat.created().ok().and_then(|born| born.duration_since(std::time::UNIX_EPOCH).ok());
                    let file = (stat.ino(), born.map_or(0, |born| born.as_nanos()));
                    disk.contents.insert(file, std::fs::read(&path).unwrap());
                    Thing::File(file, stat.permissions().mode())
                };
                disk.names.insert(name, thing);
            }
        }
        disk
    }

    /// Puts this in the place of what is there.
    fn write(&self, root: &Path) {
        for entry in std::fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            let removed =
                if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            removed.unwrap();
        }
        for (name, thing) in &self.names {
            let path = root.join(name);
            // Without its directory a name leads nowhere.
            if !path.parent().unwrap().is_dir() {
                continue;
            }
            match thing {
                Thing::Directory => std::fs::create_dir(&path).unwrap(),
                Thing::Link(to) => std::os::unix::fs::symlink(to, &path).unwrap(),
                Thing::File(file, mode) => {
                    std::fs::write(&path, self.contents.get(file).map_or(&[][..], Vec::as_slice)).unwrap();
                    // Everything was written before the machine was started again.
                    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
                    std::fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
                    std::fs::set_permissions(&path, PermissionsExt::from_mode(*mode)).unwrap();
                }
            }
        }
    }

    /// What is durable once `path` was flushed, and nothing else.
    fn flushed(&self, path: &Path, now: &Self) -> Self {
        let mut durable = self.clone();
        match now.names.get(path) {
            Some(Thing::File(file, _)) => {
                durable.contents.insert(*file, now.contents[file].clone());
            }
            _ => {
                let is_in = |name: &PathBuf| name.parent() == Some(path);
                durable.names.retain(|name, _| !is_in(name));
                durable.names.extend(now.names.clone().into_iter().filter(|(name, _)| is_in(name)));
            }
        }
        durable
    }

    /// A disk after a power loss, where this is what was durable: `pick` says of each change whether it is there.
    fn torn(&self, now: &Self, mut pick: impl FnMut(Change) -> bool) -> Self {
        let mut torn = self.clone();
        // Git relies on names becoming durable in the order in which they were given; here all or none of them are.
        let has_gits = pick(Change::Name);
        let names: BTreeSet<&PathBuf> = self.names.keys().chain(now.names.keys()).collect();
        for name in names.into_iter().filter(|name| self.names.get(*name) != now.names.get(*name)) {
            if if is_gits(name) { has_gits } else { pick(Change::Name) } {
                match now.names.get(name) {
                    Some(thing) => {
                        if let (Thing::File(file, _), Some(Thing::File(..)), true) =
                            (thing, self.names.get(name), is_gits(name))
                        {
                            torn.contents.insert(*file, now.contents[file].clone());
                        }
                        drop(torn.names.insert(name.clone(), thing.clone()));
                    }
                    None => drop(torn.names.remove(name)),
                }
            }
        }
        for (file, content) in
            now.contents.iter().filter(|(file, content)| self.contents.get(file) != Some(content))
        {
            if pick(Change::Content) {
                torn.contents.insert(*file, content.clone());
            }
        }
        torn
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    Name,
    Content,
}

/// Whether a file is git's own. Of those that replace another one git relies on the file system to have the content there
/// with the name, as they all do by now: there is no way to have it flush HEAD.
fn is_gits(name: &Path) -> bool {
    let mut parts = name.components().map(|part| part.as_os_str().to_string_lossy());
    parts.any(|part| part == ".git") && parts.next().is_some_and(|part| part != "jit")
}

/// A moment between two flushes: what was durable before, and all that was written until then.
struct Moment {
    what: String,
    durable: Disk,
    now: Disk,
}

/// What strace says of a thread that was stopped.
const STOPPED: &str = "--- stopped by SIGSTOP";

/// What a thread was stopped behind, and which one: its flush. The other threads of its process are stopped with it, and
/// have made none.
fn stops<'a>(log: &'a str, calls: &str) -> Vec<(&'a str, &'a str)> {
    let is_flush = |line: &str| calls.split(',').any(|call| line.contains(&format!(" {call}(")));
    let mut flushes = BTreeMap::new();
    let mut stops = Vec::new();
    for line in log.lines() {
        let thread = line.split_whitespace().next().unwrap_or_default();
        if is_flush(line) {
            flushes.insert(thread, line);
        } else if line.contains(STOPPED) {
            stops.extend(flushes.remove(thread).map(|flush| (thread, flush)));
        }
    }
    stops
}

#[test]
fn only_the_thread_that_flushed_is_taken_for_stopped() {
    let log = "7 fsync(3</a>) = 0 (INJECTED)\n7 --- SIGSTOP {si_signo=SIGSTOP} ---\n8 --- stopped by SIGSTOP ---\n\
               7 --- stopped by SIGSTOP ---\n8 --- SIGCONT {si_signo=SIGCONT} ---\n7 fdatasync(4</b> <unfinished ...>\n";
    assert_eq!(stops(log, "fsync,fdatasync"), [("7", "7 fsync(3</a>) = 0 (INJECTED)")]);
}

/// Runs a command that is stopped behind each of its flushes.
fn watched(agent: &Agent<'_>, args: &[&str]) -> Vec<Moment> {
    let root = agent.ground.bench.root();
    let beside = tempfile::tempdir().unwrap();
    let log = beside.path().join("log");
    let mut strace = agent.ground.bench.dressed(Command::new("strace"));
    let calls = "fsync,fdatasync,syncfs";
    strace.args(["-f", "-y", "-o", log.to_str().unwrap(), "-e", &format!("trace={calls}")]);
    strace.args(["-e", &format!("inject={calls}:signal=STOP"), JIT]).args(args);
    strace.current_dir(&agent.at).env("JIT_AGENT_ID", &agent.name);
    strace.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut durable = Disk::read(root);
    let mut moments = Vec::new();
    let mut child = strace.spawn().unwrap();
    let mut seen = 0;
    let ended = loop {
        let mut ended = None;
        let read = || std::fs::read_to_string(&log).unwrap_or_default();
        until("it is stopped or ends", || {
            ended = child.try_wait().unwrap();
            ended.is_some() || stops(&read(), calls).len() > seen
        });
        let now = Disk::read(root);
        let log = read();
        let Some((process, flush)) = stops(&log, calls).get(seen).copied() else {
            moments.push(Moment { what: "the end".into(), durable, now });
            break ended.unwrap();
        };
        seen += 1;
        moments.push(Moment { what: flush.to_owned(), durable: durable.clone(), now: now.clone() });
        let path = flush.split_once('<').and_then(|(_, rest)| rest.split_once('>')).unwrap().0;
        durable = match Path::new(path).strip_prefix(root) {
            _ if flush.contains("syncfs(") => now,
            Ok(path) => {
                let mut durable = durable.flushed(path, &now);
                // Git flushes no directory: it relies on names becoming durable in the order in which they were given.
                if std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|it| it.trim() == "git")
                {
                    durable.names = now.names;
                }
                durable
            }
            Err(_) => durable,
        };
        let number = rustix::process::Pid::from_raw(process.parse().unwrap()).unwrap();
        rustix::process::kill_process(number, rustix::process::Signal::CONT).unwrap();
    };
    assert!(ended.success(), "{args:?} ended with {ended}");
    moments
}

/// Makes images of what a disk may hold at each of these moments, and has each looked at.
fn after_each(root: &Path, moments: &[Moment], mut look: impl FnMut(&str)) -> usize {
    let mut dice = Dice::new(Dice::seed(), std::time::Duration::ZERO);
    let chances = if is_long() { 12 } else { 1 };
    let mut images = 0;
    for (number, Moment { what, durable, now }) in moments.iter().enumerate() {
        let mut torn = vec![
            ("nothing that was not flushed", durable.torn(now, |_| false)),
            ("names without contents", durable.torn(now, |change| change == Change::Name)),
        ];
        for _ in 0..chances {
            torn.push(("some of it", durable.torn(now, |_| dice.roll(2) == 0)));
        }
        for (kind, disk) in torn {
            disk.write(root);
            look(&format!("power loss before flush {number} ({}): {kind}", what.trim()));
            images += 1;
        }
    }
    images
}

/// Whatever the power takes away while work lands, the word and the work are both there or both not, and whoever types the
/// command again lands it once.
#[test]
fn a_power_loss_while_work_lands_leaves_nothing_half() {
    if !has("strace") {
        return;
    }
    let ground = Ground::new();
    let agent = ground.agent("a");
    let earlier = ground.issue("earlier", &[]);
    agent.begin(&earlier, "earlier");
    agent.run(&["finish", "-a", "-m", "landed earlier"]).ok();
    let id = ground.issue("work", &[]);
    agent.begin(&id, "work");
    agent.write("code", "one\ntwo\nthree\nfour\n");
    let finish = ["finish", &id, "-a", "-m", "landed work"];
    let moments = watched(&agent, &finish);
    assert!(moments.len() > 4, "it was stopped {} times only", moments.len());
    let images = after_each(ground.bench.root(), &moments, |context| {
        lands_once(&ground, &id, "work", context);
        lands_once(&ground, &earlier, "earlier", context);
        let again = agent.run(&finish);
        assert!(again.code == Some(0) || !ground.is_held(&id), "{context}: {again}");
        lands_once(&ground, &id, "work", context);
        assert_eq!(ground.told(&id), pair("done", "landed"), "{context}: {again}");
        assert_eq!(ground.told(&earlier), pair("done", "landed"), "{context}");
        assert!(!ground.is_held(&id), "{context}");
        // The next commit in the main worktree takes nothing back.
        let status = ground.main(&["status", "--porcelain", "--", ":!.jit"]);
        assert_eq!(status, "", "{context}");
        ground.main(&["commit", "-q", "--allow-empty", "-am", "mine"]);
        assert_eq!(ground.main(&["show", "main:code"]).lines().count(), 4, "{context}");
        // And the agent goes on.
        let next = agent.run(&["start"]);
        assert_eq!(next.code, Some(3), "{context}: there is nothing to do: {next}");
    });
    println!("{images} images of {} moments", moments.len());
}

/// A beginning that the power took away is begun again.
#[test]
fn a_power_loss_while_work_begins_keeps_nobody_from_it() {
    if !has("strace") {
        return;
    }
    let ground = Ground::new();
    let (id, agent) = (ground.issue("work", &[]), ground.agent("a"));
    let moments = watched(&agent, &["start", &id]);
    assert!(moments.len() > 2, "it was stopped {} times only", moments.len());
    let images = after_each(ground.bench.root(), &moments, |context| {
        let again: Answer = agent.run(&["start", &id]);
        assert_eq!(again.code, Some(0), "{context}: {again}");
        agent.write("work", "work\n");
        let finished = agent.run(&["finish", "-a", "-m", "landed work"]);
        assert_eq!(finished.code, Some(0), "{context}: {finished}");
        lands_once(&ground, &id, "work", context);
        assert!(ground.is_clean() && !ground.is_held(&id), "{context}");
    });
    println!("{images} images of {} moments", moments.len());
}
