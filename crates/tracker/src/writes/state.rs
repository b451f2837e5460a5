//! What the state of an issue may become. It is decided here and nowhere else, for whoever changes one: by hand, by a
//! gate, by an import, or by making it.

use super::draft::Draft;
use super::graph::open_dependencies;
use super::writer::Writer;
use crate::error::{Result, WriteError};
use crate::issues::State;
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
        draft.edit().state = settled;
        Ok(())
    }
}
