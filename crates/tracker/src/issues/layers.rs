//! The layers that can be seen from one worktree, together. For each issue they give the copies that differ;
//! which of them counts is decided in [`super::seen`].

use std::ffi::OsString;
use std::path::Path;

use holdfast_git::Repository;

use super::layer::{Commit, Layer, Worktree, absent};
use super::raw::Raw;
use crate::error::Result;
use crate::ids::IssueId;
use crate::session::Session;

/// Where marks of deleted issues are, below `.jit/`.
const DELETED: &str = "deleted";

/// How far to look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Only what this worktree has.
    Local,
    /// Everything that can be seen from it.
    All,
    /// As much as a change of one issue needs: the commit is asked only for what this worktree does not
    /// have. Finding an issue in a commit means reading the names of all, so a change would cost the more,
    /// the more issues there are.
    Nearest,
}

/// The layers that can be seen from one worktree.
pub(super) struct Layers<'a> {
    session: &'a Session,
    local: Option<Worktree<'a>>,
    head: Head<'a>,
    main: Option<Worktree<'a>>,
    shared: Option<Worktree<'a>>,
    deleted: Vec<IssueId>,
    /// What failed for a layer as a whole.
    failures: Vec<String>,
}

/// The commit, as far as it is of interest.
enum Head<'a> {
    Never,
    IfMissing(Option<&'a Repository>),
    Open(Option<Box<Commit<'a>>>),
}

/// Room for the copies of one issue.
#[derive(Default)]
pub(super) struct Buffers {
    local: Raw,
    head: Raw,
    main: Raw,
    shared: Raw,
}

impl<'a> Layers<'a> {
    /// Opens the layers. A layer that cannot be used is a problem, and the others are used.
    pub(super) fn open(session: &'a Session, scope: Scope, problems: &mut Vec<String>) -> Result<Self> {
        let local = session.data();
        let main = if scope == Scope::Local { None } else { session.main_data()? };
        let shared = session.shared_data().filter(|_| scope != Scope::Local);
        let head = match (scope, session.repository()) {
            (Scope::Local, _) => Head::Never,
            (Scope::Nearest, repository) => Head::IfMissing(repository),
            (Scope::All, None) => Head::Open(None),
            (Scope::All, Some(repository)) => {
                Head::Open(Commit::open(session, repository, problems).map(Box::new))
            }
        };
        let marks = local.as_ref().filter(|_| scope != Scope::Local).map(|data| data.join(DELETED));
        let deleted = marks.map(|marks| listed(session, &marks, problems)).unwrap_or_default();
        let mut layers = Self {
            session,
            local: local.and_then(|data| Worktree::open(session, &data, problems)),
            head,
            main: main.and_then(|data| Worktree::open(session, &data, problems)),
            shared: shared.and_then(|data| Worktree::open(session, data, problems)),
            deleted: deleted.iter().filter_map(|name| IssueId::parse(name.to_str()?)).collect(),
            failures: Vec::new(),
        };
        layers.failures.extend_from_slice(problems);
        Ok(layers)
    }

    /// What failed for a layer as a whole: some issues may not be seen because of it.
    pub(super) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// The ids of all issues, each once, in their order.
    pub(super) fn ids(&mut self, problems: &mut Vec<String>) -> Vec<IssueId> {
        let mut ids = Vec::new();
        for worktree in [&mut self.main, &mut self.local, &mut self.shared].into_iter().flatten() {
            self.failures.extend(worktree.list(self.session, problems));
            ids.extend_from_slice(worktree.ids());
        }
        if let Head::Open(Some(commit)) = &self.head {
            ids.extend(commit.ids());
        }
        // Each layer is sorted already, which is what a stable sort makes use of.
        ids.sort();
        ids.dedup();
        if !self.deleted.is_empty() {
            let own = self.local.as_ref().map(Worktree::ids).unwrap_or_default();
            ids.retain(|id| !self.is_deleted(*id) || own.binary_search(id).is_ok());
        }
        ids
    }

    fn is_deleted(&self, id: IssueId) -> bool {
        self.deleted.binary_search(&id).is_ok()
    }

    /// The copies of an issue that differ, the nearest first.
    pub(super) fn copies<'b>(
        &self,
        id: IssueId,
        buffers: &'b mut Buffers,
        problems: &mut Vec<String>,
    ) -> Vec<(Layer, &'b Raw)> {
        let Buffers { local, head, main, shared } = buffers;
        [&mut *local, &mut *head, &mut *main, &mut *shared].into_iter().for_each(Raw::clear);
        if let Some(worktree) = &self.local {
            worktree.read(id, local);
        }
        // A copy of this worktree's own counts more than a mark that it was deleted here.
        if !local.is_empty() || !self.is_deleted(id) {
            self.read_head(id, local, head, problems);
            if let Some(worktree) = &self.main {
                worktree.read(id, main);
            }
            if let Some(worktree) = self.shared.as_ref().filter(|shared| shared.may_have(id)) {
                worktree.read(id, shared);
            }
        }
        let copy = |layer: Layer, raw: &'b Raw| (layer, raw);
        let all = [
            copy(Layer::Local, local),
            copy(Layer::Head, head),
            copy(Layer::Main, main),
            copy(Layer::Shared, shared),
        ];
        let mut copies = Vec::with_capacity(all.len());
        for (layer, raw) in all {
            if !raw.is_empty() && !copies.iter().any(|(_, known): &(Layer, &Raw)| known.is_same(raw)) {
                copies.push((layer, raw));
            }
        }
        copies
    }

    /// Reads the commit's copy, unless its name says that it is the local one.
    fn read_head(&self, id: IssueId, local: &Raw, into: &mut Raw, problems: &mut Vec<String>) {
        let late;
        let commit = match &self.head {
            Head::Open(Some(commit)) => &**commit,
            Head::IfMissing(Some(repository)) if local.is_empty() => {
                late = Commit::open(self.session, repository, problems);
                let Some(commit) = &late else { return };
                commit
            }
            Head::Never | Head::IfMissing(_) | Head::Open(None) => return,
        };
        let Some(tree) = commit.tree(id) else { return };
        if local.tree() != Some(tree) {
            commit.read(id, &tree, into);
        }
    }

    /// What a file of an issue is called in a message.
    pub(super) fn name(&self, layer: Layer, id: IssueId, file: &str) -> String {
        let worktree = match layer {
            Layer::Local => self.local.as_ref(),
            Layer::Main => self.main.as_ref(),
            Layer::Shared => self.shared.as_ref(),
            Layer::Head => None,
        };
        worktree.map_or_else(|| Commit::name(id, file), |worktree| worktree.name(id, file))
    }
}

/// The names in a directory that need not be there.
fn listed(session: &Session, path: &Path, problems: &mut Vec<String>) -> Vec<OsString> {
    match session.sys().files.list(path) {
        Ok(names) => names,
        Err(error) => absent(&error, problems).unwrap_or_default(),
    }
}
