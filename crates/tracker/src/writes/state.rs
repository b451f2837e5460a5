//! What the state of an issue may become. It is decided here and nowhere else, for whoever changes one: by hand, by a
//! gate, by an import, or by making it.

use super::draft::Draft;
use super::graph::open_dependencies;
use super::writer::Writer;
use crate::error::{Result, WriteError};
use crate::issues::{Scope, Standing, State};
use crate::notice::Notice;

impl Writer<'_> {
    /// Settles the state of a draft.
    ///
    /// - What waits for others cannot be finished before them. Beginning it earns a warning, or is refused if the
    ///   draft is strict.
    /// - An issue whose work is finished is done if every gate is passed, and gated otherwise. So passing the last
    ///   gate makes it done, and a gate that fails later takes that back; but one that waits for others stays gated.
    ///
    /// # Errors
    /// When the draft asks for a state that the issue cannot have.
    pub(super) fn settle(&self, draft: &mut Draft) -> Result<()> {
        let (before, asked) = (draft.state_before(), draft.issue().state);
        let is_finished = matches!(asked, State::Done | State::Gated);
        let gates = draft.open_gates();
        let settled = match asked {
            State::Done | State::Gated if gates.is_empty() => State::Done,
            State::Done | State::Gated => State::Gated,
            other => other,
        };
        let is_asked = before != Some(asked);
        let is_promoted = !is_asked && asked == State::Gated && settled == State::Done;
        if is_promoted || (is_asked && (is_finished || asked == State::InProgress)) {
            let by = open_dependencies(&self.issues, &draft.dependencies())?;
            if !by.is_empty() {
                let issue = draft.issue().id.clone();
                if is_asked && (is_finished || draft.strict) {
                    return Err(WriteError::Blocked { issue, by }.into());
                }
                self.notice(&Notice::Blocked { issue, by });
                if is_promoted {
                    return Ok(());
                }
            }
        }
        if draft.strict && asked == State::Done && settled == State::Gated {
            return Err(WriteError::GatesOpen { issue: draft.issue().id.clone(), gates }.into());
        }
        // The word done comes with the work: what is on a branch says it when that lands.
        if is_promoted && let Some(branch) = self.work_elsewhere(draft)? {
            self.notice(&Notice::PassedElsewhere { issue: self.issues.handle(draft.id()), branch });
            return Ok(());
        }
        draft.edit().state = settled;
        Ok(())
    }

    /// The branch that has the work of an issue that is finished, if that is not the one of this worktree.
    fn work_elsewhere(&self, draft: &Draft) -> Result<Option<String>> {
        let standing = self.issues.see(draft.id(), Scope::All, |seen| seen.standing.clone())?;
        let Standing::OnBranch { branch } = standing else { return Ok(None) };
        let is_here = self.session.branch()?.as_ref() == Some(&branch);
        Ok(Some(branch).filter(|_| !is_here))
    }
}
