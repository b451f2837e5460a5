//! Adopting a commit that was made without its claims, by somebody whose commit cannot be taken back because others
//! build on it. Whoever adopts it holds every issue that it changes for that moment, and says why; that stands in the
//! log of the claims. A push with that commit is then judged by the rest of its commits, and by where its branch goes:
//! no fence gets lower by it.

use std::collections::BTreeSet;

use holdfast_git::ObjectId;
use holdfast_kernel::{
    Acquire, Again, Answer, Command, Holder, Lease, Millis, Mode, Name, Policy, Request, Text,
};

use super::claim_logs::ClaimLogs;
use super::commits::{CommitCheck, changed};
use super::findings::{Findings, Weight};
use super::past::adopted;
use super::site::Site;
use crate::caller::Caller;
use crate::claims::{Claimant, Claims, Terms};
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::session::Session;

/// How long the claims last that are taken for this; nobody waits longer for somebody who died in between.
const MOMENT: Millis = Millis::from_secs(30);

/// A commit that was adopted, or needs nobody who does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adopted {
    /// The commit.
    pub commit: String,
    /// The issues that it changes without a claim; none if it passes by itself or was adopted before.
    pub issues: Vec<IssueId>,
}

/// Adopts a commit.
///
/// # Errors
/// When there is no such commit, somebody else holds an issue that it changes, or something failed.
pub fn adopt(caller: &Caller, typed: &str, why: &Text) -> Result<Adopted> {
    let bad =
        |why: &str| Error::BadValue { what: "the commit", given: typed.to_owned(), why: why.to_owned() };
    let site = Site::find(caller)?.ok_or_else(|| bad("there is no git repository here"))?;
    let commit = commit(&site, typed)?.ok_or_else(|| bad("there is no such commit here"))?;
    let session = site.session()?;
    let claims = session.claims_to_change()?;
    let issues = refused(&site, &session, commit)?;
    if !issues.is_empty() {
        let adoption = Adoption { session: &session, claims, commit, why };
        let (held, done) = adoption.hold(&issues);
        let done = done.and_then(|()| adoption.record());
        held.iter().for_each(|lease| adoption.release(lease));
        done?;
    }
    Ok(Adopted { commit: commit.to_string(), issues: issues.into_iter().collect() })
}

fn commit(site: &Site<'_>, typed: &str) -> Result<Option<ObjectId>> {
    let name = format!("{typed}^{{commit}}");
    let said = site.git().ask(&["rev-parse", "--quiet", "--verify", "--end-of-options", &name], &[])?;
    Ok(ObjectId::from_hex(said.stdout.trim_ascii()))
}

/// The issues that a push with this commit would be refused for, were leases insisted on.
fn refused(site: &Site<'_>, session: &Session, id: ObjectId) -> Result<BTreeSet<IssueId>> {
    let logs =
        ClaimLogs::open(session.sys(), &[session.control().to_path_buf()], session.claims().shared.as_ref())?;
    let check = CommitCheck {
        objects: &site.objects,
        git: site.git(),
        logs: &logs,
        blind: false,
        weight: Weight::Stops,
        foreign: Weight::from(session.config().enforcement.foreign_claims),
    };
    let commit = site.commit(&id)?;
    let known: Vec<ObjectId> = commit.parents.iter().filter(|id| site.objects.has(id)).copied().collect();
    let parents = site.trees(&known)?;
    let mut findings = Findings::default();
    let sorted = changed(&site.objects, &commit, &parents)?;
    check.judge(id, &commit, &parents, &sorted, &mut findings)?;
    Ok(findings.issues().filter_map(IssueId::parse).collect())
}

/// Whoever adopts a commit.
struct Adoption<'a> {
    session: &'a Session,
    claims: &'a Claims,
    commit: ObjectId,
    why: &'a Text,
}

impl Adoption<'_> {
    fn holder(&self) -> Result<&Holder> {
        self.session.holder()
    }

    /// How long a claim for the moment lasts.
    fn moment(&self) -> Result<Millis> {
        let range = self.claims.policy.rule_for(self.holder()?).ttl;
        Ok(MOMENT.max(range.min).min(range.max))
    }

    /// Claims the issues that are not held here; gives those that it claimed also where one cannot be had.
    fn hold(&self, issues: &BTreeSet<IssueId>) -> (Vec<Lease>, Result<()>) {
        let mut held = Vec::new();
        let done = issues.iter().try_for_each(|issue| {
            let who = Claimant { holder: self.holder()?.clone(), tags: self.session.tags()? };
            let terms = Terms {
                request: Request::Finite(self.moment()?),
                reason: Some(self.why.clone()),
                reserve: None,
            };
            match self.claims.acquire(*issue, &who, &terms)? {
                Answer::Granted(lease) => held.push(lease),
                Answer::AlreadyHeld(_) => {}
                other => return Err(Error::unexpected("grant a lease", &other)),
            }
            Ok(())
        });
        (held, done)
    }

    /// Says in the log that the commit is adopted, by whom, and why.
    fn record(&self) -> Result<()> {
        let name = adopted(&self.commit);
        let resource =
            Name::new(&name).map_err(|why| Error::Internal(format!("'{name}' cannot be leased: {why}")))?;
        let command = Command::Acquire(Acquire {
            id: self.claims.fresh_id()?,
            resource: resource.into(),
            holder: self.holder()?.clone(),
            mode: Mode::Exclusive,
            request: Request::Finite(self.moment()?),
            reason: Some(self.why.clone()),
            tags: self.session.tags()?,
            dead: Vec::new(),
        });
        let policy = Policy { again: Again::Return, ..self.claims.policy.clone() };
        match self.claims.medium.transact(&policy, &command)? {
            Answer::Granted(lease) | Answer::AlreadyHeld(lease) => self.release(&lease),
            other => return Err(Error::unexpected("grant a lease", &other)),
        }
        Ok(())
    }

    /// Gives back what was claimed for the moment; what cannot be given back ends by itself.
    fn release(&self, lease: &Lease) {
        let release = Command::Release { lease: lease.id, holder: lease.holder.clone() };
        let _ = self.claims.command(&release);
    }
}
