//! Before a push, and before a push is accepted: the same judgement on both sides of the wire. The one who
//! pushes sees its own log; a server sees the logs that it was told of, or none, and compares fences.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use holdfast_git::trailers::Style;
use holdfast_git::{Config as GitConfig, ObjectId, RefName};
use holdfast_kernel::{Lease, LeaseId};
use holdfast_store::View;

use super::branch::BranchCheck;
use super::claim_logs::{ClaimLog, ClaimLogs};
use super::commit::{committed, never_committed};
use super::commits::{CommitCheck, changed};
use super::files::{Fenced, Sorted};
use super::findings::{Findings, Weight};
use super::reserved;
use super::site::Site;
use super::trailers::{self, Named};
use crate::caller::Caller;
use crate::claims::shared::SharedClaims;
use crate::code::Code;
use crate::config::{Config, Error as ConfigError};
use crate::divergence;
use crate::error::Problem;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::notice::Notice;
use crate::reserve::Others;
use crate::session::Session;
use crate::target::ORIGIN;
use crate::workspace::Workspace;

/// Where a server keeps the control planes of the clones that it may look into.
pub const CONTROL_PLANE: &str = "jit.controlplane";

/// A ref that a push creates, changes or deletes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Update {
    /// Its name there.
    pub name: Vec<u8>,
    /// What it is on there; none if it is not there yet.
    pub old: Option<ObjectId>,
    /// What it shall be on; none if it shall be deleted.
    pub new: Option<ObjectId>,
}

impl Update {
    /// The updates that git tells a `pre-push` hook: local ref, its commit, remote ref, its commit.
    #[must_use]
    pub fn pushed(input: &[u8]) -> Option<Vec<Self>> {
        lines(input, |words| match words {
            [_, new, name, old] => Some((*name, *old, *new)),
            _ => None,
        })
    }

    /// The updates that git tells a `pre-receive` hook: old commit, new commit, ref.
    #[must_use]
    pub fn received(input: &[u8]) -> Option<Vec<Self>> {
        lines(input, |words| match words {
            [old, new, name] => Some((*name, *old, *new)),
            _ => None,
        })
    }
}

type Words<'a> = (&'a [u8], &'a [u8], &'a [u8]);

fn lines<'a>(input: &'a [u8], read: impl Fn(&[&'a [u8]]) -> Option<Words<'a>>) -> Option<Vec<Update>> {
    let commit = |hex: &[u8]| ObjectId::from_hex(hex).map(|id| Some(id).filter(|id| !id.is_null()));
    let mut updates = Vec::new();
    for line in input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let (name, old, new) = read(&words)?;
        updates.push(Update { name: name.to_vec(), old: commit(old)?, new: commit(new)? });
    }
    Some(updates)
}

/// Judges a push to `remote` before anything leaves.
///
/// # Errors
/// Why it must not be made, or what failed.
pub fn before_push(caller: &Caller, remote: &str, updates: &[Update]) -> Result<()> {
    let Some(site) = Site::find(caller)? else { return Ok(()) };
    let session = site.session()?;
    let shared = session.claims().shared.as_ref();
    let logs = ClaimLogs::open(&caller.sys, &[session.control().to_path_buf()], shared)?;
    // Where the server keeps the claims too, work under a claim goes there in one step with them.
    let goes_along = shared.is_some_and(|shared| shared.is_where_work_lands()) && remote == ORIGIN;
    let unfenced = if goes_along && !caller.publishes { Some(held_by(&session)?) } else { None };
    let tracked = format!("refs/remotes/{remote}/x");
    let is_named = !remote.contains(':') && RefName::new(tracked.as_bytes()).is_some();
    let known = if is_named { format!("--remotes={remote}") } else { "--remotes".to_owned() };
    let side = Side::Pushes { remote: remote.to_owned(), known };
    let view = session.claims().view()?;
    let others = Others::of(&session, &view)?;
    let reserved = Some((&others, &view)).filter(|(others, _)| !others.is_empty());
    PushCheck { config: session.config().clone(), site, logs, side, unfenced, reserved }.judge(updates)?;
    session.used_unseen();
    Ok(())
}

/// Judges a push that arrives, before any ref is changed.
///
/// # Errors
/// Why it must not be accepted, or what failed.
pub fn before_receive(caller: &Caller, updates: &[Update]) -> Result<()> {
    let Some(site) = Site::find(caller)? else { return Ok(()) };
    let tree = match site.head()? {
        Some(head) if site.objects.has(&head) => Some(site.commit(&head)?.tree),
        _ => None,
    };
    let config = match committed(&site, tree.as_ref()) {
        // A configuration that is wrong must not keep out the push that mends it.
        Err(Error::Config(error @ ConfigError::Invalid(_))) => {
            caller.notice(&Notice::ConfigNotUsed(error.to_string()));
            committed(&site, None)?
        }
        config => config?,
    };
    // Steps of the claims are judged by whoever makes them.
    let is_step = |update: &Update| {
        update.name.starts_with(b"refs/jit/") || update.name == config.coordination.register.as_bytes()
    };
    let updates: Vec<Update> = updates.iter().filter(|update| !is_step(update)).cloned().collect();
    if updates.is_empty() {
        return Ok(());
    }
    let shared = shared_here(&site, &config)?;
    let logs = ClaimLogs::open(&caller.sys, &controls(&site)?, shared.as_ref())?;
    PushCheck { config, site, logs, side: Side::Receives, unfenced: None, reserved: None }.judge(&updates)
}

/// The claims of all clones, as they are when a push arrives; none where each clone keeps its own.
fn shared_here(site: &Site<'_>, config: &Config) -> Result<Option<Arc<SharedClaims>>> {
    let workspace = Workspace {
        repository: Some(site.repository.clone()),
        root: None,
        control: site.repository.common_dir().join("jit"),
        config: config.clone(),
    };
    let Some(shared) = SharedClaims::for_server(site.caller, &workspace)? else { return Ok(None) };
    shared.known(true)?;
    Ok(Some(Arc::new(shared)))
}

/// The issues that whoever pushes holds in this worktree.
fn held_by(session: &Session) -> Result<Vec<IssueId>> {
    let Some(agent) = session.known_agent().filter(|_| session.has_identity().unwrap_or(false)) else {
        return Ok(Vec::new());
    };
    let view = session.claims().view()?;
    if !view.table.iter().any(|lease| lease.holder.agent == *agent.name()) {
        return Ok(Vec::new());
    }
    let holder = session.holder()?;
    let lives = |lease: &&Lease| lease.holder == *holder && !lease.standing(&view.now).is_over();
    Ok(view.table.iter().filter(lives).filter_map(|lease| IssueId::of(&lease.resource)).collect())
}

/// The control planes that a server may look into: its own, and those that it was told of.
fn controls(site: &Site<'_>) -> Result<Vec<PathBuf>> {
    let config = GitConfig::read(&*site.caller.sys.files, &site.caller.git, Some(&site.repository))?;
    let told = config.all(CONTROL_PLANE).filter_map(|entry| entry.value.as_deref());
    let told = told.map(|path| {
        use std::os::unix::ffi::OsStrExt;
        site.repository.git_dir().join(std::ffi::OsStr::from_bytes(path))
    });
    Ok(std::iter::once(site.repository.common_dir().join("jit")).chain(told).collect())
}

/// On which side of the wire a push is judged.
enum Side {
    /// Where it comes from.
    Pushes {
        remote: String,
        /// What `git rev-list` calls the commits that are there already.
        known: String,
    },
    /// Where it arrives.
    Receives,
}

/// What a push is judged with.
struct PushCheck<'a> {
    site: Site<'a>,
    config: Config,
    logs: ClaimLogs,
    side: Side,
    /// Where work under a claim has to go in one step with the claims, and this push does not: what is held here.
    unfenced: Option<Vec<IssueId>>,
    /// What others have reserved, and the claims as they were seen; none on a server.
    reserved: Option<(&'a Others<'a>, &'a View)>,
}

impl PushCheck<'_> {
    fn judge(&self, updates: &[Update]) -> Result<()> {
        let commits = CommitCheck {
            objects: &self.site.objects,
            git: self.site.git(),
            logs: &self.logs,
            blind: matches!(self.side, Side::Receives) && !self.logs.sees,
            weight: Weight::from(self.config.worktree.enforce_leases),
            foreign: Weight::from(self.config.enforcement.foreign_claims),
        };
        let mut findings = Findings::default();
        for update in updates {
            // Nothing is written by a ref that goes away.
            if let Some(new) = update.new {
                self.update(&commits, update, new, &mut findings)?;
            }
        }
        findings.settle(&*self.site.caller.listener, "push")
    }

    fn update(
        &self,
        commits: &CommitCheck<'_>,
        update: &Update,
        new: ObjectId,
        findings: &mut Findings,
    ) -> Result<()> {
        let branch =
            update.name.strip_prefix(b"refs/heads/").map(|name| String::from_utf8_lossy(name).into_owned());
        let mut named: Vec<Named> = Vec::new();
        let mut carried: Vec<(u64, String)> = Vec::new();
        for id in self.commits(update, new)? {
            let commit = self.site.commit(&id)?;
            // In a shallow clone the oldest commits have parents that are not here.
            let known: Vec<ObjectId> =
                commit.parents.iter().filter(|id| self.site.objects.has(id)).copied().collect();
            let parents = self.site.trees(&known)?;
            let sorted = changed(&self.site.objects, &commit, &parents)?;
            never_committed(&sorted, findings);
            if let (Some(branch), [_] | []) = (&branch, &parents[..]) {
                self.global(&sorted, parents.first(), branch, findings)?;
            }
            commits.judge(id, &commit, &parents, &sorted, findings)?;
            let names = trailers::read(&commit.message, &Style::default());
            if let Some(reserved) = self.reserved {
                let weight = Weight::from(self.config.enforcement.reservations);
                reserved::pushed(&self.site.git(), reserved, &id, &names, weight, findings)?;
            }
            named.extend(names);
            carried.extend(self.carried(&sorted));
        }
        if branch.is_some() {
            let under = self.under(&named, &carried)?;
            self.displaced(commits, &under, findings);
            self.unfenced(commits, new, &under, findings)?;
        }
        match (branch, update.old) {
            (Some(branch), Some(old)) => self.tip(commits, branch, old, new, &named, findings),
            _ => Ok(()),
        }
    }

    /// The fences that the files of issues carry which a commit changes, and the logs that granted them.
    fn carried(&self, sorted: &Sorted) -> Vec<(u64, String)> {
        let versions = sorted.issues.values().filter_map(|change| change.as_ref()?.new);
        let fenced = versions.filter_map(|version| Fenced::of(&self.site.objects, version).ok());
        fenced.filter_map(|fenced| fenced.pair().map(|(fence, log)| (fence, log.to_owned()))).collect()
    }

    /// For each issue the last lease that a push was made under, of those that all clones share.
    fn under(&self, named: &[Named], carried: &[(u64, String)]) -> Result<Vec<(&ClaimLog, &Lease)>> {
        let mut leases: Vec<(&ClaimLog, &Lease)> = Vec::new();
        for named in named {
            let Ok(id) = named.lease.parse::<LeaseId>() else { continue };
            let Some(log) = self.logs.granting(id)?.filter(|log| log.shared) else { continue };
            leases.extend(log.lease(id)?.map(|lease| (log, lease)));
        }
        for (fence, log) in carried {
            let Some(log) = self.logs.log(log).filter(|log| log.shared) else { continue };
            leases.extend(log.granted(*fence)?.map(|lease| (log, lease)));
        }
        leases.sort_by_key(|(_, lease)| std::cmp::Reverse(lease.fence));
        let mut issues = BTreeSet::new();
        leases.retain(|(_, lease)| issues.insert(lease.resource.to_string()));
        Ok(leases)
    }

    /// Where all clones share their claims: nobody brings work on an issue that somebody else was granted
    /// since and holds.
    fn displaced(&self, commits: &CommitCheck<'_>, under: &[(&ClaimLog, &Lease)], findings: &mut Findings) {
        for (log, lease) in under {
            let Some(successor) = log.held_since(lease) else { continue };
            let issue = lease.resource.to_string();
            let message = format!(
                "issue {issue} was granted to {} (fence {}) after the lease of {} (fence {}) that this push was made under",
                successor.holder,
                successor.fence.get(),
                lease.holder,
                lease.fence.get()
            );
            let hint = format!("claim the issue again: jit claim acquire {issue} --wait 600");
            let problem = match IssueId::parse(&issue) {
                Some(issue) => Problem::with(issue, Code::Displaced, message, hint),
                None => Problem::of(Code::Displaced, message, hint),
            };
            findings.add(commits.weight, problem);
        }
    }

    /// What a plain push must not bring: work under a claim that is in force, where the server could check it.
    fn unfenced(
        &self,
        commits: &CommitCheck<'_>,
        new: ObjectId,
        under: &[(&ClaimLog, &Lease)],
        findings: &mut Findings,
    ) -> Result<()> {
        let Some(held) = &self.unfenced else { return Ok(()) };
        let mut issues: BTreeSet<IssueId> = BTreeSet::new();
        if self.site.head()? == Some(new) {
            issues.extend(held);
        }
        let in_force = under.iter().filter(|(log, lease)| log.in_force_now(lease.id).is_some());
        issues.extend(in_force.filter_map(|(_, lease)| IssueId::of(&lease.resource)));
        for issue in issues {
            let message =
                format!("issue {issue} is claimed, and a plain push does not show the claim to the server");
            let hint = "jit push, in the worktree that holds the claim".to_owned();
            findings.add(commits.weight, Problem::with(issue, Code::Unfenced, message, hint));
        }
        Ok(())
    }

    /// The commits that the push brings, the oldest first.
    fn commits(&self, update: &Update, new: ObjectId) -> Result<Vec<ObjectId>> {
        let old = update.old.filter(|old| self.site.objects.has(old)).map(|old| old.to_string());
        let known = match &self.side {
            Side::Pushes { known, .. } => known,
            Side::Receives => "--all",
        };
        let new = new.to_string();
        let mut args = vec!["rev-list", "--reverse", &new, "--not", known];
        args.extend(old.as_deref());
        let said = self.site.git().run(&args)?;
        Ok(said.split(|byte| *byte == b'\n').filter_map(ObjectId::from_hex).collect())
    }

    /// What concerns everybody goes to certain branches only, by the rules that held before the change.
    fn global(
        &self,
        sorted: &Sorted,
        parent: Option<&ObjectId>,
        branch: &str,
        findings: &mut Findings,
    ) -> Result<()> {
        let (Some(parent), false) = (parent, sorted.global.is_empty()) else { return Ok(()) };
        let rules = match committed(&self.site, Some(parent)) {
            Ok(config) => config,
            Err(Error::Config(ConfigError::Invalid(_))) => return Ok(()),
            Err(error) => return Err(error),
        };
        match divergence::branch_passes(&self.site.git(), &rules.global_operations, branch) {
            Err(Error::Config(error @ ConfigError::WrongBranch { .. })) => {
                let allowed = rules.global_operations.allowed_branches.join(" or ");
                let hint = format!("push that change to {allowed} first");
                findings.add(Weight::Stops, Problem::of(error.code(), error.to_string(), hint));
                Ok(())
            }
            done => done,
        }
    }

    fn tip(
        &self,
        commits: &CommitCheck<'_>,
        branch: String,
        old: ObjectId,
        new: ObjectId,
        named: &[Named],
        findings: &mut Findings,
    ) -> Result<()> {
        let after = self.site.commit(&new)?.tree;
        let catch_up = match &self.side {
            Side::Pushes { remote, .. } => format!("git fetch {remote} && git rebase FETCH_HEAD"),
            Side::Receives => format!("git pull --rebase origin {branch}"),
        };
        if !self.site.objects.has(&old) {
            if self.site.has(&after, b".jit/issues")? {
                let message =
                    format!("{branch} has commits there that are not here, so it cannot be compared");
                findings.add(commits.weight, Problem::of(Code::Unseen, message, catch_up));
            }
            return Ok(());
        }
        let before = self.site.commit(&old)?.tree;
        let tip = BranchCheck { commits, git: self.site.git(), branch, old, named, catch_up };
        if commits.weight == Weight::Passes { Ok(()) } else { tip.judge(&before, &after, findings) }
    }
}

#[cfg(test)]
mod tests {
    use super::Update;

    #[test]
    fn what_git_tells_is_read_and_nothing_else() {
        let (zero, one) = ("0".repeat(40), "1".repeat(40));
        let line = format!("refs/heads/a {one} refs/heads/b {zero}\n(delete) {zero} refs/heads/c {one}\n");
        let updates = Update::pushed(line.as_bytes()).unwrap();
        assert_eq!((updates[0].old, updates[0].new.is_some()), (None, true));
        assert_eq!((updates[1].name.as_slice(), updates[1].new), (&b"refs/heads/c"[..], None));
        let line = format!("{zero} {one} refs/heads/\u{fc}\n");
        assert_eq!(Update::received(line.as_bytes()).unwrap()[0].name, "refs/heads/ü".as_bytes());
        assert_eq!(Update::received(b""), Some(vec![]));
        for bad in ["x\n", "a b c\n", "1 2 3 4\n"] {
            assert_eq!(
                (Update::received(bad.as_bytes()), Update::pushed(bad.as_bytes())),
                (None, None),
                "{bad}"
            );
        }
    }
}
