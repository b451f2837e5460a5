//! What a path below `.jit/` is to the rules, and the fence that an issue's file carries. Paths are bytes:
//! whoever made them may have meant harm.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_git::changes::{Change, Version};
use holdfast_git::objects::Mode;
use holdfast_git::{ObjectId, Objects};
use serde::Deserialize;

use crate::error::Result;
use crate::ids::IssueId;
use crate::notes;

/// More than anybody writes about one issue.
const LONGEST: usize = 4 << 20;

/// What a path is to the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It belongs to an issue.
    Issue(IssueId),
    /// It belongs to one worktree, or to the claims; it is never committed.
    Private,
    /// It concerns everybody.
    Global,
    /// It may be changed by anybody.
    Other,
}

/// What a path from the root of the worktree is.
pub(super) fn kind(path: &[u8]) -> Kind {
    let Some(inside) = path.strip_prefix(b".jit/") else { return Kind::Other };
    let (first, rest) = split(inside);
    match first {
        b"issues" => issue(split(rest).0).map_or(Kind::Other, Kind::Issue),
        b"worktree.json" | b"locks" | b"heartbeat" => Kind::Private,
        b"config.toml" => Kind::Global,
        b"gates" if rest == b"registry.json" => Kind::Global,
        b"events" if rest.starts_with(b"control.") || rest.starts_with(b"wt-") => Kind::Private,
        _ if first.starts_with(b"claims.") => Kind::Private,
        _ => Kind::Other,
    }
}

/// The issue whose directory has this name. Only the one spelling that the program writes is one.
fn issue(name: &[u8]) -> Option<IssueId> {
    let text = std::str::from_utf8(name).ok()?;
    IssueId::parse(text).filter(|id| id.to_string() == text)
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let slash = path.iter().position(|byte| *byte == b'/').unwrap_or(path.len());
    (path.get(..slash).unwrap_or_default(), path.get(slash + 1..).unwrap_or_default())
}

/// The file of an issue.
pub(super) fn file(issue: IssueId) -> Vec<u8> {
    format!(".jit/issues/{issue}/issue.json").into_bytes()
}

/// The names of the issues that a tree has. Asking for them one by one would read the same tree again and again.
pub(super) fn known(objects: &Objects<'_>, tree: &ObjectId) -> Result<BTreeSet<Vec<u8>>> {
    let Some(home) = objects.entry(tree, b".jit/issues")? else { return Ok(BTreeSet::new()) };
    if home.mode != Mode::Tree {
        return Ok(BTreeSet::new());
    }
    Ok(objects.tree(&home.id)?.into_iter().map(|entry| entry.name).collect())
}

/// Changes by what they are to the rules.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// Of issues; for each the change of its own file, if that changed.
    pub(super) issues: BTreeMap<IssueId, Option<Change>>,
    /// Of what is never committed, unless it is taken away.
    pub(super) private: Vec<Vec<u8>>,
    /// Of what concerns everybody.
    pub(super) global: Vec<Vec<u8>>,
}

/// Sorts changes.
pub(super) fn sorted(changes: Vec<Change>) -> Sorted {
    let mut sorted = Sorted::default();
    for change in changes {
        match kind(&change.path) {
            // Anybody may add one; it is never changed.
            Kind::Issue(_) if change.old.is_none() && notes::is_note(&change.path) => {}
            Kind::Issue(id) => {
                let own = sorted.issues.entry(id).or_default();
                if change.path == file(id) {
                    *own = Some(change);
                }
            }
            Kind::Private if change.new.is_some() => sorted.private.push(change.path),
            Kind::Global => sorted.global.push(change.path),
            Kind::Private | Kind::Other => {}
        }
    }
    sorted
}

/// The fence of an issue's last writer, and the log that granted it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub(super) struct Fenced {
    /// The fence; none before the first guarded write.
    #[serde(default)]
    pub(super) fence: Option<u64>,
    /// The log.
    #[serde(default)]
    pub(super) fence_log: Option<String>,
}

impl Fenced {
    /// The fence that a version of the file carries.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub(super) fn of(objects: &Objects<'_>, version: Version) -> std::result::Result<Self, String> {
        let (mode, id) = version;
        if !matches!(mode, Mode::File | Mode::Executable) {
            return Err("it is not a file".into());
        }
        let bytes = objects.blob(&id, LONGEST).map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| format!("it is no issue: {error}"))
    }

    /// The fence that a version had which is replaced. What is no issue has none to fall behind; what is not there to be
    /// read must not pass for that.
    ///
    /// # Errors
    /// When git does not have the version.
    pub(super) fn replaced(objects: &Objects<'_>, version: Version) -> Result<Self> {
        match Self::of(objects, version) {
            Ok(fenced) => Ok(fenced),
            Err(_) if objects.has(&version.1) => Ok(Self::default()),
            Err(_) => objects.blob(&version.1, LONGEST).map(|_| Self::default()).map_err(Into::into),
        }
    }

    /// Fence and log, if it carries both.
    pub(super) fn pair(&self) -> Option<(u64, &str)> {
        self.fence.zip(self.fence_log.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, kind};

    #[test]
    fn a_path_is_what_it_is_to_the_rules() {
        let id = "01K8ZZZZZZ0000000000000001";
        for file in ["issue.json", "deps.or-set.jsonl", "a/b", ""] {
            let path = format!(".jit/issues/{id}/{file}");
            assert!(matches!(kind(path.as_bytes()), Kind::Issue(found) if found.to_string() == id), "{path}");
        }
        assert!(matches!(kind(format!(".jit/issues/{id}").as_bytes()), Kind::Issue(_)));
        for path in [
            ".jit/worktree.json",
            ".jit/claims.jsonl",
            ".jit/claims.jsonl.3",
            ".jit/locks/claims.lock",
            ".jit/heartbeat/a.json",
            ".jit/events/control.jsonl",
            ".jit/events/wt-0a1b2c3d.jsonl",
        ] {
            assert_eq!(kind(path.as_bytes()), Kind::Private, "{path}");
        }
        for path in [".jit/config.toml", ".jit/gates/registry.json"] {
            assert_eq!(kind(path.as_bytes()), Kind::Global, "{path}");
        }
        let lower = id.to_lowercase();
        for path in [
            "src/.jit/config.toml",
            ".jit/events/local.jsonl",
            ".jit/issues/README",
            &format!(".jit/issues/{lower}/issue.json"),
            ".jit/gates/results/x.json",
            ".jit",
            ".jitter/config.toml",
        ] {
            assert_eq!(kind(path.as_bytes()), Kind::Other, "{path}");
        }
        assert_eq!(kind(b".jit/issues/\xff\xfe/issue.json"), Kind::Other);
    }
}
