//! Claims: leases on issues, kept in the control plane's log. Every question goes to the log medium, and
//! the kernel answers it; nothing here decides about a lease.

pub mod approvals;
pub mod chosen;
pub(crate) mod escalations;
pub mod events;
pub mod keeper;
pub mod lease;
pub mod queue;
pub mod reserved;
pub mod shared;
pub mod testimony;
pub mod wait;
pub mod warn;

mod believed;
mod credentials;
mod fetched;
mod limit;
mod lock;
mod medium;
mod projection;
pub mod renew;
mod watcher;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use holdfast_kernel::{
    Acquire, Answer, Command, Holder, Lease, LeaseId, Millis, Mode, Name, Policy, Refusal, Request, Resource,
    Table, Tags, Term, Text,
};
use holdfast_store::{JournaledMedium, View, liveness};
use holdfast_sys::Sys;

use crate::agent::AgentId;
use crate::caller::{Agent, Caller};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::ids::{IssueId, Typed};
use crate::workspace::Workspace;
use keeper::Keepers;
pub use medium::{handle_on, log_at, medium_at};
pub use reserved::Paths;
use shared::SharedClaims;
use watcher::Watcher;

/// The claims of a repository.
pub struct Claims {
    /// Where they are kept.
    pub medium: Box<dyn JournaledMedium>,
    /// What may be granted, whatever kind of agent it is.
    pub policy: Policy,
    /// How many issues an agent of a kind may claim, where that is limited.
    most: BTreeMap<String, u32>,
    /// Where the control plane is.
    pub control: PathBuf,
    /// The claims that all clones share, if they are kept like that.
    pub shared: Option<Arc<SharedClaims>>,
    sys: Sys,
    keepers: Keepers,
}

/// Somebody who claims.
#[derive(Clone, Debug)]
pub struct Claimant {
    /// Who holds: an agent in a worktree.
    pub holder: Holder,
    /// What is kept beside a grant: the branch, and the keeper if one was named.
    pub tags: Tags,
}

/// On which terms a claim is asked for.
#[derive(Clone, Debug)]
pub struct Terms {
    /// For how long.
    pub request: Request,
    /// The reason given; a claim without a deadline needs one.
    pub reason: Option<Text>,
    /// The paths that are wanted with it.
    pub reserve: Option<Paths>,
}

/// Says why nothing is granted although nobody is in the way. It is asked inside the grant: what is written under claims
/// of this clone stays as it is meanwhile. It must not ask for the claims, which it is shown.
pub type Objection<'a> = dyn Fn(&View) -> Result<Option<Error>> + 'a;

impl Claims {
    /// The claims of a workspace. Nothing is read or written yet.
    #[must_use]
    pub(crate) fn open(
        caller: &Caller,
        workspace: &Workspace,
        writer: &Arc<OnceLock<AgentId>>,
        mode: u32,
    ) -> Self {
        let control = workspace.control.clone();
        let watcher = Watcher::new(caller, workspace, writer, mode);
        let (medium, shared) = medium::of(caller, workspace, watcher, mode);
        let grace = workspace.config.coordination.keeper_grace_secs;
        let keepers = Keepers::new(&caller.sys, &control, grace, mode);
        let config = &workspace.config;
        let policy = if shared.is_some() { config.shared_policy() } else { config.policy() };
        let most = config.kinds.iter().filter_map(|(kind, rule)| Some((kind.clone(), rule.max_claims?)));
        Self { medium, policy, most: most.collect(), control, shared, sys: caller.sys.clone(), keepers }
    }

    /// What is claimed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn view(&self) -> Result<View> {
        Ok(self.medium.view()?)
    }

    /// Has the server asked that keeps shared claims, so that what is shown is not older than this. Where the claims are
    /// this clone's own, there is nothing to ask.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn ask(&self) -> Result<()> {
        self.shared.as_ref().map_or(Ok(()), |shared| Ok(shared.known(true).map(drop)?))
    }

    /// Before somebody looks for something to do: asks the server that keeps shared claims, and fetches what was landed
    /// last. Where the claims are this clone's own, there is nothing to ask.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn catch_up(&self) -> Result<()> {
        self.shared.as_ref().map_or(Ok(()), |shared| Ok(shared.catch_up()?))
    }

    /// Asks for an issue. A lease in the way whose keeper is gone for long enough ends in the same step.
    ///
    /// # Errors
    /// The refusal, or what failed.
    pub fn acquire(&self, issue: IssueId, who: &Claimant, terms: &Terms) -> Result<Answer> {
        if terms.reserve.is_some() {
            let first = self.acquire_all(&[issue], who, terms, None)?.into_iter().next();
            return first.ok_or_else(|| Error::Internal(format!("nothing was said of {issue}")));
        }
        let over = |lease| self.command(&self.acquiring(issue, who, terms, vec![lease])?);
        match self.command(&self.acquiring(issue, who, terms, Vec::new())?) {
            Ok(Answer::AlreadyHeld(lease)) if self.lost_keeper(&lease, who) => over(lease.id),
            Err(Error::Refused(refusal)) => match self.past_keeper(*refusal)? {
                Ok(dead) => over(dead),
                Err(refusal) => Err(refusal.into()),
            },
            answer => answer,
        }
    }

    /// Asks for several issues, and for the paths that are wanted with the first of them: all of it or nothing, in one
    /// step. Leases in the way whose keepers are gone for long enough end with it. Gives an answer for each issue.
    ///
    /// # Errors
    /// The objection, the first refusal, or what failed.
    pub fn acquire_all(
        &self,
        issues: &[IssueId],
        who: &Claimant,
        terms: &Terms,
        objection: Option<&Objection<'_>>,
    ) -> Result<Vec<Answer>> {
        let mut dead = Vec::new();
        loop {
            match self.together(issues, who, terms, &dead, objection) {
                Ok(mut answers) => {
                    answers.truncate(issues.len());
                    let lost = |answer: &Answer| match answer {
                        Answer::AlreadyHeld(lease) if self.lost_keeper(lease, who) => Some(lease.id),
                        _ => None,
                    };
                    let lost: Vec<LeaseId> =
                        answers.iter().filter_map(lost).filter(|id| !dead.contains(id)).collect();
                    if lost.is_empty() {
                        return Ok(answers);
                    }
                    dead.extend(lost);
                }
                Err(Error::Refused(refusal)) => match self.past_keeper(*refusal)? {
                    Ok(gone) if !dead.contains(&gone) => dead.push(gone),
                    Ok(gone) => return Err(Error::Internal(format!("the lease {gone} does not end"))),
                    Err(refusal) => return Err(refusal.into()),
                },
                Err(error) => return Err(error),
            }
        }
    }

    fn together(
        &self,
        issues: &[IssueId],
        who: &Claimant,
        terms: &Terms,
        dead: &[LeaseId],
        objection: Option<&Objection<'_>>,
    ) -> Result<Vec<Answer>> {
        let wanted: Vec<Acquire> = issues
            .iter()
            .map(|issue| self.wanting(*issue, who, terms, dead.to_vec()))
            .collect::<Result<_>>()?;
        let asking = terms.reserve.as_ref().map(|paths| self.asking(paths, who, dead)).transpose()?;
        let objected = RefCell::new(None);
        let plan = |view: &View| {
            objected.replace(objection.and_then(|objects| objects(view).unwrap_or_else(Some)));
            if objected.borrow().is_some() {
                return Ok(Vec::new());
            }
            let View { table, now, .. } = view;
            let mut commands: Vec<Command> = wanted.iter().cloned().map(Command::Acquire).collect();
            self.within_limit(view, &commands)?;
            if let (Some(asking), Some(first)) = (&asking, wanted.first()) {
                let is_kept = |lease: &&Lease| !lease.standing(now).is_over() && !dead.contains(&lease.id);
                let held = table.held_by(&first.resource, &first.holder).filter(is_kept);
                let claim = held.map_or(first.id, |lease| lease.id);
                let paths = self.reserving(asking, Some(claim), terms.request, table, now);
                commands.extend(paths.map_err(unplanned)?);
            }
            Ok(commands)
        };
        let answers = self.medium.transact_together(&self.policy, &plan)?;
        objected.take().map_or(Ok(answers), Err)
    }

    /// Asks for paths alone, or for those of a claim that is held: all of them or none, in one step.
    ///
    /// # Errors
    /// The first refusal, or what failed.
    pub fn reserve(&self, paths: &Paths, who: &Claimant, claim: Option<&Lease>) -> Result<Vec<Answer>> {
        let length = match claim.map(|claim| &claim.term) {
            Some(Term::Finite { ttl, .. }) => Request::Finite(*ttl),
            Some(Term::Indefinite { .. }) => Request::Indefinite,
            None => paths.request.unwrap_or(Request::Indefinite),
        };
        let mut dead = Vec::new();
        loop {
            let asking = self.asking(paths, who, &dead)?;
            let plan = |View { table, now, .. }: &View| {
                let mut commands = Vec::new();
                if let Some(claim) = claim {
                    // It may have been lost since it was looked at.
                    commands.push(Command::Check(claim.claim()));
                }
                let claim = claim.map(|claim| claim.id);
                let asked = self.reserving(&asking, claim, length, table, now);
                commands.extend(asked.map_err(unplanned)?);
                Ok(commands)
            };
            match self.medium.transact_together(&self.policy, &plan).map_err(Error::from) {
                Err(Error::Refused(refusal)) => match self.past_keeper(*refusal)? {
                    Ok(gone) if !dead.contains(&gone) => dead.push(gone),
                    Ok(gone) => return Err(Error::Internal(format!("the lease {gone} does not end"))),
                    Err(refusal) => return Err(refusal.into()),
                },
                done => return done,
            }
        }
    }

    /// The lease in the way, if others may take it over because its keeper is gone; else the refusal, which says when
    /// they may.
    fn past_keeper(&self, refusal: Refusal) -> Result<std::result::Result<LeaseId, Refusal>> {
        let Refusal::Held { blocker, others, retry_after } = refusal else { return Ok(Err(refusal)) };
        let takeover_in = match keeper::is_gone(&self.sys, &blocker) {
            true => self.keepers.takeover_in(&blocker, &self.view()?)?,
            false => None,
        };
        Ok(match takeover_in {
            Some(Millis::ZERO) => Ok(blocker.id),
            sooner => {
                let retry_after = [retry_after, sooner].into_iter().flatten().min();
                Err(Refusal::Held { blocker, others, retry_after })
            }
        })
    }

    /// Whether a lease that its holder asks for again has lost its keeper, and a new one is named.
    fn lost_keeper(&self, lease: &Lease, who: &Claimant) -> bool {
        let named = liveness::described(&who.tags);
        named.is_some() && named != liveness::process(lease) && keeper::is_gone(&self.sys, lease)
    }

    /// The leases of others that `who` may take over because their keepers are gone for long enough.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn given_up(&self, who: &Claimant) -> Result<Vec<LeaseId>> {
        self.keepers.given_up(&who.holder, &self.view()?)
    }

    /// The leases of `who` that have lost their keepers, if it names a new one.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn without_keeper(&self, who: &Claimant) -> Result<Vec<LeaseId>> {
        let table = self.view()?.table;
        let own = table.iter().filter(|lease| lease.holder == who.holder);
        Ok(own.filter(|lease| self.lost_keeper(lease, who)).map(|lease| lease.id).collect())
    }

    /// The command that asks for an issue, whose lease may be one of the `dead`.
    ///
    /// # Errors
    /// When there is no id to be had for it.
    pub fn acquiring(
        &self,
        issue: IssueId,
        who: &Claimant,
        terms: &Terms,
        dead: Vec<LeaseId>,
    ) -> Result<Command> {
        self.wanting(issue, who, terms, dead).map(Command::Acquire)
    }

    fn wanting(&self, issue: IssueId, who: &Claimant, terms: &Terms, dead: Vec<LeaseId>) -> Result<Acquire> {
        Ok(Acquire {
            id: self.fresh_id()?,
            resource: resource(issue)?,
            holder: who.holder.clone(),
            mode: Mode::Exclusive,
            request: terms.request,
            reason: terms.reason.clone(),
            tags: who.tags.clone(),
            dead,
        })
    }

    /// Has a command decided and made durable. What is done to a claim is done to the reservations that belong to it, in
    /// the same step.
    ///
    /// # Errors
    /// The refusal, or what failed.
    pub fn command(&self, command: &Command) -> Result<Answer> {
        if let Command::Evict { lease, .. } = command {
            return Err(Error::Internal(format!("somebody would end {lease} without asking for leave")));
        }
        let answer = self.followed(command)?;
        match (command, &answer) {
            // Whatever medium it is, a claim on anything else would be worse than none.
            (Command::Acquire(wanted), Answer::Granted(lease) | Answer::AlreadyHeld(lease))
                if (&lease.resource, &lease.holder) != (&wanted.resource, &wanted.holder) =>
            {
                Err(Error::unexpected(&format!("grant {} to {}", wanted.resource, wanted.holder), &answer))
            }
            _ => Ok(answer),
        }
    }

    /// Asks for several things, each with an answer of its own: one step where all clones share the claims, as each
    /// step there is a way through the network.
    ///
    /// # Errors
    /// When none of them could be asked for.
    pub fn commands(&self, commands: &[Command]) -> Result<Vec<Result<Answer>>> {
        if commands.iter().any(|command| matches!(command, Command::Evict { .. })) {
            return Err(Error::Internal("somebody would end a claim without asking for leave".to_owned()));
        }
        match &self.shared {
            _ if commands.is_empty() => Ok(Vec::new()),
            Some(shared) => {
                let view = self.view()?;
                let mut all = commands.to_vec();
                for command in commands {
                    let fresh = || Ok(self.sys.entropy.lease_id(&view.now)?);
                    let followed = reserved::followed(command, &view.table, &view.now, &fresh)?;
                    let belongs = followed.into_iter().filter(|command| !commands.contains(command));
                    all.extend(belongs);
                }
                let answers = shared.transact_all(&self.policy, &all)?.into_iter().take(commands.len());
                Ok(answers.map(|answer| answer.map_err(Error::from)).collect())
            }
            None => Ok(commands.iter().map(|command| self.command(command)).collect()),
        }
    }

    /// Decides a command, together with what it means for the reservations that belong to its lease.
    fn followed(&self, command: &Command) -> Result<Answer> {
        if !reserved::is_followed(command) && !self.is_counted(command) {
            return Ok(self.medium.transact(&self.policy, command)?);
        }
        let plan = |view: &View| {
            self.within_limit(view, std::slice::from_ref(command))?;
            let View { table, now, .. } = view;
            reserved::followed(command, table, now, &|| Ok(self.sys.entropy.lease_id(now)?))
        };
        let first = self.medium.transact_together(&self.policy, &plan)?.into_iter().next();
        first.ok_or_else(|| Error::Internal("the claim log said nothing".to_owned()))
    }

    /// An id that no lease has.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn fresh_id(&self) -> Result<LeaseId> {
        Ok(self.sys.entropy.lease_id(&self.sys.clock.now()?)?)
    }

    /// The lease that was meant: by its own id or the issue's, complete or not.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn resolve(&self, typed: &str) -> Result<Lease> {
        let typed = Typed::new(typed)?;
        match (meant(&typed, &self.medium.view()?.table), &self.shared) {
            // Somebody elsewhere may have claimed it since the server was asked.
            (Err(Error::NoLease(_)), Some(shared)) => meant(&typed, &shared.known(true)?.view.table),
            (found, _) => found,
        }
    }

    /// The file that changes whenever the claims do.
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        let shared = self.shared.as_ref().and_then(|shared| shared.seen_path());
        shared.unwrap_or_else(|| self.control.join("claims.jsonl"))
    }

    /// For somebody who waits: asks the server that keeps shared claims, unless this clone did a moment ago.
    pub(crate) fn poll(&self) {
        if let Some(shared) = &self.shared {
            shared.poll();
        }
    }
}

/// The lease that was meant: by its own id or the issue's, complete or not.
fn meant(typed: &Typed, table: &Table) -> Result<Lease> {
    let is_meant = |lease: &&Lease| {
        let issue = IssueId::of(&lease.resource);
        lease.id.to_string().starts_with(typed.as_str()) || issue.is_some_and(|issue| typed.names(issue))
    };
    let mut found = table.iter().filter(|lease| lease::Kind::Issue.has(lease)).filter(is_meant);
    match (found.next(), found.next()) {
        (None, _) => Err(Error::NoLease(typed.as_str().to_owned())),
        (Some(lease), None) => Ok(lease.clone()),
        (Some(first), Some(second)) => {
            let all = [first, second].into_iter().chain(found);
            let candidates =
                all.map(|lease| format!("{} (on {})", lease.id, lease.resource)).take(20).collect();
            Err(Error::Ambiguous { prefix: typed.as_str().to_owned(), candidates })
        }
    }
}

/// An issue as the rules know it.
///
/// # Errors
/// Never for an id.
pub fn resource(issue: IssueId) -> Result<Resource> {
    Name::new(&issue.to_string()).map(Resource::from).map_err(|_| Error::BadId(issue.to_string()))
}

/// What is kept beside a lease. A branch whose name cannot be kept is left out.
#[must_use]
pub fn branch_tags(branch: Option<&str>) -> Tags {
    let branch = branch.and_then(|branch| Text::new(branch).ok());
    branch.and_then(|branch| Tags::none().with("branch", branch).ok()).unwrap_or_default()
}

impl Terms {
    /// The terms that were typed.
    ///
    /// # Errors
    /// When they cannot be.
    pub fn parse(ttl: Option<&str>, why: Option<&str>, config: &Config, agent: &Agent) -> Result<Self> {
        let request = match ttl.map(|text| seconds("--ttl", text)).transpose()? {
            Some(0) => Request::Indefinite,
            Some(secs) => Request::Finite(Millis::from_secs(secs)),
            None => Request::Finite(config.ttl_for(&agent.file, agent.id.kind())),
        };
        let reason = why.map(|text| reason("--reason", text)).transpose()?;
        Ok(Self { request, reason, reserve: None })
    }
}

/// What cannot be planned, for a medium that is about to ask.
fn unplanned(error: Error) -> holdfast_store::Error {
    match error {
        Error::Sys(error) => error.into(),
        other => holdfast_store::Error::damaged(Path::new("the table"), "a plan", other),
    }
}

/// A text that explains something.
///
/// # Errors
/// When it cannot be kept.
pub fn reason(what: &'static str, text: &str) -> Result<Text> {
    Text::new(text).map_err(|why| Error::BadValue { what, given: text.to_owned(), why: why.to_string() })
}

/// A number of seconds that was typed.
///
/// # Errors
/// When it is none.
pub fn seconds(what: &'static str, text: &str) -> Result<u64> {
    let bad = |why: &str| Error::BadValue { what, given: text.to_owned(), why: why.to_owned() };
    match text.parse::<i128>() {
        Ok(secs) if secs < 0 => Err(bad("must not be negative")),
        Ok(secs) => {
            let longest = i128::from(Millis::LONGEST.get() / 1_000);
            let secs = u64::try_from(secs).ok().filter(|secs| i128::from(*secs) <= longest);
            secs.ok_or_else(|| bad(&format!("longer than the maximum of {longest} seconds")))
        }
        Err(_) => Err(bad("must be a whole number of seconds")),
    }
}

/// The path of a file in the control plane that is named after an agent.
#[must_use]
pub fn heartbeat_file(control: &Path, agent: &str) -> PathBuf {
    control.join("heartbeat").join(format!("{agent}.json"))
}
