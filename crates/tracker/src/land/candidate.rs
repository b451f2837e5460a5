//! What the target would become: the work of a branch on top of it. Nothing here moves a ref or touches a worktree.

use std::collections::BTreeMap;

use holdfast_git::ObjectId;

use super::plumbing::{Merged, Plumbing, is_ours};
use crate::error::{LandError, Onto, Result};
use crate::ids::IssueId;
use crate::merge;
use crate::workspace::DATA;

/// How long the marks of a conflict are that git itself makes.
const MARK: usize = 7;

/// What the target would become.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    /// The commit of the target that it is built on.
    pub(super) onto: ObjectId,
    /// Its tip.
    pub(super) tip: ObjectId,
    /// Whether the tip is a commit of the branch, and not the target's own.
    pub(super) has_work: bool,
}

/// Where candidates are built.
pub(super) struct Builder<'a> {
    pub(super) plumbing: &'a Plumbing<'a>,
    /// The issue that lands. What only says how it stands is no work: its last commit says so anew.
    pub(super) issue: Option<IssueId>,
    /// What a conflict is said to be with.
    pub(super) onto: Onto,
}

impl Builder<'_> {
    /// The commits of `source` one by one on top of `onto`.
    ///
    /// # Errors
    /// When they conflict with what is there, or git fails.
    pub(super) fn rebased(&self, onto: ObjectId, source: &ObjectId) -> Result<Candidate> {
        let commits = self.plumbing.commits(&onto, source)?;
        if !is_line(&commits) {
            return self.merged(onto, source);
        }
        let mut work = Vec::new();
        for (commit, parents) in &commits {
            if !self.is_only_said(commit, parents)? {
                work.push((commit, parents));
            }
        }
        let first = commits.first().and_then(|(_, parents)| parents.first());
        if commits.is_empty() || first == Some(&onto) && work.len() == commits.len() {
            let tip = if commits.is_empty() { onto } else { *source };
            return Ok(Candidate { onto, tip, has_work: !commits.is_empty() });
        }
        let mut tip = onto;
        for (commit, parents) in work {
            let Some(parent) = parents.first() else { return self.merged(onto, source) };
            let tree = self.tree(Some(parent), &tip, commit)?;
            // What the target has already, because it landed in other words, does not land again.
            if tree == self.plumbing.tree(&tip)?
                && self.plumbing.tree(parent)? != self.plumbing.tree(commit)?
            {
                continue;
            }
            let message = self.plumbing.message(commit)?;
            tip = self.plumbing.commit(&tree, &[tip], &message, Some(commit))?;
        }
        Ok(Candidate { onto, tip, has_work: tip != onto })
    }

    /// Whether a commit changes nothing but how the issue stands that lands.
    fn is_only_said(&self, commit: &ObjectId, parents: &[ObjectId]) -> Result<bool> {
        let (Some(issue), [parent]) = (self.issue, parents) else { return Ok(false) };
        let changed = self.plumbing.changed(parent, commit)?;
        Ok(!changed.is_empty() && changed.iter().all(|path| says_how_it_stands(issue, path)))
    }

    /// Both joined by a commit.
    pub(super) fn merged(&self, onto: ObjectId, source: &ObjectId) -> Result<Candidate> {
        let tree = self.tree(None, &onto, source)?;
        let message = self.plumbing.message(source)?;
        let tip = self.plumbing.commit(&tree, &[onto, *source], &message, None)?;
        Ok(Candidate { onto, tip, has_work: true })
    }

    /// Everything that `source` has done as one commit.
    pub(super) fn squashed(&self, onto: ObjectId, source: &ObjectId) -> Result<Candidate> {
        let tree = self.tree(None, &onto, source)?;
        let message = self.plumbing.message(source)?;
        let tip = self.plumbing.commit(&tree, &[onto], &message, Some(source))?;
        Ok(Candidate { onto, tip, has_work: true })
    }

    fn tree(&self, base: Option<&ObjectId>, ours: &ObjectId, theirs: &ObjectId) -> Result<ObjectId> {
        match self.plumbing.merge(base, ours, theirs)? {
            Merged::Clean(tree) => Ok(tree),
            Merged::Conflict { tree, files } => {
                let base = match base {
                    Some(base) => Some(*base),
                    None => self.plumbing.base(ours, theirs)?,
                };
                self.resolved(&tree, &files, base.as_ref(), ours, theirs)
            }
        }
    }

    /// The tree with the tracker's own conflicts resolved field by field; nobody else's can be.
    fn resolved(
        &self,
        tree: &ObjectId,
        files: &[Vec<u8>],
        base: Option<&ObjectId>,
        ours: &ObjectId,
        theirs: &ObjectId,
    ) -> Result<ObjectId> {
        let mut merged = BTreeMap::new();
        let mut left = Vec::new();
        for path in files {
            let text = String::from_utf8_lossy(path).into_owned();
            let read = |commit: &ObjectId| self.plumbing.show(commit, &text);
            let before = base.map(read).transpose()?.flatten().unwrap_or_default();
            // A file that one side does not have was taken away there: what the other one wrote is then not to be
            // joined with nothing.
            // How the issue stands that lands is said anew by the last commit.
            let is_own = self.issue.is_some_and(|issue| says_how_it_stands(issue, path));
            let resolved = match (is_ours(path), read(ours)?, read(theirs)?) {
                (true, Some(ours), Some(theirs)) => {
                    resolve(&text, &before, &ours, &theirs).or_else(|| is_own.then_some(ours))
                }
                (true, Some(only), None) | (true, None, Some(only)) if is_own => Some(only),
                _ => None,
            };
            match resolved {
                Some(bytes) => drop(merged.insert(text, Some(bytes))),
                None => left.push(text),
            }
        }
        if left.is_empty() {
            return self.plumbing.with_files(tree, &merged);
        }
        let (commit, onto) = (theirs.to_string(), self.onto.clone());
        Err(LandError::Conflict { files: left, commit, onto }.into())
    }
}

/// Whether each commit follows the one before.
fn is_line(commits: &[(ObjectId, Vec<ObjectId>)]) -> bool {
    let follows = |pair: &[(ObjectId, Vec<ObjectId>)]| match pair {
        [(before, _), (_, parents)] => parents.as_slice() == [*before],
        _ => true,
    };
    commits.iter().all(|(_, parents)| parents.len() == 1) && commits.windows(2).all(follows)
}

/// Whether a file says how an issue stands: its own, or what its gates said.
fn says_how_it_stands(issue: IssueId, path: &[u8]) -> bool {
    let own = [format!("{DATA}/issues/{issue}/issue.json"), format!("{DATA}/gates/results/{issue}/")];
    own.iter().any(|own| path.starts_with(own.as_bytes()))
}

/// A file of the tracker that both sides changed; none if it cannot be told what it should be.
fn resolve(path: &str, base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    if path.ends_with(".jsonl") {
        return Some(union(ours, theirs));
    }
    if path.ends_with("/issue.json") {
        let merged = merge::merge(base, ours, theirs, MARK)?;
        return (merged.conflicts == 0).then_some(merged.text);
    }
    if path.starts_with(".jit/gates/results/") {
        let at = |bytes: &[u8]| -> Option<String> {
            let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
            Some(value.get("at")?.as_str()?.to_owned())
        };
        let (here, there) = (at(ours)?, at(theirs)?);
        return Some(if here >= there { ours.to_vec() } else { theirs.to_vec() });
    }
    None
}

/// The lines of both, each once.
fn union(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = Vec::new();
    for line in ours.split(|byte| *byte == b'\n').chain(theirs.split(|byte| *byte == b'\n')) {
        if !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.into_iter().flat_map(|line| [line, b"\n"].concat()).collect()
}
