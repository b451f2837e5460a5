//! What can happen to issues and to what is remembered of them, in any order.

use std::fs::{self, File, FileTimes};
use std::path::Path;

use proptest::prelude::*;

use crate::place::{COUNT, Place, Where, git, id, tried};

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Another file in the place of an issue's.
    Replace(Where, usize, &'static str),
    /// Other content of the same length in the same file, with its old time.
    InPlace(Where, usize),
    /// A file of labels comes, or goes.
    Labels(Where, usize),
    /// A file of what it depends on comes, or goes.
    Deps(Where, usize),
    /// Another label of the same length in the same file, with its old time.
    LabelInPlace(Where, usize),
    /// A link to the very same directory in its place, or that directory again.
    Link(Where, usize),
    /// What an issue depends on cannot be read.
    Spoil(Where, usize),
    Remove(Where, usize),
    MarkDeleted(Where, usize),
    /// So many that what is remembered is written anew.
    Many(Where, &'static str),
    Commit(Where),
    /// The linked worktree goes where main is, or main takes what the linked worktree has.
    Follow,
    Merge,
    /// The cache is gone, cut, damaged, or another's.
    NoCache(usize),
    Cut(usize, prop::sample::Index),
    Damage(usize, prop::sample::Index),
    Swap,
    Tick,
}

impl Step {
    pub(crate) fn go(&self, place: &Place) {
        match self {
            Self::Replace(at, number, state) => place.write(*at, *number, state, "replaced"),
            Self::InPlace(at, number) => {
                let path = place.issue(*at, *number).join("issue.json");
                in_place(&path, ["\"ready\"", "\"gated\""]);
            }
            Self::Labels(at, number) => {
                come_or_go(&place.issue(*at, *number).join("labels.or-set.jsonl"), "ui");
            }
            Self::Deps(at, number) => {
                come_or_go(&place.issue(*at, *number).join("deps.or-set.jsonl"), &id(COUNT - 1));
            }
            Self::LabelInPlace(at, number) => {
                let path = place.issue(*at, *number).join("labels.or-set.jsonl");
                in_place(&path, ["\"ui\"", "\"io\""]);
            }
            Self::Link(at, number) => place.link(*at, *number),
            Self::Spoil(at, number) => {
                let home = place.issue(*at, *number);
                if home.exists() {
                    fs::write(home.join("deps.or-set.jsonl"), "<<<<<<< ours\n").unwrap();
                }
            }
            Self::Remove(at, number) => drop(fs::remove_dir_all(place.issue(*at, *number))),
            Self::MarkDeleted(at, number) => {
                let marks = place.data(*at).join("deleted");
                fs::create_dir_all(&marks).unwrap();
                fs::write(marks.join(id(*number)), "").unwrap();
            }
            Self::Many(at, state) => {
                (0..COUNT / 2).for_each(|number| place.write(*at, number, state, "many"))
            }
            Self::Commit(at) => place.commit(*at),
            Self::Follow => git(&place.linked, &["reset", "-q", "--hard", "main"]),
            Self::Merge => {
                if !tried(&place.main, &["merge", "-q", "linked"]).status.success() {
                    let _ = tried(&place.main, &["merge", "--abort"]);
                }
            }
            Self::NoCache(which) => drop(fs::remove_file(&place.caches()[*which])),
            Self::Cut(which, at) => place.tamper(*which, |bytes| bytes.truncate(at.index(bytes.len() + 1))),
            Self::Damage(which, at) => place.tamper(*which, |bytes| {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] ^= 1;
                }
            }),
            Self::Swap => {
                let [main, shared, linked] = place.caches();
                for (from, to) in [(&linked, &shared), (&main, &linked), (&shared, &main)] {
                    let _ = fs::copy(from, to);
                }
            }
            Self::Tick => place.tick(),
        }
    }
}

/// Puts one word in the place of the other, in the same file, with its old time.
fn in_place(path: &Path, words: [&str; 2]) {
    let Ok(before) = fs::metadata(path) else { return };
    let text = fs::read_to_string(path).unwrap();
    let [from, to] = if text.contains(words[0]) { words } else { [words[1], words[0]] };
    fs::write(path, text.replace(from, to)).unwrap();
    let times = FileTimes::new().set_modified(before.modified().unwrap());
    File::options().write(true).open(path).unwrap().set_times(times).unwrap();
}

/// A file of a set with one member comes where there is none, or goes.
fn come_or_go(path: &Path, member: &str) {
    if fs::remove_file(path).is_err() && path.parent().unwrap().exists() {
        let line = format!("{{\"id\":\"1\",\"op\":\"add\",\"value\":\"{member}\",\"at\":\"x\"}}\n");
        fs::write(path, line).unwrap();
    }
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let at = || prop::sample::select(vec![Where::Main, Where::Linked, Where::Shared]);
    let worktree = || prop::sample::select(vec![Where::Main, Where::Linked]);
    let state = || prop::sample::select(vec!["ready", "done", "gated", "backlog"]);
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (at(), 0..COUNT, state()).prop_map(|(at, number, state)| Step::Replace(at, number, state)),
        (at(), 0..COUNT).prop_map(|(at, number)| Step::InPlace(at, number)),
        (at(), 0..COUNT).prop_map(|(at, number)| Step::Labels(at, number)),
        (at(), 0..COUNT).prop_map(|(at, number)| Step::Deps(at, number)),
        (at(), 0..COUNT).prop_map(|(at, number)| Step::LabelInPlace(at, number)),
        (at(), 0..COUNT).prop_map(|(at, number)| Step::Link(at, number)),
        (at(), 0..COUNT).prop_map(|(at, number)| Step::Spoil(at, number)),
        (at(), 0..COUNT).prop_map(|(at, number)| Step::Remove(at, number)),
        (at(), 0..COUNT).prop_map(|(at, number)| Step::MarkDeleted(at, number)),
        (at(), state()).prop_map(|(at, state)| Step::Many(at, state)),
        worktree().prop_map(Step::Commit),
        Just(Step::Follow),
        Just(Step::Merge),
        (0usize..3).prop_map(Step::NoCache),
        (0usize..3, index()).prop_map(|(which, at)| Step::Cut(which, at)),
        (0usize..3, index()).prop_map(|(which, at)| Step::Damage(which, at)),
        Just(Step::Swap),
        Just(Step::Tick),
        Just(Step::Tick),
    ]
}
