//! An issue with everything that lies beside it, as the newest copies have it, and what of that is in this
//! worktree already.

use super::members::{DEPS, LABELS, Members};
use super::results::Results;
use crate::durable;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Issue, Issues};

/// An issue with everything that lies beside it.
pub(super) struct Copy {
    pub(super) issue: Issue,
    pub(super) labels: Members,
    pub(super) deps: Members,
    pub(super) results: Results,
    pub(super) local: Local,
}

/// What this worktree has of an issue.
#[derive(Default)]
pub(super) struct Local {
    pub(super) issue: Option<Issue>,
    pub(super) labels: Vec<u8>,
    pub(super) deps: Vec<u8>,
    pub(super) results: Option<Vec<u8>>,
}

/// Where the judgements of an issue's gates are, below `.jit/`.
pub(super) fn results_file(id: IssueId) -> String {
    format!("gates/results/{id}.json")
}

/// The judgements of an issue's gates, from all copies.
///
/// # Errors
/// When they cannot be read.
pub fn results_of(issues: &Issues<'_>, id: IssueId) -> Result<Results> {
    let relative = results_file(id);
    let mut merged = Results::default();
    for bytes in issues.copies(&relative)? {
        let results = Results::read(id, &bytes)
            .map_err(|why| Error::BadFile { path: std::path::PathBuf::from(&relative), why })?;
        merged.merge(results);
    }
    Ok(merged)
}

impl Copy {
    /// The newest copy of an issue. A copy here that cannot be read is an error: it is never overwritten.
    pub(super) fn newest(issues: &Issues<'_>, id: IssueId) -> Result<Self> {
        let local = Local::read(issues, id)?;
        let issue = issues.base(id)?;
        let judged = !issue.gates.is_empty() || local.results.is_some();
        Ok(Self {
            labels: Members::read(issues, id, LABELS)?,
            deps: Members::read(issues, id, DEPS)?,
            results: if judged { results_of(issues, id)? } else { Results::default() },
            issue,
            local,
        })
    }
}

impl Local {
    fn read(issues: &Issues<'_>, id: IssueId) -> Result<Self> {
        let data = issues.session().own_data()?;
        let sys = issues.session().sys();
        let home = data.join("issues").join(id.to_string());
        let file = |path: &std::path::Path| durable::read(sys, path, crate::issues::LONGEST);
        Ok(Self {
            issue: issues.local(id)?,
            labels: file(&home.join(LABELS))?.unwrap_or_default(),
            deps: file(&home.join(DEPS))?.unwrap_or_default(),
            results: file(&data.join(results_file(id)))?,
        })
    }
}
