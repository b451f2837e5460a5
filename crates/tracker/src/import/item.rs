//! An issue that is imported, wherever it comes from.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::Issue;
use crate::notes::Note;
use crate::writes::{self, Draft, Fresh, Results, Writer, deps_of, labels_of, results_of};

/// An issue that is imported.
pub(super) struct Item {
    pub(super) id: IssueId,
    pub(super) issue: Issue,
    pub(super) labels: BTreeSet<String>,
    /// What it depends on.
    pub(super) dependencies: BTreeSet<IssueId>,
    /// Of these, those that can be left out: they say where it belongs, not what it waits for.
    pub(super) soft: BTreeSet<IssueId>,
    /// What it belongs to, and which is to wait for it.
    pub(super) parents: BTreeSet<IssueId>,
    pub(super) results: Results,
    /// What was noted on it.
    pub(super) notes: Vec<Note>,
}

impl Item {
    /// An issue with nothing beside it.
    pub(super) fn bare(id: IssueId, issue: Issue) -> Self {
        Self {
            id,
            issue,
            labels: BTreeSet::new(),
            dependencies: BTreeSet::new(),
            soft: BTreeSet::new(),
            parents: BTreeSet::new(),
            results: Results::default(),
            notes: Vec::new(),
        }
    }

    /// Checks what a person could have typed, as if one had.
    pub(super) fn checked(self) -> std::result::Result<Self, String> {
        let text = |error: crate::error::Error| error.to_string();
        writes::title(&self.issue.title).map_err(text)?;
        writes::description(self.issue.description.as_deref().unwrap_or_default()).map_err(text)?;
        self.labels.iter().try_for_each(|label| writes::label(label).map(drop)).map_err(text)?;
        self.issue.gates.iter().try_for_each(|key| writes::key(key).map(drop)).map_err(text)?;
        let path = |path: &String| crate::documents::DocPath::kept(path).map(drop);
        self.issue.documents.keys().try_for_each(path).map_err(text)?;
        if self.dependencies.contains(&self.id) {
            return Err("it depends on itself".into());
        }
        Ok(self)
    }

    /// The issue as it is made where it is not there yet.
    pub(super) fn fresh(&self) -> Fresh {
        Fresh {
            issue: Issue { fence: None, fence_log: None, ..self.issue.clone() },
            labels: self.labels.iter().cloned().collect(),
            dependencies: self.dependencies.iter().copied().collect(),
            results: self.results.clone(),
        }
    }

    /// Whether what is here is the same already.
    pub(super) fn is_like(&self, writer: &Writer<'_>) -> Result<bool> {
        let issues = &writer.issues;
        let texts = |set: &crate::issues::Set| set.members().map(ToOwned::to_owned).collect::<BTreeSet<_>>();
        let here = issues.read(self.id)?;
        Ok(self.over(&here) == here
            && texts(&labels_of(issues, self.id)?) == self.labels
            && texts(&deps_of(issues, self.id)?) == self.texts()
            && results_of(issues, self.id, &here.gates)? == self.results)
    }

    /// Makes what is here the same.
    pub(super) fn put(&self, draft: &mut Draft) -> Result<()> {
        *draft.edit() = self.over(draft.issue());
        change(&draft.labels(), &self.labels, |label, there| draft.label(label, there))?;
        change(&draft.dependencies(), &self.texts(), |on, there| draft.depend(on, there))?;
        for (key, result) in &self.results.0 {
            draft.judge(key, result.clone());
        }
        Ok(())
    }

    /// The issue in the place of the one that is here, which keeps what belongs to its file.
    fn over(&self, here: &Issue) -> Issue {
        Issue {
            created_at: here.created_at.clone(),
            updated_at: here.updated_at.clone(),
            fence: here.fence,
            fence_log: here.fence_log.clone(),
            ..self.issue.clone()
        }
    }

    fn texts(&self) -> BTreeSet<String> {
        self.dependencies.iter().map(ToString::to_string).collect()
    }
}

fn change(
    before: &[String],
    after: &BTreeSet<String>,
    mut set: impl FnMut(&str, bool) -> Result<bool>,
) -> Result<()> {
    for gone in before.iter().filter(|value| !after.contains(*value)) {
        set(gone, false)?;
    }
    after.iter().try_for_each(|value| set(value, true).map(drop))
}
