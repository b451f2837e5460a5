//! Evictions that nobody decides alone: who asked for one, who approved it, and the leave to do it once enough have.
//!
//! A request and every approval are leases on names of their own (`evict:<lease>`, `approval:<lease>:<agent>`). So they are
//! records of the log like all others, every clone sees them where claims are shared, they run out by themselves, and
//! the rules of leases know nothing of them. Nothing here says what is configured.

use std::collections::BTreeMap;

use holdfast_kernel::{
    Acquire, Again, Answer, Command, Holder, KindRule, Lease, LeaseId, Limits, Millis, Mode, Name, Policy,
    Refusal, Request as Wanted, Resource, Tags, Text, TtlRange,
};
use holdfast_store::View;

use super::Claims;
use super::lease::{APPROVAL, ISSUE_TAG, Kind, REQUEST};
use crate::error::{Error, Result};
use crate::worktree;

/// What stands in the place of a worktree: whoever asks or approves need not stay in one.
const PLACE: &str = "approvals";

/// How long a request and an approval stand.
const STAND: Millis = Millis::from_secs(86_400);

/// What an eviction needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Who may approve: agents, or all of a kind, `person:*`.
    pub approvers: Vec<String>,
    /// How many of them have to.
    pub approvals: u32,
}

impl Rule {
    /// Whether this agent may approve.
    #[must_use]
    pub fn lets(&self, agent: &Name) -> bool {
        let is_meant = |approver: &String| match approver.strip_suffix('*') {
            Some(kind) => agent.as_str().starts_with(kind),
            None => agent.as_str() == approver,
        };
        self.approvers.iter().any(is_meant)
    }
}

/// A request to end a claim, as far as it has come.
#[derive(Clone, Debug)]
pub struct Request {
    /// The claim.
    pub lease: Lease,
    /// Who asked, when and why.
    pub asked: Lease,
    /// Who approved, each once, in their order.
    pub approvals: Vec<Lease>,
}

impl Request {
    /// How many approvals it has and needs, by the rule that lacks most; none if it lacks nothing.
    #[must_use]
    pub fn lacks(&self, rules: &[Rule]) -> Option<(u32, u32)> {
        let counted = |rule: &Rule| {
            let counts = |approval: &&Lease| {
                approval.holder.agent != self.asked.holder.agent && rule.lets(&approval.holder.agent)
            };
            let given = u32::try_from(self.approvals.iter().filter(counts).count()).unwrap_or(u32::MAX);
            (given, rule.approvals)
        };
        let lacking = rules.iter().map(counted).filter(|(given, needed)| given < needed);
        lacking.max_by_key(|(given, needed)| needed - given)
    }

    /// Who approved.
    #[must_use]
    pub fn approvers(&self) -> Vec<String> {
        self.approvals.iter().map(|approval| approval.holder.agent.to_string()).collect()
    }
}

/// That a claim may be ended by whoever asks. Only [`Claims::leave`] gives it.
#[derive(Debug)]
pub struct Leave {
    lease: Lease,
    by: Holder,
    request: Option<Request>,
}

impl Claims {
    /// Leave to end a claim, if nothing that is configured stands in the way or enough have approved it. What is over
    /// needs none, and nobody needs leave to end what is its own.
    ///
    /// # Errors
    /// When the claims cannot be read, or the claim is gone.
    pub fn leave(&self, rules: &[Rule], lease: LeaseId, by: &Holder) -> Result<Option<Leave>> {
        let view = self.view()?;
        let lease = view.table.get(lease).ok_or_else(|| Error::NoLease(lease.to_string()))?.clone();
        let request = request_in(&view, &lease);
        let is_free = rules.is_empty() || lease.standing(&view.now).is_over();
        let is_approved = request.as_ref().is_some_and(|request| request.lacks(rules).is_none());
        let given = is_free || lease.holder.agent == by.agent || is_approved;
        Ok(given.then(|| Leave { lease, by: by.clone(), request }))
    }

    /// Ends a claim. Who asked and who approved stands in the record of it.
    ///
    /// # Errors
    /// The refusal, or what failed.
    pub fn end(&self, leave: Leave, reason: &Text) -> Result<Lease> {
        let Leave { lease, by, request } = leave;
        let reason = request.as_ref().map_or_else(|| reason.clone(), |request| told(request, reason));
        let command = Command::Evict { lease: lease.id, by: by.clone(), reason };
        let ended = match self.followed(&command)? {
            Answer::Evicted(lease) => lease,
            other => return Err(Error::unexpected("end a claim", &other)),
        };
        self.close(&by)?;
        Ok(ended)
    }

    /// The request to end this claim, if there is one.
    ///
    /// # Errors
    /// When the claims cannot be read.
    pub fn request(&self, lease: &Lease) -> Result<Option<Request>> {
        Ok(request_in(&self.view()?, lease))
    }

    /// All requests to end claims that are in force, in the order in which they were made.
    ///
    /// # Errors
    /// When the claims cannot be read.
    pub fn requests(&self) -> Result<Vec<Request>> {
        let view = self.view()?;
        // Few are asked for, however many claims there are.
        let claims = view.table.iter().filter(is_request).filter_map(|asked| view.table.get(subject(asked)?));
        let in_force = claims.filter(|lease| !lease.standing(&view.now).is_over());
        let mut found: Vec<Request> = in_force.filter_map(|lease| request_in(&view, lease)).collect();
        found.sort_by_key(|request| request.asked.fence);
        Ok(found)
    }

    /// Asks for the end of a claim; if somebody has asked already, nothing more happens.
    ///
    /// # Errors
    /// What failed.
    pub fn ask_for_end(&self, lease: &Lease, by: &Holder, reason: &Text) -> Result<Request> {
        self.close(by)?;
        match self.put(&format!("{REQUEST}{}", lease.id), lease, by, Some(reason)) {
            Ok(()) => {}
            Err(Error::Refused(refusal)) if matches!(*refusal, Refusal::Held { .. }) => {}
            Err(error) => return Err(error),
        }
        let request = self.request(lease)?;
        request.ok_or_else(|| Error::Internal(format!("the request to end {} is not there", lease.id)))
    }

    /// Approves the end of a claim.
    ///
    /// # Errors
    /// What failed.
    pub fn approve(&self, lease: &Lease, by: &Holder, reason: Option<&Text>) -> Result<()> {
        self.put(&format!("{APPROVAL}{}:{}", lease.id, by.agent), lease, by, reason)
    }

    /// Puts a request or an approval on record.
    fn put(&self, name: &str, about: &Lease, by: &Holder, reason: Option<&Text>) -> Result<()> {
        let unfit = |what: &str| Error::Internal(format!("'{what}' cannot be put on record"));
        let place = match worktree::split(by.place.as_str()).1 {
            Some(clone) => worktree::place_in(PLACE, clone),
            None => PLACE.to_owned(),
        };
        let issue = Text::new(about.resource.text()).map_err(|_| unfit(about.resource.text()))?;
        let command = Command::Acquire(Acquire {
            id: self.fresh_id()?,
            resource: Resource::from(Name::new(name).map_err(|_| unfit(name))?),
            holder: Holder { agent: by.agent.clone(), place: Name::new(&place).map_err(|_| unfit(&place))? },
            mode: Mode::Exclusive,
            request: Wanted::Finite(STAND),
            reason: reason.cloned(),
            tags: Tags::none().with(ISSUE_TAG, issue).map_err(|_| unfit(name))?,
            dead: Vec::new(),
        });
        // How long and how many claims an agent may have is not about this.
        let rule = KindRule { ttl: TtlRange { min: STAND, max: STAND }, indefinite: false };
        let (again, kinds, limits) = (Again::Return, BTreeMap::new(), Limits::NONE);
        let policy = Policy { again, rule, kinds, limits, ..self.policy.clone() };
        match self.medium.transact(&policy, &command)? {
            Answer::Granted(_) | Answer::AlreadyHeld(_) => Ok(()),
            other => Err(Error::unexpected("put an approval on record", &other)),
        }
    }

    /// Closes requests and approvals that are over, or whose claims or requests are.
    ///
    /// # Errors
    /// What failed.
    pub(crate) fn close(&self, by: &Holder) -> Result<()> {
        let view = self.view()?;
        let stands = |lease: &Lease| !lease.standing(&view.now).is_over();
        let is_open = |lease: &Lease| {
            let subject = subject(lease).and_then(|id| view.table.get(id)).filter(|lease| stands(lease));
            // Who approved one request has not approved the next one.
            stands(lease) && subject.is_some_and(|subject| request_in(&view, subject).is_some())
        };
        let closed = view.table.iter().filter(|lease| Kind::Approval.has(lease) && !is_open(lease));
        for lease in closed {
            let reason = Text::new("closed").map_err(|_| Error::Internal("no reason".to_owned()))?;
            let command = Command::Evict { lease: lease.id, by: by.clone(), reason };
            match self.medium.transact(&self.policy, &command).map_err(Error::from) {
                Ok(_) => {}
                // Somebody else was faster.
                Err(Error::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The claim that a request or an approval is about.
fn subject(lease: &Lease) -> Option<LeaseId> {
    let name = lease.resource.name()?.as_str();
    let rest = name.strip_prefix(REQUEST).or_else(|| name.strip_prefix(APPROVAL))?;
    rest.split(':').next()?.parse().ok()
}

fn is_request(lease: &&Lease) -> bool {
    lease.resource.name().is_some_and(|name| name.as_str().starts_with(REQUEST))
}

fn request_in(view: &View, lease: &Lease) -> Option<Request> {
    let stands = |lease: &&Lease| !lease.standing(&view.now).is_over();
    let about = || view.table.iter().filter(|found| subject(found) == Some(lease.id)).filter(stands);
    let asked = about().find(is_request)?.clone();
    let mut approvals: Vec<Lease> = about().filter(|found| !is_request(found)).cloned().collect();
    approvals.sort_by_key(|approval| approval.fence);
    Some(Request { lease: lease.clone(), asked, approvals })
}

/// A reason with who asked and who approved; of a long one, those alone.
fn told(request: &Request, reason: &Text) -> Text {
    let mut people = format!("asked for by {}", request.asked.holder.agent);
    if !request.approvals.is_empty() {
        people.push_str(&format!(", approved by {}", request.approvers().join(", ")));
    }
    let all = Text::new(&format!("{reason} ({people})"));
    all.or_else(|_| Text::new(&people)).unwrap_or_else(|_| reason.clone())
}
