//! The layers that can be seen from one worktree, together. For each issue they give the copies that differ;
//! which of them counts is decided in [`super::seen`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use holdfast_git::{ObjectId, Repository};
use holdfast_store::View;

use super::cache::{Entry, Told};
use super::layer::{Commit, Layer, Worktree, absent};
use super::raw::Raw;
use super::standing::{Landing, Tips};
use crate::error::Result;
use crate::ids::IssueId;
use crate::session::Session;
use crate::target::Target;

/// Where marks of deleted issues are, below `.jit/`.
const DELETED: &str = "deleted";

/// Where it is remembered what directories have, below the control plane, and in what git keeps of a linked worktree.
pub(super) const CACHES: &str = "lists";
const LINKED: &str = "jit-list";

/// How many of the layers are directories.
pub(super) const DIRECTORIES: usize = 3;

/// Which of the directories have an issue, and in which of them it is still what is remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Freshness {
    pub(super) has: [bool; DIRECTORIES],
    pub(super) fresh: [bool; DIRECTORIES],
}

impl Freshness {
    /// Says that a directory has the issue, and whether as it is remembered.
    fn set(&mut self, number: usize, fresh: bool) {
        let places = self.has.get_mut(number).zip(self.fresh.get_mut(number));
        if let Some((has, is_fresh)) = places {
            (*has, *is_fresh) = (true, fresh);
        }
    }

    /// Whether a directory has the issue as it is remembered.
    pub(super) fn is_fresh(self, number: usize) -> bool {
        self.fresh.get(number).copied().unwrap_or(false)
    }

    /// Whether a directory has the issue otherwise than it is remembered.
    pub(super) fn is_stale(self, number: usize) -> bool {
        self.has.get(number).copied().unwrap_or(false) && !self.is_fresh(number)
    }
}

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
    tips: Vec<Tip<'a>>,
    /// How finished work is judged.
    pub(super) landing: Landing<'a>,
    /// What was deleted in this worktree.
    deleted: Vec<IssueId>,
    /// What was deleted in any.
    gone: Vec<IssueId>,
    /// What failed for a layer as a whole.
    failures: Vec<String>,
}

/// The commit, as far as it is of interest.
enum Head<'a> {
    Never,
    IfMissing(Option<&'a Repository>),
    Open(Option<Box<Commit<'a>>>),
}

/// A tip of the target.
struct Tip<'a> {
    layer: Layer,
    tips: Tips,
    /// Its issues; none if it is the commit that this worktree is on.
    commit: Option<Commit<'a>>,
}

/// A copy of an issue.
#[derive(Clone, Copy)]
pub(super) struct Copy<'b> {
    pub(super) layer: Layer,
    pub(super) raw: &'b Raw,
    /// The tips of the target that have exactly this.
    pub(super) tips: Tips,
}

/// Room for the copies of one issue.
#[derive(Default)]
pub(super) struct Buffers {
    target: Raw,
    remote: Raw,
    local: Raw,
    head: Raw,
    main: Raw,
    shared: Raw,
    /// The tips that have what this worktree has, and what the commit has that it is on.
    at_local: Tips,
    at_head: Tips,
}

impl Buffers {
    /// What one of the layers that are directories holds.
    pub(super) const fn of(&self, layer: Layer) -> Option<&Raw> {
        match layer {
            Layer::Local => Some(&self.local),
            Layer::Main => Some(&self.main),
            Layer::Shared => Some(&self.shared),
            Layer::Head | Layer::Target | Layer::Remote => None,
        }
    }
}

impl<'a> Layers<'a> {
    /// Opens the layers. A layer that cannot be used is a problem, and the others are used.
    pub(super) fn open(
        session: &'a Session,
        view: &'a OnceLock<Option<Arc<View>>>,
        scope: Scope,
        problems: &mut Vec<String>,
    ) -> Result<Self> {
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
        let marks = |data: Option<&Path>, problems: &mut Vec<String>| {
            let names = data.map(|data| listed(session, &data.join(DELETED), problems)).unwrap_or_default();
            let mut ids: Vec<_> = names.iter().filter_map(|name| IssueId::parse(name.to_str()?)).collect();
            ids.sort_unstable();
            ids
        };
        let deleted = marks(local.as_deref().filter(|_| scope != Scope::Local), problems);
        let gone = marks(shared, problems);
        let (tips, landing) = if scope == Scope::All {
            tips(session, view, &head, problems)?
        } else {
            (Vec::new(), Landing::none(session, view))
        };
        let mut layers = Self {
            session,
            tips,
            landing,
            local: local.and_then(|data| Worktree::open(session, &data, problems)),
            head,
            main: main.and_then(|data| Worktree::open(session, &data, problems)),
            shared: shared.and_then(|data| Worktree::open(session, data, problems)),
            deleted,
            gone,
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
        ids.extend(self.tips.iter().filter_map(|tip| tip.commit.as_ref()).flat_map(Commit::ids));
        // Each layer is sorted already, which is what a stable sort makes use of.
        ids.sort();
        ids.dedup();
        ids.retain(|id| !self.is_gone(*id));
        if !self.deleted.is_empty() {
            let own = self.local.as_ref().map(Worktree::ids).unwrap_or_default();
            ids.retain(|id| !self.is_deleted(*id) || own.binary_search(id).is_ok());
        }
        ids
    }

    /// The layers that are directories, in the order in which [`Freshness`] has them.
    fn directories(&self) -> [(Layer, Option<&Worktree<'a>>); DIRECTORIES] {
        [
            (Layer::Local, self.local.as_ref()),
            (Layer::Main, self.main.as_ref()),
            (Layer::Shared, self.shared.as_ref()),
        ]
    }

    /// A layer that is a directory.
    pub(super) fn directory(&self, number: usize) -> Option<(Layer, &Worktree<'a>)> {
        let (layer, worktree) = self.directories().into_iter().nth(number)?;
        Some((layer, worktree?))
    }

    /// Where it is remembered what a layer has. Of a linked worktree that is where git keeps what is its own: it goes
    /// when the worktree goes.
    pub(super) fn cache_of(&self, layer: Layer) -> Option<PathBuf> {
        let control = || self.session.control().join(CACHES);
        match layer {
            Layer::Local if self.session.is_linked() => {
                self.session.repository().map(|repository| repository.git_dir().join(LINKED))
            }
            Layer::Local | Layer::Main => Some(control().join("main")),
            Layer::Shared => Some(control().join("shared")),
            Layer::Head | Layer::Target | Layer::Remote => None,
        }
    }

    /// Has what is remembered of the directories at hand.
    pub(super) fn remember(&mut self) {
        for layer in [Layer::Local, Layer::Main, Layer::Shared] {
            let path = self.cache_of(layer);
            let worktree = match layer {
                Layer::Local => &mut self.local,
                Layer::Main => &mut self.main,
                _ => &mut self.shared,
            };
            if let (Some(worktree), Some(path)) = (worktree, path) {
                worktree.remember(self.session, &path);
            }
        }
    }

    /// Which of the directories have an issue, and in which of them it is still what is remembered.
    pub(super) fn freshness(&self, id: IssueId) -> Freshness {
        let mut found = Freshness::default();
        for (number, (_, worktree)) in self.directories().into_iter().enumerate() {
            if let Some(worktree) = worktree.filter(|worktree| worktree.may_have(id)) {
                found.set(number, worktree.is_fresh(id));
            }
        }
        found
    }

    /// An issue of which all copies are the same and one is remembered; none if that takes a closer look.
    pub(super) fn alone(&self, id: IssueId, freshness: Freshness) -> Option<(Told<'_>, Layer, Tips)> {
        if self.is_gone(id) || freshness.has != freshness.fresh {
            return None;
        }
        let mut known: Option<(Entry<'_>, Layer)> = None;
        let mut tree = None;
        for (number, (layer, worktree)) in self.directories().into_iter().enumerate() {
            let Some(worktree) = worktree.filter(|_| freshness.is_fresh(number)) else { continue };
            let entry = worktree.remembered(id)?;
            let own = entry.tree()?;
            if *tree.get_or_insert(own) != own {
                return None;
            }
            known.get_or_insert((entry, layer));
        }
        let ((entry, layer), tree) = (known?, tree?);
        let head = self.head_tree(id);
        if head.is_some_and(|head| head != tree) {
            return None;
        }
        let mut tips = Tips::default();
        for tip in &self.tips {
            let there = tip.commit.as_ref().map_or(head, |commit| commit.tree(id));
            match there {
                Some(there) if there == tree => tips = tips.and(tip.tips),
                Some(_) => return None,
                None => {}
            }
        }
        // What this worktree does not have itself is known from the commit that it is on, if that has it.
        let layer = if layer != Layer::Local && head.is_some() { Layer::Head } else { layer };
        Some((entry.told()?, layer, tips))
    }

    fn is_deleted(&self, id: IssueId) -> bool {
        self.deleted.binary_search(&id).is_ok()
    }

    fn is_gone(&self, id: IssueId) -> bool {
        self.gone.binary_search(&id).is_ok()
    }

    /// The copies of an issue that differ, the nearest first.
    pub(super) fn copies<'b>(
        &self,
        id: IssueId,
        buffers: &'b mut Buffers,
        problems: &mut Vec<String>,
    ) -> Vec<Copy<'b>> {
        self.fill(id, buffers, problems);
        self.distinct(buffers)
    }

    /// Reads every copy of an issue.
    pub(super) fn fill(&self, id: IssueId, buffers: &mut Buffers, problems: &mut Vec<String>) {
        let Buffers { target, remote, local, head, main, shared, at_local, at_head } = buffers;
        [&mut *local, &mut *head, &mut *main, &mut *shared, &mut *target, &mut *remote]
            .into_iter()
            .for_each(Raw::clear);
        (*at_head, *at_local) = (Tips::default(), Tips::default());
        if self.is_gone(id) {
            return;
        }
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
            for tip in &self.tips {
                let into = if tip.layer == Layer::Target { &mut *target } else { &mut *remote };
                match self.read_tip(id, tip, local, into) {
                    Same::Local => *at_local = at_local.and(tip.tips),
                    Same::Head => *at_head = at_head.and(tip.tips),
                    Same::Nothing => {}
                }
            }
        }
        // What HEAD has and is the local copy was not read again.
        if head.is_empty() {
            *at_local = at_local.and(*at_head);
        }
    }

    /// Those of the copies that differ.
    pub(super) fn distinct<'b>(&self, buffers: &'b Buffers) -> Vec<Copy<'b>> {
        let tip_of = |layer| {
            let tip = self.tips.iter().find(|tip| tip.layer == layer && tip.commit.is_some());
            tip.map_or_else(Tips::default, |tip| tip.tips)
        };
        let all = [
            Copy { layer: Layer::Local, raw: &buffers.local, tips: buffers.at_local },
            Copy { layer: Layer::Head, raw: &buffers.head, tips: buffers.at_head },
            Copy { layer: Layer::Main, raw: &buffers.main, tips: Tips::default() },
            Copy { layer: Layer::Shared, raw: &buffers.shared, tips: Tips::default() },
            Copy { layer: Layer::Target, raw: &buffers.target, tips: tip_of(Layer::Target) },
            Copy { layer: Layer::Remote, raw: &buffers.remote, tips: tip_of(Layer::Remote) },
        ];
        let mut copies: Vec<Copy<'b>> = Vec::with_capacity(all.len());
        for copy in all.into_iter().filter(|copy| !copy.raw.is_empty()) {
            match copies.iter_mut().find(|known| known.raw.is_same(copy.raw)) {
                Some(known) => known.tips = known.tips.and(copy.tips),
                None => copies.push(copy),
            }
        }
        copies
    }

    /// Reads the copy of a tip, unless its name says that it is one which is there already.
    fn read_tip(&self, id: IssueId, tip: &Tip<'_>, local: &Raw, into: &mut Raw) -> Same {
        let Some(commit) = &tip.commit else {
            return if self.head_tree(id).is_some() { Same::Head } else { Same::Nothing };
        };
        let Some(tree) = commit.tree(id) else { return Same::Nothing };
        if local.tree() == Some(tree) {
            return Same::Local;
        }
        commit.read(id, &tree, into);
        Same::Nothing
    }

    /// The name of an issue's directory in the commit that this worktree is on.
    fn head_tree(&self, id: IssueId) -> Option<ObjectId> {
        match &self.head {
            Head::Open(Some(commit)) => commit.tree(id),
            Head::Never | Head::IfMissing(_) | Head::Open(None) => None,
        }
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
            Layer::Head | Layer::Target | Layer::Remote => None,
        };
        let commit = || {
            let tip = self.tips.iter().find(|tip| tip.layer == layer).and_then(|tip| tip.commit.as_ref());
            tip.map_or_else(|| format!("HEAD:.jit/issues/{id}/{file}"), |commit| commit.name(id, file))
        };
        worktree.map_or_else(commit, |worktree| worktree.name(id, file))
    }
}

/// Which copy a tip's is.
enum Same {
    Local,
    Head,
    Nothing,
}

/// The tips of the target, and what finished work is judged with.
fn tips<'a>(
    session: &'a Session,
    view: &'a OnceLock<Option<Arc<View>>>,
    head: &Head<'_>,
    problems: &mut Vec<String>,
) -> Result<(Vec<Tip<'a>>, Landing<'a>)> {
    let Some(repository) = session.repository() else {
        return Ok((Vec::new(), Landing::none(session, view)));
    };
    let Some(target) = Target::find(&session.caller, repository, session.config())? else {
        return Ok((Vec::new(), Landing::none(session, view)));
    };
    let at_head = match head {
        Head::Open(Some(commit)) => Some(commit.id),
        Head::Open(None) | Head::Never | Head::IfMissing(_) => None,
    };
    let (local, remote) = (target.local, target.remote);
    let mut named = Vec::new();
    if let Some(id) = local {
        let tips = Tips { local: true, remote: remote == Some(id) };
        named.push((id, Layer::Target, target.branch.clone(), tips));
    }
    if let Some(id) = remote.filter(|id| local != Some(*id)) {
        let tips = Tips { local: false, remote: true };
        named.push((id, Layer::Remote, format!("origin/{}", target.branch), tips));
    }
    let mut found = Vec::new();
    for (id, layer, called, tips) in named {
        if at_head == Some(id) {
            found.push(Tip { layer, tips, commit: None });
        } else if let Some(commit) = Commit::at(session, repository, (id, &called), problems) {
            found.push(Tip { layer, tips, commit: Some(commit) });
        }
    }
    let mut landing = Landing::new(session, view, Some(repository), Some(target));
    landing.is_tracked = !found.is_empty();
    Ok((found, landing))
}

/// The names in a directory that need not be there.
fn listed(session: &Session, path: &Path, problems: &mut Vec<String>) -> Vec<OsString> {
    match session.sys().files.list(path) {
        Ok(names) => names,
        Err(error) => absent(&error, problems).unwrap_or_default(),
    }
}
