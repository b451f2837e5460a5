//! What was escalated, on record before anything is done about it: so of several who watch one acts, and nothing is done
//! twice, whoever dies when.
//!
//! A record is a lease on a name of its own (`escalation:<when>:<rule>:<occurrence>`), like a request to end a claim: it is
//! in the log, and every clone sees it where claims are shared. It is renewed once what it says was done. Nothing here
//! says what is configured, nor what happened.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_kernel::{
    Acquire, Again, Answer, Command, Holder, KindRule, Lease, Limits, Millis, Mode, Name, Policy, Refusal,
    Request as Wanted, Resource, Stamp, Tags, Term, Text, TtlRange,
};
use holdfast_store::View;

use super::Claims;
use super::lease::{ESCALATION, ISSUE_TAG, Kind};
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::worktree;

/// What stands in the place of a worktree.
const PLACE: &str = "escalations";

/// How long a record stands before and after what it says was done; longer than anybody waits for either.
const OPEN: Millis = Millis::LONGEST;
const DONE: Millis = Millis::from_secs(Millis::LONGEST.get() / 1_000 - 1);

/// What a record says that is to be done.
const ACT: &str = "act";

/// How old what somebody saw may be when it is put on record, and how old a record has to be to be closed. The one is far
/// below the other, so nobody who was stopped for a while escalates again what is long over.
const FRESH: Millis = Millis::from_secs(600);
const OLD: Millis = Millis::from_secs(86_400);

/// Something to be put on record.
pub(crate) struct Entry<'a> {
    /// What it is about: when, which rule, which occurrence.
    pub(crate) name: String,
    /// The issue.
    pub(crate) issue: IssueId,
    /// What is to be done, in a word.
    pub(crate) act: &'static str,
    /// What there is to say about it.
    pub(crate) text: Text,
    /// When it was seen.
    pub(crate) seen: &'a Stamp,
}

impl Claims {
    /// Puts something on record, if nobody has: then whoever asks has to act.
    ///
    /// # Errors
    /// What failed.
    pub(crate) fn escalate(
        &self,
        entry: Entry<'_>,
        agent: &Name,
        clone: Option<&str>,
    ) -> Result<Option<Lease>> {
        let unfit = |what: &str| Error::Internal(format!("'{what}' cannot be put on record"));
        let Entry { name, issue, act, text, seen } = entry;
        let name = format!("{ESCALATION}{name}");
        let place = clone.map_or_else(|| PLACE.to_owned(), |clone| worktree::place_in(PLACE, clone));
        let tag = |text: &str| Text::new(text).map_err(|_| unfit(text));
        let tags = Tags::none().with(ISSUE_TAG, tag(&issue.to_string())?).map_err(|_| unfit(&name))?;
        let command = Command::Acquire(Acquire {
            id: self.fresh_id()?,
            resource: Resource::from(Name::new(&name).map_err(|_| unfit(&name))?),
            holder: Holder { agent: agent.clone(), place: Name::new(&place).map_err(|_| unfit(&place))? },
            mode: Mode::Exclusive,
            request: Wanted::Finite(OPEN),
            reason: Some(text),
            tags: tags.with(ACT, tag(act)?).map_err(|_| unfit(&name))?,
            dead: Vec::new(),
        });
        let plan = |View { now, .. }: &View| {
            let is_fresh = now.since(seen).forward() < FRESH;
            Ok(if is_fresh { vec![command.clone()] } else { Vec::new() })
        };
        match self.medium.transact_together(&self.on_record(), &plan).map_err(Error::from) {
            Ok(answers) => match answers.into_iter().next() {
                Some(Answer::Granted(lease)) => Ok(Some(lease)),
                Some(Answer::AlreadyHeld(_)) | None => Ok(None),
                Some(other) => Err(Error::unexpected("put an escalation on record", &other)),
            },
            Err(Error::Refused(refusal)) if matches!(*refusal, Refusal::Held { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Says of a record that what it says was done; once, whoever says it.
    ///
    /// # Errors
    /// What failed.
    pub(crate) fn escalated(&self, record: &Lease) -> Result<()> {
        let plan = |View { table, .. }: &View| {
            let open = table.get(record.id).filter(|found| !is_done(found));
            let renew = |found: &Lease| Command::Renew {
                lease: found.id,
                holder: found.holder.clone(),
                ttl: Some(DONE),
            };
            Ok(open.map(renew).into_iter().collect())
        };
        self.medium.transact_together(&self.on_record(), &plan)?;
        Ok(())
    }

    /// What is on record.
    ///
    /// # Errors
    /// When the claims cannot be read.
    pub(crate) fn escalations(&self) -> Result<Vec<Lease>> {
        let view = self.view()?;
        Ok(view.table.iter().filter(|lease| Kind::Escalation.has(lease)).cloned().collect())
    }

    /// Closes records that are old, unless what they are about is among these.
    ///
    /// # Errors
    /// What failed.
    pub(crate) fn close_escalations(&self, by: &Holder, going_on: &BTreeSet<String>) -> Result<()> {
        let reason = Text::new("over").map_err(|_| Error::Internal("no reason".to_owned()))?;
        for record in self.old_escalations()? {
            if about(&record).is_some_and(|about| going_on.contains(&about)) {
                continue;
            }
            let command = Command::Evict { lease: record.id, by: by.clone(), reason: reason.clone() };
            match self.medium.transact(&self.policy, &command).map_err(Error::from) {
                // Somebody else may have been faster.
                Ok(_) | Err(Error::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Records that can be closed once they are about nothing any more.
    ///
    /// # Errors
    /// When the claims cannot be read.
    pub(crate) fn old_escalations(&self) -> Result<Vec<Lease>> {
        let now = self.sys.clock.now()?;
        let mut records = self.escalations()?;
        records.retain(|record| now.since(&record.granted).forward() >= OLD);
        Ok(records)
    }

    /// How long and how many claims an agent may have is not about records.
    fn on_record(&self) -> Policy {
        let whole = TtlRange { min: Millis::new(1), max: Millis::LONGEST };
        let rule = KindRule { ttl: whole, indefinite: false };
        let (again, kinds, limits) = (Again::Return, BTreeMap::new(), Limits::NONE);
        Policy { again, rule, kinds, limits, ..self.policy.clone() }
    }
}

/// Whether what a record says was done.
pub(crate) fn is_done(record: &Lease) -> bool {
    matches!(record.term, Term::Finite { ttl, .. } if ttl == DONE)
}

/// Whether a record says that this is to be done.
pub(crate) fn says(record: &Lease, act: &str) -> bool {
    record.tags.get(ACT).is_some_and(|said| said.as_str() == act)
}

/// When and which occurrence a record is about, whichever rule it was.
fn about(record: &Lease) -> Option<String> {
    let name = record.resource.name()?.as_str().strip_prefix(ESCALATION)?;
    let (when, rest) = name.split_once(':')?;
    let (_, occurrence) = rest.split_once(':')?;
    Some(format!("{when}:{occurrence}"))
}
