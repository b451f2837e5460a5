//! An issue with everything that lies beside it, as the newest copies have it, and what of that is in this
//! worktree already.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::Sys;

use super::members::{DEPS, LABELS, Members};
use super::results::{self, GateResult, Results};
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
    /// The files of its judgements, by gate.
    pub(super) results: BTreeMap<String, Vec<u8>>,
    /// Whether it has a file with all of them, as earlier versions wrote it.
    pub(super) old_results: bool,
}

/// The judgements of an issue's gates, from all copies.
///
/// # Errors
/// When they cannot be read.
pub fn results_of(issues: &Issues<'_>, id: IssueId, gates: &BTreeSet<String>) -> Result<Results> {
    let mut merged = Results::default();
    if gates.is_empty() {
        return Ok(merged);
    }
    let bad = |path: &str, why| Error::BadFile { path: PathBuf::from(path), why };
    let old = results::old_file(id);
    for bytes in issues.copies(&old)? {
        let known = Results::read_old(id, &bytes).map_err(|why| bad(&old, why))?;
        known.0.into_iter().for_each(|(key, result)| merged.merge(key, result));
    }
    merged.0.retain(|key, _| gates.contains(key));
    for key in gates.iter().filter(|key| results::can_be_file(key)) {
        let file = results::file(id, key);
        for bytes in issues.copies(&file)? {
            let result = GateResult::read(id, key, &bytes).map_err(|why| bad(&file, why))?;
            merged.merge(key.clone(), result);
        }
    }
    Ok(merged)
}

impl Copy {
    /// The newest copy of an issue. A copy here that cannot be read is an error: it is never overwritten.
    pub(super) fn newest(issues: &Issues<'_>, id: IssueId) -> Result<Self> {
        let local = Local::read(issues, id)?;
        let issue = issues.base(id)?;
        Ok(Self {
            labels: Members::read(issues, id, LABELS)?,
            deps: Members::read(issues, id, DEPS)?,
            results: results_of(issues, id, &issue.gates)?,
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
        let file = |path: &Path| durable::read(sys, path, crate::issues::LONGEST);
        Ok(Self {
            issue: issues.local(id)?,
            labels: file(&home.join(LABELS))?.unwrap_or_default(),
            deps: file(&home.join(DEPS))?.unwrap_or_default(),
            results: results_in(sys, &data, id)?,
            old_results: durable::is_file(sys, &data.join(results::old_file(id)))?,
        })
    }
}

/// The files of an issue's judgements in one place, by gate.
pub(super) fn results_in(sys: &Sys, data: &Path, id: IssueId) -> Result<BTreeMap<String, Vec<u8>>> {
    let folder = data.join(results::folder(id));
    let names = match sys.files.list(&folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(BTreeMap::new());
        }
        names => names?,
    };
    let keys = names.iter().filter_map(|name| name.to_str()?.strip_suffix(".json"));
    let mut files = BTreeMap::new();
    for key in keys.filter(|key| results::can_be_file(key)) {
        let bytes = durable::read(sys, &folder.join(format!("{key}.json")), crate::issues::LONGEST)?;
        files.extend(bytes.map(|bytes| (key.to_owned(), bytes)));
    }
    Ok(files)
}
