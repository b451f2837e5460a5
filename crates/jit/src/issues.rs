//! The issues that can be seen from a worktree. Each is one file that is replaced whole, with its labels and
//! dependencies in sets of lines beside it.

mod issue;
mod set;
mod state;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdfast_sys::{Kind, Sys};

use crate::context::Context;
use crate::durable;
use crate::error::{Error, Result};
use crate::ids::{IssueId, Typed};
use crate::workspace::Workspace;

pub use issue::{Document, Issue};
pub use set::{BadLine, Change, Line, Set};
pub use state::{Priority, State, UnknownWord, typed};

/// More than anybody writes about one issue.
const LONGEST: usize = 4 << 20;

/// The issues that can be seen from one worktree: its own, and the main worktree's where it has none.
pub struct Issues<'a> {
    context: &'a Context,
    workspace: &'a Workspace,
}

/// What was found, and what could not be read.
#[derive(Default)]
pub struct Listing {
    /// The issues, by id.
    pub issues: BTreeMap<IssueId, Issue>,
    /// What is wrong with the others.
    pub problems: Vec<String>,
}

impl<'a> Issues<'a> {
    /// The issues that can be seen from a workspace.
    #[must_use]
    pub const fn new(context: &'a Context, workspace: &'a Workspace) -> Self {
        Self { context, workspace }
    }

    /// The issue that was meant.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn resolve(&self, typed: &str) -> Result<IssueId> {
        let typed = Typed::new(typed)?;
        let missing = || Error::NoIssue(typed.as_str().to_owned());
        if let Some(id) = typed.complete().map(IssueId::new) {
            return if self.find(id)?.is_some() { Ok(id) } else { Err(missing()) };
        }
        typed.only(self.ids()?)?.ok_or_else(missing)
    }

    /// Writes an issue to this worktree.
    ///
    /// # Errors
    /// When that failed.
    pub fn write(&self, issue: &Issue) -> Result<()> {
        let directory = home(&self.workspace.own_data()?).join(&issue.id);
        let sys = &self.context.sys;
        durable::make_dirs(sys, &directory, 0o755)?;
        Ok(durable::replace(sys, &directory.join("issue.json"), &issue.bytes(), 0o644)?)
    }

    /// Reads an issue.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read(&self, id: IssueId) -> Result<Issue> {
        let path = self.find(id)?.ok_or_else(|| Error::NoIssue(id.to_string()))?;
        load(&self.context.sys, id, &path)
    }

    /// Reads all issues.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn all(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        for id in self.ids()? {
            match self.read(id) {
                Ok(issue) => drop(listing.issues.insert(id, issue)),
                Err(error) => {
                    let causes = error.causes().into_iter().map(|cause| format!(": {cause}"));
                    listing.problems.push(format!("{error}{}", causes.collect::<String>()));
                }
            }
        }
        Ok(listing)
    }

    /// The ids of all issues, each once.
    fn ids(&self) -> Result<Vec<IssueId>> {
        let mut ids = Vec::new();
        for data in self.layers()? {
            let names = match self.context.sys.files.list(&home(&data)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                names => names?,
            };
            ids.extend(names.iter().filter_map(|name| IssueId::parse(name.to_str()?)));
        }
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// The file of an issue, in the first worktree that has it.
    fn find(&self, id: IssueId) -> Result<Option<PathBuf>> {
        let own = self.workspace.data();
        if let Some(path) = own.map(|data| file(&data, id)).filter(|path| self.is_there(path)) {
            return Ok(Some(path));
        }
        let main = self.workspace.main_data(self.context)?;
        Ok(main.map(|data| file(&data, id)).filter(|path| self.is_there(path)))
    }

    fn is_there(&self, path: &Path) -> bool {
        self.context.sys.files.stat(path).is_ok()
    }

    fn layers(&self) -> Result<Vec<PathBuf>> {
        Ok(self.workspace.data().into_iter().chain(self.workspace.main_data(self.context)?).collect())
    }
}

fn home(data: &Path) -> PathBuf {
    data.join("issues")
}

fn file(data: &Path, id: IssueId) -> PathBuf {
    home(data).join(id.to_string()).join("issue.json")
}

/// Reads an issue from a file that anybody may have written.
fn load(sys: &Sys, id: IssueId, path: &Path) -> Result<Issue> {
    let bad = |why: String| Error::BadFile { path: path.to_path_buf(), why };
    let directory = path.parent().unwrap_or(path);
    if sys.files.stat(directory)?.kind != Kind::Directory {
        return Err(bad("its directory is a link".into()));
    }
    let bytes = durable::read(sys, path, LONGEST)?.ok_or_else(|| bad("it vanished".into()))?;
    let issue: Issue =
        serde_json::from_slice(&bytes).map_err(|error| bad(format!("it is no issue: {error}")))?;
    if issue.id == id.to_string() {
        Ok(issue)
    } else {
        Err(bad(format!("it says that its id is {}", issue.id)))
    }
}
