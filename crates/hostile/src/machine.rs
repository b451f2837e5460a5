//! A machine for targets that need files: the simulated one, without faults, so that the same input does
//! the same in every run and leaves nothing behind.

use std::path::{Path, PathBuf};

use holdfast_kernel::{
    Acquire, Again, Command, Holder, KindRule, LeaseId, Limits, Millis, Mode, Name, Policy, Request, Tags,
    Text, TtlRange,
};
use holdfast_sys::sim::{Config, Fate, Process, Random, World};
use holdfast_sys::{Kind, Sys};

/// The folder that everything happens in.
pub const FOLDER: &str = "/fuzz";

/// Runs `body` on a machine whose folder holds these files.
///
/// # Panics
/// When `body` does not return: whatever kept it from that is a finding.
pub fn on_a_machine(files: &[(&str, &[u8])], body: impl FnOnce(Sys) + Send + 'static) {
    let mut world = World::new(Config::default(), Random::new(0));
    world.create_dir_all(FOLDER).expect("a folder to work in");
    for (name, bytes) in files {
        let folder = path(name).parent().map(Path::to_path_buf).expect("a file is in a folder");
        world.create_dir_all(folder).expect("a folder for it");
        world.write_file(path(name), bytes).expect("a file to read");
    }
    let epoch = world.run(vec![Process::new("reader", 0, body)]);
    assert_eq!(epoch.fates, [Fate::Returned], "{:?}", epoch.end);
}

/// The path of a file in the folder.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// The content of a file.
#[must_use]
pub fn content(sys: &Sys, path: &Path) -> Vec<u8> {
    let handle = sys.files.open(path, holdfast_sys::Open::Read).expect("a file that is there");
    handle.read_from(0, usize::MAX).expect("its content")
}

/// Everything that is in the folder and below, with the content of files.
#[must_use]
pub fn everything(sys: &Sys) -> Vec<(PathBuf, Vec<u8>)> {
    below(sys, Path::new(FOLDER))
}

fn below(sys: &Sys, folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let names = sys.files.list(folder).expect("a folder").into_iter();
    let at = |path: PathBuf| match sys.files.stat(&path).expect("what is listed").kind {
        Kind::Directory => below(sys, &path),
        _ => vec![(path.clone(), content(sys, &path))],
    };
    names.flat_map(|name| at(folder.join(name))).collect()
}

/// The names in the folder.
#[must_use]
pub fn names(sys: &Sys) -> Vec<String> {
    let names = sys.files.list(Path::new(FOLDER)).expect("the folder");
    names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect()
}

/// A policy that allows everything.
#[must_use]
pub fn policy() -> Policy {
    let ttl = TtlRange { min: Millis::new(1), max: Millis::LONGEST };
    Policy {
        again: Again::Return,
        rule: KindRule { ttl, indefinite: true },
        kinds: std::collections::BTreeMap::new(),
        skew: Millis::from_secs(2),
        grace: Millis::from_secs(1),
        stale_after: Millis::from_secs(3_600),
        limits: Limits::NONE,
    }
}

/// Somebody whom no input names.
#[must_use]
pub fn stranger() -> Holder {
    Holder { agent: name("\u{fffd}stranger"), place: name("\u{fffd}strange") }
}

/// The stranger wants this.
#[must_use]
pub fn wants(resource: &str) -> Command {
    let id = resource.bytes().fold(u128::MAX, |id, byte| id.rotate_left(9) ^ u128::from(byte));
    acquire(id, resource, stranger(), Mode::Exclusive, Request::Finite(Millis::from_secs(60)))
}

/// An agent wants this, under a number of its own.
#[must_use]
pub fn wanted(id: u128, resource: &str, agent: &str, mode: Mode, request: Request) -> Command {
    acquire(id, resource, holder(agent), mode, request)
}

fn acquire(id: u128, resource: &str, holder: Holder, mode: Mode, request: Request) -> Command {
    Command::Acquire(Acquire {
        id: LeaseId::new(id),
        resource: name(resource).into(),
        holder,
        mode,
        request,
        reason: Some(text("because")),
        tags: Tags::none().with("branch", text("main")).expect("a tag"),
        dead: Vec::new(),
    })
}

/// An agent in the main worktree.
#[must_use]
pub fn holder(agent: &str) -> Holder {
    Holder { agent: name(&format!("agent:{agent}")), place: name("worktree:main") }
}

/// A name that is one.
#[must_use]
pub fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

/// A text that is one.
#[must_use]
pub fn text(text: &str) -> Text {
    Text::new(text).expect("a text")
}
