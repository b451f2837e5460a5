//! Changing many issues with the flushes of a few. The changes of a group are found out and written beside their places,
//! become durable together, get their names together while nobody can take an issue of theirs over, and are logged
//! together. Others wait for no more than that the files of one group get their names, and a group is whole before
//! the next one begins: what was done when the process died is done, and doing it again goes on from there.

use std::collections::BTreeSet;
use std::path::Path;

use holdfast_kernel::Claim;
use holdfast_store::whole::Staged;
use holdfast_sys::{Guard, LockMode, Section, Sys};

use super::change::{Act, Prepared};
use super::draft::Draft;
use super::files::Place;
use super::locks::Locks;
use super::outbox::{Change, Queued};
use super::permit::Grant;
use super::redo::Noted;
use super::writer::{Changed, Writer};
use crate::error::{Error, Result};
use crate::ids::IssueId;

/// How many issues are changed together, at most: giving so many files their names takes as long as one ordinary write.
const AT_ONCE: usize = 64;

/// One of the changes that are made together.
struct Member {
    prepared: Prepared<()>,
    grant: Option<Box<Grant>>,
}

/// What there is of changes before they are seen.
#[derive(Default)]
struct Begun<'a> {
    queued: Vec<Queued>,
    noted: Vec<Noted<'a>>,
    staged: Vec<Staged<'a>>,
}

impl Writer<'_> {
    /// Changes issues as [`Writer::change`] does, with few flushes for many. What becomes of one must not depend on what
    /// becomes of another.
    ///
    /// # Errors
    /// As [`Writer::change`]; some may have been changed then.
    pub fn change_all(
        &self,
        ids: &[IssueId],
        what: &'static str,
        mut act: impl FnMut(&mut Draft) -> Result<()>,
    ) -> Result<Vec<Changed<()>>> {
        // What is handed over is several steps, which belong into one section.
        if ids.len() < 2 || self.session.is_linked() {
            return ids.iter().map(|id| self.change(*id, what, &mut act)).collect();
        }
        let mut changed = Vec::with_capacity(ids.len());
        for group in groups(ids) {
            changed.extend(self.change_group(&group, what, &mut act)?);
        }
        if changed.iter().any(|changed| changed.written) {
            self.tidy_shared(1);
        }
        Ok(changed)
    }

    /// Changes issues none of which share a lock.
    fn change_group(
        &self,
        ids: &[IssueId],
        what: &'static str,
        act: Act<'_, ()>,
    ) -> Result<Vec<Changed<()>>> {
        let sys = self.session.sys();
        // In their order, so that nobody waits in a circle.
        let mut sorted = ids.to_vec();
        sorted.sort_by_key(|id| Locks::of(*id));
        let mut locks: Vec<Guard> = sorted.iter().map(|id| self.locks.issue(*id)).collect::<Result<_>>()?;
        let _sections: Vec<Section<'_>> = locks
            .iter_mut()
            .map(|lock| lock.enter(sys, LockMode::Exclusive))
            .collect::<holdfast_sys::Result<_>>()?;
        let mut members = Vec::new();
        for id in ids {
            let (prepared, grant) = self.found_out(*id, what, act)?;
            members.push(Member { prepared, grant });
        }
        if members.iter().all(|member| self.is_brief(&member.prepared)) {
            match self.write_group(&members) {
                // Some claim ran out meanwhile: each for itself, so that it is told which.
                Err(Error::Refused(_)) => {}
                written => {
                    return written
                        .map(|()| members.into_iter().map(|member| member.prepared.done()).collect());
                }
            }
        }
        members.into_iter().map(|member| self.finish(member.prepared, member.grant, what, act)).collect()
    }

    /// Writes changes that are nothing but the files of their issues. If that is refused, nothing was written.
    fn write_group(&self, members: &[Member]) -> Result<()> {
        let data = self.session.own_data()?;
        let written: Vec<&Member> = members.iter().filter(|member| member.prepared.written).collect();
        let begun = self.begin_group(&data, &written)?;
        if !written.is_empty() && !self.sync_all(&[&data, self.session.control()])? {
            begun.flush(self.session.sys())?;
        }
        let Begun { queued, noted, staged } = begun;
        let shown = self.show(members, || Ok(staged.into_iter().try_for_each(Staged::reveal)?));
        if matches!(shown, Ok(()) | Err(Error::Refused(_))) {
            let done = shown.and_then(|()| self.end_group(&data, &written, &queued));
            noted.iter().for_each(Noted::done);
            return done;
        }
        shown
    }

    /// Queues the events of changes, notes those that span files, and writes their files beside their places.
    fn begin_group<'s>(&'s self, data: &'s Path, written: &[&Member]) -> Result<Begun<'s>> {
        let mut begun = Begun::default();
        for Member { prepared, grant } in written {
            let draft = &prepared.draft;
            let actor = self.actor(grant.as_ref().map(|grant| grant.lease.id));
            let lock = &Locks::of(draft.id());
            let change = Change { lock, events: draft.events(), actor, at: &prepared.at };
            begun.queued.extend(self.outbox().queue(change)?);
            begun.noted.extend(self.note_unflushed(draft, data)?);
            let place = Place::new(self.session.sys(), data, draft.id());
            begun.staged.push(place.stage_unflushed(&prepared.content, &prepared.local)?);
        }
        Ok(begun)
    }

    /// Lets files get their names while nobody can take one of the issues over.
    fn show(&self, members: &[Member], reveal: impl FnOnce() -> Result<()>) -> Result<()> {
        let grants: Vec<&Grant> = members.iter().filter_map(|member| member.grant.as_deref()).collect();
        let claims: Vec<Claim> = grants.iter().map(|grant| grant.claim()).collect();
        let Some((first, others)) = claims.split_first() else { return reveal() };
        self.session.claims().medium.as_medium().write_under(first, others, |held| {
            if grants.iter().any(|grant| grant.counter != held.counter()) {
                return Err(Error::Internal(
                    "issues were to be written under fences of another log".to_owned(),
                ));
            }
            reveal()
        })?
    }

    /// Makes the names durable of what was revealed, and logs it.
    fn end_group(&self, data: &Path, written: &[&Member], queued: &[Queued]) -> Result<()> {
        let ids = || written.iter().map(|member| member.prepared.draft.id());
        if !written.is_empty() && !self.sync_all(&[data])? {
            ids().try_for_each(|id| Place::new(self.session.sys(), data, id).flush_names())?;
        }
        self.outbox().log_all(queued)?;
        ids().try_for_each(|id| self.take_back(id))
    }

    /// Makes everything durable on the file systems of these directories; false where the system cannot do that at once.
    fn sync_all(&self, places: &[&Path]) -> Result<bool> {
        let (files, mut done) = (&self.session.sys().files, BTreeSet::new());
        for place in places {
            if done.insert(files.stat(place)?.identity.device) {
                match files.sync_all(place) {
                    Err(error) if error.kind() == std::io::ErrorKind::Unsupported => return Ok(false),
                    flushed => flushed?,
                }
            }
        }
        Ok(true)
    }
}

impl Begun<'_> {
    /// Makes it durable, one thing after the other.
    fn flush(&self, sys: &Sys) -> Result<()> {
        self.queued.iter().try_for_each(|queued| queued.flush(sys))?;
        self.noted.iter().try_for_each(Noted::flush)?;
        Ok(self.staged.iter().try_for_each(Staged::flush)?)
    }
}

/// The issues in their order, in groups in which no two share a lock: what is queued is queued beside that.
fn groups(ids: &[IssueId]) -> Vec<Vec<IssueId>> {
    let (mut groups, mut locks) = (vec![Vec::new()], BTreeSet::new());
    for id in ids {
        if locks.len() == AT_ONCE || !locks.insert(Locks::of(*id)) {
            locks = BTreeSet::from([Locks::of(*id)]);
            groups.push(Vec::new());
        }
        groups.last_mut().into_iter().for_each(|group| group.push(*id));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, groups};
    use crate::ids::IssueId;

    #[test]
    fn no_two_of_a_group_share_a_lock_and_the_order_stays() {
        let id = |end: &str| IssueId::parse(&format!("01K000000000000000000000{end}")).unwrap();
        let ids = [id("0A"), id("0B"), id("0A"), id("0C"), id("0C")];
        assert_eq!(groups(&ids), [vec![ids[0], ids[1]], vec![ids[2], ids[3]], vec![ids[4]]]);
        let digits: Vec<char> = "0123456789ABCDEFGHJKMNPQRSTVWXYZ".chars().collect();
        let many: Vec<IssueId> = digits
            .iter()
            .flat_map(|a| digits.iter().map(move |b| format!("{a}{b}")))
            .map(|end| id(&end))
            .collect();
        let sizes: Vec<usize> = groups(&many).iter().map(Vec::len).collect();
        assert_eq!(sizes, vec![AT_ONCE; many.len() / AT_ONCE]);
    }
}
