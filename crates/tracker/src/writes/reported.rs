//! Judgements of gates that need no lease: a machine that checks what others wrote holds nothing. Such a judgement is a
//! file of its own; the issue itself stays as it is until its holder goes on.

use holdfast_sys::LockMode;

use super::copy::Copy;
use super::draft::Draft;
use super::events::{Event, Witness};
use super::locks::Locks;
use super::results::{self, GateResult};
use super::writer::Writer;
use crate::durable;
use crate::error::{Result, WriteError};
use crate::ids::IssueId;
use crate::times::rfc3339;

impl Writer<'_> {
    /// Keeps judgements of gates that an issue has, made by somebody who holds nothing; gives how they stand then.
    ///
    /// # Errors
    /// When the issue does not have such a gate, or they cannot be written.
    pub fn report(
        &self,
        id: IssueId,
        judge: impl FnOnce(&Draft) -> Vec<(String, GateResult)>,
    ) -> Result<Draft> {
        let sys = self.session.sys();
        let mut lock = self.locks.issue(id)?;
        let _section = lock.enter(sys, LockMode::Exclusive)?;
        let now = rfc3339(&sys.clock.now()?);
        let copy = Copy::newest(&self.issues, id)?;
        let mut draft =
            Draft::new(sys, id, self.agent(), now.clone(), copy.issue, copy.labels, copy.deps, copy.results);
        let judged = judge(&draft);
        if let Some((key, _)) = judged.iter().find(|(key, _)| !draft.issue().gates.contains(key)) {
            return Err(WriteError::NotGated { issue: id.to_string(), key: key.clone() }.into());
        }
        let event = |(key, result): &(String, GateResult)| {
            let witness = Witness::is(results::file(id, key), &result.bytes(id, key));
            let more = serde_json::json!({ "gate": key, "status": result.status.word() });
            Event::about("gate.completed", &id.to_string(), more, vec![witness])
        };
        let events = judged.iter().map(event).collect();
        self.logged(&Locks::of(id), events, None, &now, || {
            for (key, result) in &judged {
                self.place_result(id, key, &result.bytes(id, key))?;
            }
            Ok(())
        })?;
        judged.into_iter().for_each(|(key, result)| draft.judge(&key, result));
        Ok(draft)
    }

    /// Puts a judgement where all worktrees see it, and into this one.
    fn place_result(&self, id: IssueId, key: &str, bytes: &[u8]) -> Result<()> {
        let sys = self.session.sys();
        let shared = self.session.shared_data().filter(|_| self.session.is_linked());
        let (directory, file) = self.locks.access().places();
        let places = shared.map(|shared| (shared.to_path_buf(), directory, file));
        let own = self.session.own_data()?;
        for (data, directory, mode) in places.into_iter().chain([(own, 0o755, 0o644)]) {
            let path = data.join(results::file(id, key));
            durable::make_dirs(sys, &data.join(results::folder(id)), directory)?;
            durable::replace(sys, &path, bytes, mode)?;
        }
        Ok(())
    }
}
