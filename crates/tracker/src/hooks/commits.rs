//! Whether a commit that is pushed was made under leases, according to the logs that can be seen. A commit is
//! judged by when it was written; what its branch was meanwhile is judged elsewhere.

use std::collections::BTreeMap;

use holdfast_git::changes::Change;
use holdfast_git::objects::Commit;
use holdfast_git::trailers::Style;
use holdfast_git::{Git, ObjectId, Objects};
use holdfast_kernel::{Lease, LeaseId};

use super::brought::is_as_written;
use super::claim_logs::{ClaimLog, ClaimLogs};
use super::claimed::{fallen_behind, foreign, unreadable};
use super::files::{self, Fenced, Sorted};
use super::findings::{Findings, Weight};
use super::past::Window;
use super::site::keep_common;
use super::trailers::{self, Named};
use crate::code::Code;
use crate::error::Problem;
use crate::error::Result;
use crate::ids::IssueId;
use crate::times::rfc3339;

/// What a commit is judged by.
pub(super) struct CommitCheck<'a> {
    pub(super) objects: &'a Objects<'a>,
    pub(super) git: Git,
    pub(super) logs: &'a ClaimLogs,
    /// Whether nothing is known about leases here, so that only fences can be compared.
    pub(super) blind: bool,
    /// What becomes of a change without a lease.
    pub(super) weight: Weight,
    /// What becomes of one that another clone's lease stands for.
    pub(super) foreign: Weight,
}

/// For each issue that a commit names a lease for: the log and the fence of that lease, if it was in force.
type Vouched = BTreeMap<String, Option<(String, u64)>>;

/// A commit that is judged.
struct PushedCommit<'a> {
    id: ObjectId,
    window: Window,
    named: Vec<Named>,
    parent: Option<&'a ObjectId>,
}

/// What a commit changed below `.jit/`: for a merge only what no parent has.
pub(super) fn changed(objects: &Objects<'_>, commit: &Commit, parents: &[ObjectId]) -> Result<Sorted> {
    let mut changes = objects.changes(parents.first(), Some(&commit.tree), b".jit")?;
    for parent in parents.get(1..).unwrap_or_default() {
        keep_common(&mut changes, objects.changes(Some(parent), Some(&commit.tree), b".jit")?);
    }
    Ok(files::sorted(changes))
}

impl CommitCheck<'_> {
    /// Judges a commit; `parents` are the trees of its parents. One that somebody has adopted passes.
    pub(super) fn judge(
        &self,
        id: ObjectId,
        commit: &Commit,
        parents: &[ObjectId],
        sorted: &Sorted,
        findings: &mut Findings,
    ) -> Result<()> {
        let mut found = Findings::default();
        self.judge_alone(id, commit, parents, sorted, &mut found)?;
        if found.is_empty() || self.logs.has_adopted(&id)? {
            return Ok(());
        }
        findings.append(found);
        Ok(())
    }

    fn judge_alone(
        &self,
        id: ObjectId,
        commit: &Commit,
        parents: &[ObjectId],
        sorted: &Sorted,
        findings: &mut Findings,
    ) -> Result<()> {
        if self.weight == Weight::Passes {
            return Ok(());
        }
        if parents.len() > 1 {
            for parent in parents {
                let changes = self.objects.changes(Some(parent), Some(&commit.tree), b".jit/issues")?;
                for mut problem in fallen_behind(self.objects, changes) {
                    problem.hint = or_adopt(&problem.hint, &short(&id));
                    findings.add(self.weight, problem);
                }
            }
        }
        if self.blind {
            return Ok(());
        }
        let pushed = PushedCommit {
            id,
            window: Window::of(commit.authored_secs, commit.written_secs),
            named: trailers::read(&commit.message, &Style::default()),
            parent: parents.first(),
        };
        let vouched = self.named_leases(&pushed, commit, findings)?;
        if parents.len() > 1 {
            return Ok(());
        }
        let known = match pushed.parent {
            Some(tree) if !sorted.issues.is_empty() => files::known(self.objects, tree)?,
            _ => return Ok(()),
        };
        for (issue, change) in &sorted.issues {
            if known.contains(issue.to_string().as_bytes()) {
                self.touched(&pushed, *issue, change.as_ref(), &vouched, findings)?;
            }
        }
        Ok(())
    }

    /// Checks every lease that the commit names; gives for each issue the log and the fence of the one that
    /// stands for it, or nothing if that one does not.
    fn named_leases(
        &self,
        pushed: &PushedCommit<'_>,
        commit: &Commit,
        findings: &mut Findings,
    ) -> Result<Vouched> {
        let mut vouched = Vouched::new();
        for named in &pushed.named {
            vouched.insert(named.issue.clone(), None);
            let log = match named.lease.parse::<LeaseId>() {
                Ok(id) => self.logs.granting(id)?.map(|log| (log, id)),
                Err(_) => None,
            };
            let found = log.map(|(log, id)| Ok::<_, crate::Error>((log, log.lease(id)?))).transpose()?;
            match found {
                Some((log, Some(lease))) if named.fits(lease) => {
                    if self.in_force(pushed, log, lease, findings)? {
                        vouched.insert(named.issue.clone(), Some((log.id.clone(), lease.fence.get())));
                    }
                }
                Some(_) => findings.add(self.weight, pushed.forged(named)),
                None => self.unknown(pushed, commit, named, findings)?,
            }
        }
        Ok(vouched)
    }

    fn in_force(
        &self,
        pushed: &PushedCommit<'_>,
        log: &ClaimLog,
        lease: &Lease,
        findings: &mut Findings,
    ) -> Result<bool> {
        let in_force = log.was_in_force(lease, pushed.window)?;
        if !in_force {
            findings.add(self.weight, pushed.too_late(lease, log.successor(lease)?));
        }
        Ok(in_force)
    }

    /// A lease that no log here has granted: another clone's, if the issue says so.
    fn unknown(
        &self,
        pushed: &PushedCommit<'_>,
        commit: &Commit,
        named: &Named,
        findings: &mut Findings,
    ) -> Result<()> {
        let carried = match IssueId::parse(&named.issue) {
            Some(issue) => self.carried(&commit.tree, pushed.parent, issue)?,
            None => None,
        };
        match carried.as_ref().and_then(|(issue, fenced)| Some((*issue, fenced.pair()?))) {
            Some((issue, (fence, log))) if self.logs.log(log).is_none() => {
                findings.add(self.foreign, foreign(issue, fence, log));
            }
            _ => findings.add(self.weight, pushed.forged(named)),
        }
        Ok(())
    }

    /// The fence that an issue carries in a commit, else in the one before.
    fn carried(
        &self,
        tree: &ObjectId,
        parent: Option<&ObjectId>,
        issue: IssueId,
    ) -> Result<Option<(IssueId, Fenced)>> {
        for tree in [Some(tree), parent].into_iter().flatten() {
            if let Some(entry) = self.objects.entry(tree, &files::file(issue))? {
                return Ok(Fenced::of(self.objects, (entry.mode, entry.id)).ok().map(|it| (issue, it)));
            }
        }
        Ok(None)
    }

    /// Judges a change of an issue by the fence that its file carries; without one only a lease that is named
    /// stands for it.
    fn touched(
        &self,
        pushed: &PushedCommit<'_>,
        issue: IssueId,
        change: Option<&Change>,
        vouched: &Vouched,
        findings: &mut Findings,
    ) -> Result<()> {
        let named = vouched.get(&issue.to_string());
        let Some(version) = change.and_then(|change| change.new) else {
            if named.is_none() {
                findings.add(self.weight, pushed.unnamed(issue));
            }
            return Ok(());
        };
        let fenced = match Fenced::of(self.objects, version) {
            Ok(fenced) => fenced,
            Err(why) => {
                findings.add(self.weight, unreadable(issue, &why));
                return Ok(());
            }
        };
        let Some((fence, log)) = fenced.pair() else {
            let was = change.and_then(|change| change.old).and_then(|old| Fenced::of(self.objects, old).ok());
            let is_back = named.is_none() && was.is_some_and(|was| was.pair().is_some());
            let problem = if is_back { pushed.taken_back(issue, None) } else { pushed.unfenced(issue) };
            findings.add(self.weight, problem);
            return Ok(());
        };
        let Some(known) = self.logs.log(log) else {
            findings.add(self.foreign, foreign(issue, fence, log));
            return Ok(());
        };
        let granted = known.granted(fence)?.filter(|lease| lease.resource.text() == issue.to_string());
        match (granted, named) {
            // Whoever commits under a later lease may bring what an earlier holder wrote.
            (Some(_), Some(Some((log, own)))) if *log == known.id && *own >= fence => {}
            // What is wrong with the lease that is named has been said.
            (Some(_), Some(None)) => {}
            (Some(_), None) if self.goes_back(change, fence, log) => {
                findings.add(self.weight, pushed.taken_back(issue, Some(fence)));
            }
            (Some(_), None) if is_as_written(&self.git, known, issue, version, fence)? => {}
            (Some(lease), None) => drop(self.in_force(pushed, known, lease, findings)?),
            _ => findings.add(self.weight, pushed.never_granted(issue, fence)),
        }
        Ok(())
    }
}

impl CommitCheck<'_> {
    /// Whether a change puts back what an earlier holder wrote, as a plain revert does.
    fn goes_back(&self, change: Option<&Change>, fence: u64, log: &str) -> bool {
        let old = change.and_then(|change| change.old).and_then(|old| Fenced::of(self.objects, old).ok());
        old.is_some_and(|old| old.pair().is_some_and(|(there, same)| same == log && there > fence))
    }
}

impl PushedCommit<'_> {
    fn taken_back(&self, issue: IssueId, fence: Option<u64>) -> Problem {
        let under = fence.map(|fence| format!(" under fence {fence}")).unwrap_or_default();
        let message = format!(
            "commit {} puts issue {issue} back to what was written{under} before its last lease",
            self.short()
        );
        let hint = format!("git reset --keep {}^, then: jit reopen {issue} --revert", self.short());
        let hint = or_adopt(&hint, &self.short());
        Problem::with(issue, Code::FenceLowered, message, hint)
    }

    fn short(&self) -> String {
        short(&self.id)
    }

    fn too_late(&self, lease: &Lease, successor: Option<&Lease>) -> Problem {
        let issue = lease.resource.text();
        let since = match successor {
            Some(next) => format!(
                "; {} holds it since {} (fence {})",
                next.holder,
                rfc3339(&next.granted),
                next.fence.get()
            ),
            None => "; nobody has taken it since".to_owned(),
        };
        let message = format!(
            "commit {} changes issue {issue} under the lease {} of {}, which was not in force then{since}",
            self.short(),
            lease.id,
            lease.holder
        );
        Problem::with(issue, Code::NotInForce, message, self.again(issue))
    }

    fn forged(&self, named: &Named) -> Problem {
        let (lease, issue) = (&named.lease, &named.issue);
        let message = format!(
            "commit {} names the lease {lease} on issue {issue}, which was never granted like that",
            self.short()
        );
        Problem::with(issue, Code::UnknownLease, message, self.again(issue))
    }

    fn never_granted(&self, issue: IssueId, fence: u64) -> Problem {
        let message = format!(
            "commit {} changes issue {issue} with fence {fence}, which is not that of a lease it names",
            self.short()
        );
        Problem::with(issue, Code::UnknownLease, message, self.again(&issue.to_string()))
    }

    fn unfenced(&self, issue: IssueId) -> Problem {
        let message = format!("commit {} changes issue {issue}, whose file carries no fence", self.short());
        Problem::with(issue, Code::NoFence, message, self.again(&issue.to_string()))
    }

    fn unnamed(&self, issue: IssueId) -> Problem {
        let message = format!("commit {} changes issue {issue} and names no lease for it", self.short());
        let hint = format!("jit claim acquire {issue}, then commit it with: jit commit --amend");
        let hint = or_adopt(&hint, &self.short());
        Problem::with(issue, Code::NoTrailer, message, hint)
    }

    /// What to do with work that was done without a lease.
    fn again(&self, issue: &str) -> String {
        let own = format!(
            "take your commit back (git reset --soft), claim the issue (jit claim acquire {issue}), \
             and make the change again"
        );
        or_adopt(&own, &self.short())
    }
}

fn short(id: &ObjectId) -> String {
    id.to_string().chars().take(10).collect()
}

/// A hint for whoever made a commit, and one for everybody else: nobody can take back what others build on.
fn or_adopt(own: &str, short: &str) -> String {
    format!("{own}; if the commit is not yours: jit claim adopt {short} --reason '…'")
}
