//! The branches that have finished work which has not landed. What a commit has never changes, so each is looked at
//! once; what was found is kept in the control plane, and whoever finds nothing there looks again.

use std::collections::BTreeMap;
use std::path::Path;

use holdfast_git::objects::Mode;
use holdfast_git::{Error as GitError, Git, ObjectId, Objects, Repository};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LONGEST, State};
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;
use crate::json;
use crate::notice::Notice;
use crate::session::Session;
use crate::target::{ORIGIN, Target};
use crate::workspace::{self, DATA};

/// What was found, in the control plane.
const FILE: &str = "branches.json";

/// Longer than what any number of branches needs.
const LONGEST_FILE: usize = 64 << 20;

/// An issue that is finished in a commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Finished {
    pub(super) issue: String,
    pub(super) state: State,
    #[serde(default)]
    pub(super) fence: Option<u64>,
    #[serde(default)]
    pub(super) fence_log: Option<String>,
}

/// What is finished in the tips of branches, beside what they began with.
#[derive(Default, Serialize, Deserialize)]
struct Known {
    tips: BTreeMap<String, Vec<Finished>>,
}

/// A branch with finished work.
pub(super) struct Branch {
    /// Its name, as people type it.
    pub(super) name: String,
    /// The commit that it is on.
    tip: String,
    pub(super) finished: Vec<Finished>,
}

/// Every branch that is not the target and has finished work of its own.
pub(super) fn load(session: &Session, repository: &Repository, target: &Target) -> Result<Vec<Branch>> {
    look(session, repository, target, true)
}

/// As [`load`]; what was found is kept for the next time, or nothing is written.
fn look(session: &Session, repository: &Repository, target: &Target, keep: bool) -> Result<Vec<Branch>> {
    let git = Git::in_dir(repository.common_dir());
    let own = [format!("refs/heads/{}", target.branch), format!("refs/remotes/origin/{}", target.branch)];
    let listed = all(session, repository, &git)?;
    let refs = listed.iter().map(|(tip, name)| (tip.as_str(), name.as_str()));
    // What a remote calls its `HEAD` is another name of a branch.
    let is_alias = |name: &str| name.starts_with("refs/remotes/") && name.ends_with("/HEAD");
    let refs: Vec<(&str, &str)> =
        refs.filter(|(_, name)| !is_alias(name) && !own.iter().any(|own| own == name)).collect();
    let path = session.control().join(FILE);
    let before = read(session, &path);
    let looker = Looker { objects: workspace::objects(&session.caller, repository)?, git, target };
    let mut known = Known::default();
    for (tip, _) in &refs {
        let finished = match before.tips.get(*tip) {
            Some(finished) => finished.clone(),
            None => looker.look(tip)?,
        };
        known.tips.insert((*tip).to_owned(), finished);
    }
    if keep && known.tips.keys().ne(before.tips.keys()) {
        // What cannot be kept is looked for again.
        let _ = durable::replace(
            session.sys(),
            &path,
            &json::file(&known),
            session.access().map_or(0o600, |it| it.file()),
        );
    }
    let short = |name: &str| {
        name.strip_prefix("refs/heads/")
            .or_else(|| name.strip_prefix("refs/remotes/"))
            .unwrap_or(name)
            .to_owned()
    };
    let branch = |(tip, name): (&str, &str)| {
        let finished = known.tips.get(tip).filter(|finished| !finished.is_empty())?;
        Some(Branch { name: short(name), tip: tip.to_owned(), finished: finished.clone() })
    };
    Ok(refs.into_iter().filter_map(branch).collect())
}

/// A branch that has an issue finished.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct OnBranch {
    /// The branch, as people type it.
    pub branch: String,
    /// How the issue stands there.
    pub state: State,
    /// The fence that it was finished under.
    pub fence: Option<u64>,
}

/// Every branch beside the target that has an issue finished, the one that counts first: that of the highest fence.
/// Writes nothing; where they cannot be read, a notice says so.
pub fn having(session: &Session, id: IssueId) -> Vec<OnBranch> {
    let found = || -> Result<Vec<Branch>> {
        let Some(repository) = session.repository() else { return Ok(Vec::new()) };
        match Target::find(&session.caller, repository, session.config())? {
            Some(target) => look(session, repository, &target, false),
            None => Ok(Vec::new()),
        }
    };
    let branches = found().unwrap_or_else(|error| {
        session.notice(&Notice::BranchesUnknown(error.to_string()));
        Vec::new()
    });
    let text = id.to_string();
    let mut all = Vec::new();
    for branch in branches {
        let finished = branch.finished.iter().filter(|finished| finished.issue == text);
        all.extend(finished.map(|finished| OnBranch {
            branch: branch.name.clone(),
            state: finished.state,
            fence: finished.fence,
        }));
    }
    all.sort_by(|one, other| other.fence.cmp(&one.fence).then_with(|| one.branch.cmp(&other.branch)));
    all
}

/// The issues that branches of the remote, as they were last fetched, have finished under grants of this log: of each the
/// highest fence, and the commit that has it.
pub(crate) fn fetched(session: &Session, log: &str) -> Result<BTreeMap<IssueId, (u64, ObjectId)>> {
    let Some(repository) = session.repository() else { return Ok(BTreeMap::new()) };
    let Some(target) = Target::find(&session.caller, repository, session.config())? else {
        return Ok(BTreeMap::new());
    };
    let mut newest: BTreeMap<IssueId, (u64, ObjectId)> = BTreeMap::new();
    for branch in look(session, repository, &target, true)? {
        let is_theirs = branch.name.strip_prefix(ORIGIN).is_some_and(|rest| rest.starts_with('/'));
        let Some(tip) = ObjectId::from_hex(branch.tip.as_bytes()).filter(|_| is_theirs) else { continue };
        for finished in branch.finished.iter().filter(|one| one.fence_log.as_deref() == Some(log)) {
            let (Some(id), Some(fence)) = (IssueId::parse(&finished.issue), finished.fence) else { continue };
            if newest.get(&id).is_none_or(|(known, _)| *known < fence) {
                newest.insert(id, (fence, tip));
            }
        }
    }
    Ok(newest)
}

/// All branches, here and of remotes, each with its tip.
fn all(session: &Session, repository: &Repository, git: &Git) -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for prefix in ["refs/heads", "refs/remotes"] {
        match repository.refs_below(&*session.sys().files, prefix) {
            Ok(refs) => {
                all.extend(refs.into_iter().map(|(name, tip)| {
                    (tip.to_string(), String::from_utf8_lossy(name.as_bytes()).into_owned())
                }))
            }
            Err(GitError::Reftable { .. }) => {
                let listed = git.run(&["for-each-ref", "--format=%(objectname) %(refname)", prefix])?;
                let listed = String::from_utf8_lossy(&listed);
                let lines = listed.lines().filter_map(|line| line.split_once(' '));
                all.extend(lines.map(|(tip, name)| (tip.to_owned(), name.to_owned())));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(all)
}

fn read(session: &Session, path: &Path) -> Known {
    let bytes = durable::read(session.sys(), path, LONGEST_FILE).ok().flatten();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

struct Looker<'a> {
    objects: Objects<'a>,
    git: Git,
    target: &'a Target,
}

impl Looker<'_> {
    /// What is finished in a commit and was not where it left the target.
    fn look(&self, tip: &str) -> Result<Vec<Finished>> {
        let Some(id) = ObjectId::from_hex(tip.as_bytes()) else { return Ok(Vec::new()) };
        let base = self.base(&id)?;
        if base == Some(id) {
            return Ok(Vec::new());
        }
        let tree = |id: &ObjectId| self.objects.commit(id).map(|commit| commit.tree);
        let (before, after) = (base.as_ref().map(tree).transpose()?, tree(&id)?);
        let home = format!("{DATA}/issues");
        let changes = self.objects.changes(before.as_ref(), Some(&after), home.as_bytes())?;
        let mut finished = Vec::new();
        for change in changes {
            let path = String::from_utf8_lossy(&change.path).into_owned();
            let issue =
                path.strip_prefix(&home).and_then(|rest| rest.strip_prefix('/')?.strip_suffix("/issue.json"));
            let (Some(issue), Some((Mode::File | Mode::Executable, blob))) = (issue, change.new) else {
                continue;
            };
            finished.extend(IssueId::parse(issue).and_then(|id| self.finished(id, &blob)));
        }
        Ok(finished)
    }

    fn finished(&self, id: IssueId, blob: &ObjectId) -> Option<Finished> {
        #[derive(Deserialize)]
        struct Part {
            state: State,
            #[serde(default)]
            fence: Option<u64>,
            #[serde(default)]
            fence_log: Option<String>,
        }
        let bytes = self.objects.blob(blob, LONGEST).ok()?;
        let Part { state, fence, fence_log } = serde_json::from_slice(&bytes).ok()?;
        let is_finished = matches!(state, State::Done | State::Gated);
        is_finished.then(|| Finished { issue: id.to_string(), state, fence, fence_log })
    }

    /// Where a branch left the target; none if it never was on it.
    fn base(&self, tip: &ObjectId) -> Result<Option<ObjectId>> {
        for target in self.target.tips() {
            let base = match self.objects.merge_base(tip, &target) {
                Ok(base) => base,
                // What only git can get is asked of git.
                Err(_) => {
                    let said = self.git.ask(&["merge-base", &tip.to_string(), &target.to_string()], &[])?;
                    let first = said.stdout.split(|byte| *byte == b'\n').next().unwrap_or_default();
                    ObjectId::from_hex(first)
                }
            };
            if base.is_some() {
                return Ok(base);
            }
        }
        Ok(None)
    }
}
