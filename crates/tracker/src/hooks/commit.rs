//! Before a commit: what is staged below `.jit/` needs the lease of whoever commits it. A commit that touches
//! nothing there is let through before anything else is opened but the claims, which whoever commits keeps by that.

use holdfast_git::ObjectId;
use holdfast_store::View;

use super::claim_logs::ClaimLogs;
use super::claimed::{Committer, fallen_behind};
use super::files::{self, Sorted};
use super::findings::{Findings, Weight};
use super::reserved;
use super::site::Site;
use crate::caller::Caller;
use crate::code::Code;
use crate::config::{Config, Error as ConfigError};
use crate::divergence;
use crate::error::Problem;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::session::Session;
use crate::workspace::DATA;

/// Judges what is staged.
///
/// # Errors
/// Why it must not be committed, or what failed.
pub fn check(caller: &Caller) -> Result<()> {
    let Some(site) = Site::find(caller)? else { return Ok(()) };
    if site.is_behind()? {
        let message = "something has landed on this branch that this worktree does not have yet: the commit \
                       would take it back";
        let mut findings = Findings::default();
        findings
            .add(Weight::Stops, Problem::of(Code::NotFollowed, message.to_owned(), "jit sync".to_owned()));
        return findings.settle(&*caller.listener, "commit");
    }
    let head = site.head()?;
    let tree = head.map(|head| site.commit(&head)).transpose()?.map(|commit| commit.tree);
    let changes = site.staged(tree.as_ref())?;
    // A merge may be wrong by what it leaves as it is.
    let merged = site.merge_heads()?;
    let session = site.session()?;
    let mut findings = Findings::default();
    let others = site.trees(&merged)?;
    let parents: Vec<ObjectId> = tree.into_iter().chain(others.iter().copied()).collect();
    // Read once: a commit that touches no issue costs little besides.
    let view = reserved::seen(&session);
    if let Some(view) = &view {
        reserved::staged(&site, &session, view, &parents, &mut findings)?;
    }
    if changes.is_empty() && merged.is_empty() {
        findings.settle(&*caller.listener, "commit")?;
        view.iter().for_each(|view| session.used(view));
        return Ok(());
    }
    let sorted = files::sorted(site.own_changes(changes, &others)?);
    let heads: Vec<String> = head.iter().chain(&merged).map(ToString::to_string).collect();
    let staged = Staged { site, session, parents, is_merge: !merged.is_empty() };
    never_committed(&sorted, &mut findings);
    staged.global(&sorted, &heads, &mut findings)?;
    staged.issues(&sorted, &mut findings)?;
    findings.settle(&*caller.listener, "commit")?;
    view.iter().for_each(|view| staged.session.used(view));
    Ok(())
}

/// What belongs to one worktree or one machine has no place in a commit, whatever is configured.
pub(super) fn never_committed(sorted: &Sorted, findings: &mut Findings) {
    for path in &sorted.private {
        let path = String::from_utf8_lossy(path);
        let message = format!("{path} belongs to this worktree alone and is never committed");
        let hint = format!("git rm --cached -- '{path}'");
        findings.add(Weight::Stops, Problem::of(Code::NeverCommitted, message, hint));
    }
}

/// What is staged, and what it is made on top of.
struct Staged<'a> {
    site: Site<'a>,
    session: Session,
    /// The trees of the commit's parents; none for the first commit.
    parents: Vec<ObjectId>,
    is_merge: bool,
}

impl Staged<'_> {
    /// What concerns everybody is judged by the rules that held before it was changed.
    fn global(&self, sorted: &Sorted, heads: &[String], findings: &mut Findings) -> Result<()> {
        if sorted.global.is_empty() || heads.is_empty() {
            return Ok(());
        }
        let rules = match committed(&self.site, self.parents.first()) {
            Ok(config) => config,
            // A configuration that is wrong can be mended anywhere.
            Err(Error::Config(ConfigError::Invalid(_))) => return Ok(()),
            Err(error) => return Err(error),
        };
        let Some(branch) = self.session.branch()? else { return Ok(()) };
        match divergence::pass(&self.site.git(), &rules.global_operations, &branch, heads) {
            Err(Error::Config(error @ (ConfigError::WrongBranch { .. } | ConfigError::Behind { .. }))) => {
                let hint = match &error {
                    ConfigError::WrongBranch { allowed, .. } => format!("commit it on {allowed}"),
                    other => other.hint().unwrap_or_default(),
                };
                findings.add(Weight::Stops, Problem::of(error.code(), error.to_string(), hint));
                Ok(())
            }
            done => done,
        }
    }

    fn issues(&self, sorted: &Sorted, findings: &mut Findings) -> Result<()> {
        let weight = Weight::from(self.session.config().worktree.enforce_leases);
        if weight == Weight::Passes {
            return Ok(());
        }
        if self.is_merge {
            return self.merged(weight, findings);
        }
        let known = match self.parents.first() {
            Some(tree) if !sorted.issues.is_empty() => files::known(&self.site.objects, tree)?,
            // An issue that the commit before does not have was made here: nobody else can have a claim on it.
            _ => return Ok(()),
        };
        let is_known = |issue: &IssueId| known.contains(issue.to_string().as_bytes());
        let touched: Vec<_> = sorted.issues.iter().filter(|(issue, _)| is_known(issue)).collect();
        if touched.is_empty() {
            return Ok(());
        }
        let holder = self.session.holder()?;
        let view: View = self.session.claims().view()?;
        let foreign = Weight::from(self.session.config().enforcement.foreign_claims);
        let logs = ClaimLogs::open(
            self.session.sys(),
            &[self.session.control().to_path_buf()],
            self.session.claims().shared.as_ref(),
        )?;
        let (objects, git) = (&self.site.objects, self.site.git());
        let committer = Committer { objects, git, logs: &logs, holder, view: &view, weight, foreign };
        touched.iter().try_for_each(|(issue, change)| committer.judge(**issue, change.as_ref(), findings))
    }

    /// A merge brings together what others wrote under their leases: it needs none of its own, but it must
    /// not fall back behind any of them, whichever side it took.
    fn merged(&self, weight: Weight, findings: &mut Findings) -> Result<()> {
        for tree in &self.parents {
            let changes = self.site.staged(Some(tree))?;
            for problem in fallen_behind(&self.site.objects, changes) {
                findings.add(weight, problem);
            }
        }
        Ok(())
    }
}

/// The configuration as a commit has it, over the user's and the machine's.
pub(super) fn committed(site: &Site<'_>, tree: Option<&ObjectId>) -> Result<Config> {
    let path = format!("{DATA}/config.toml");
    let entry = tree.map_or(Ok(None), |tree| site.objects.entry(tree, path.as_bytes()))?;
    let bytes = entry.map(|entry| site.objects.blob(&entry.id, 1 << 20)).transpose()?;
    let sources = crate::workspace::Ground { repository: None, root: None }.sources(site.caller);
    Ok(Config::load_committed(&site.caller.sys, &sources, path.as_ref(), bytes)?)
}
