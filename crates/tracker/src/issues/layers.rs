//! The layers that can be seen from one worktree, together. For each issue they give the copies that differ;
//! which of them counts is decided in [`super::seen`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use holdfast_git::{ObjectId, Repository};
use holdfast_store::View;

use super::layer::{Commit, Layer, Worktree, absent};
use super::raw::Raw;
use super::recorder::CACHES;
use super::standing::{Landing, Tips};
use crate::error::Result;
use crate::ids::IssueId;
use crate::seek::seek;
use crate::session::Session;
use crate::target::Target;

/// Where marks of deleted issues are, below `.jit/`.
const DELETED: &str = "deleted";

/// Where it is remembered what a linked worktree has, in what git keeps of it.
const LINKED: &str = "jit-list";

/// How long a directory is whose list is worth a thread of its own: one of some six hundred issues. A claim in a small
/// repository is over before a thread has begun.
const MANY: u64 = 32 << 10;

/// How many of the layers are directories.
pub(super) const DIRECTORIES: usize = 3;

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

/// What is done with the directories beside opening them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Listed {
    /// Nothing: somebody asks for issues whose ids are known.
    No,
    /// They are listed.
    Names,
    /// They are listed, and what is remembered of them is at hand.
    Remembered,
}

/// The layers that can be seen from one worktree.
pub(super) struct Layers<'a> {
    session: &'a Session,
    local: Option<Worktree<'a>>,
    head: Head<'a>,
    main: Option<Worktree<'a>>,
    shared: Option<Worktree<'a>>,
    pub(super) tips: Vec<Tip<'a>>,
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
pub(super) struct Tip<'a> {
    layer: Layer,
    /// Which of them it is, or whether it is both.
    pub(super) tips: Tips,
    /// Its issues; none if it is the commit that this worktree is on.
    pub(super) commit: Option<Commit<'a>>,
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
    /// Opens the layers. A layer that cannot be used is a problem, and the others are used. Where directories are to be
    /// listed, that is done while the commits are read.
    pub(super) fn open(
        session: &'a Session,
        view: &'a OnceLock<Option<Arc<View>>>,
        (scope, listing): (Scope, Listed),
        problems: &mut Vec<String>,
    ) -> Result<Self> {
        let (own, shared) = (session.data(), session.shared_data().filter(|_| scope != Scope::Local));
        let main = if scope == Scope::Local { None } else { session.main_data()? };
        let places =
            [(Layer::Local, own.as_deref()), (Layer::Main, main.as_deref()), (Layer::Shared, shared)];
        let sys = session.sys();
        let has_many = |data: &Path| sys.files.stat(&data.join("issues")).is_ok_and(|stat| stat.len >= MANY);
        let at_once = listing != Listed::No
            && [own.as_deref(), main.as_deref()].into_iter().flatten().any(has_many)
            && sys.processes.threads() > 1;
        let (commits, opened) = std::thread::scope(|threads| {
            let open = |(layer, data)| move || Opened::new(session, layer, data, listing);
            if !at_once {
                let commits = Commits::open(session, view, scope, own.as_deref(), problems);
                return (commits, places.map(|place| open(place)()));
            }
            let helpers = places.map(|place| threads.spawn(open(place)));
            let commits = Commits::open(session, view, scope, own.as_deref(), problems);
            let join = |helper: std::thread::ScopedJoinHandle<'_, Opened<'a>>| match helper.join() {
                Ok(opened) => opened,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            (commits, helpers.map(join))
        });
        let Commits { head, tips, mut landing, deleted, gone } = commits?;
        landing.is_of_all = listing != Listed::No;
        opened.iter().for_each(|one| problems.extend_from_slice(&one.problems));
        let mut failures = problems.clone();
        let [local, main, shared] = opened;
        for one in [&main, &local, &shared] {
            problems.extend_from_slice(&one.listed);
            failures.extend(one.failure.clone());
        }
        let [local, main, shared] = [local, main, shared].map(|one| one.worktree);
        Ok(Self { session, local, head, main, shared, tips, landing, deleted, gone, failures })
    }

    /// What failed for a layer as a whole: some issues may not be seen because of it.
    pub(super) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// The ids of all issues, each once, in their order. The directories must have been listed.
    pub(super) fn ids(&self) -> Vec<IssueId> {
        let directories = [&self.local, &self.main, &self.shared].into_iter().flatten().map(Worktree::ids);
        let most = directories.clone().max_by_key(|ids| ids.len()).unwrap_or_default();
        // Most often all have the same ones.
        let mut others = Vec::new();
        for ids in directories {
            others.extend(absent_from(most, ids.iter().copied()));
        }
        for commit in self.head().into_iter().chain(self.tips.iter().filter_map(|tip| tip.commit.as_ref())) {
            others.extend(absent_from(most, commit.ids()));
        }
        let mut ids = most.to_vec();
        if !others.is_empty() {
            ids.extend(others);
            ids.sort();
            ids.dedup();
        }
        ids.retain(|id| !self.is_gone(*id));
        if !self.deleted.is_empty() {
            let own = self.local.as_ref().map(Worktree::ids).unwrap_or_default();
            ids.retain(|id| !self.is_deleted(*id) || own.binary_search(id).is_ok());
        }
        ids
    }

    /// The layers that are directories, in the order in which their numbers count.
    pub(super) fn directories(&self) -> [(Layer, Option<&Worktree<'a>>); DIRECTORIES] {
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

    fn is_deleted(&self, id: IssueId) -> bool {
        self.deleted.binary_search(&id).is_ok()
    }

    /// Whether it was deleted in any worktree.
    pub(super) fn is_gone(&self, id: IssueId) -> bool {
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

    /// The commit that this worktree is on, if it was read.
    pub(super) fn head(&self) -> Option<&Commit<'a>> {
        match &self.head {
            Head::Open(commit) => commit.as_deref(),
            Head::Never | Head::IfMissing(_) => None,
        }
    }

    /// The name of an issue's directory in the commit that this worktree is on.
    fn head_tree(&self, id: IssueId) -> Option<ObjectId> {
        self.head().and_then(|commit| commit.tree(id))
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

/// Those of some ids in their order that are not among others in theirs.
fn absent_from(known: &[IssueId], ids: impl Iterator<Item = IssueId>) -> impl Iterator<Item = IssueId> {
    let mut from = 0;
    ids.filter(move |id| {
        seek(known.len(), &mut from, *id, |number| known.get(number).map(|id| id.bits())).is_none()
    })
}

/// Where it is remembered what a layer has. Of a linked worktree that is where git keeps what is its own: it goes
/// when the worktree goes.
pub(super) fn cache_of(session: &Session, layer: Layer) -> Option<PathBuf> {
    let control = || session.control().join(CACHES);
    match layer {
        Layer::Local if session.is_linked() => {
            session.repository().map(|repository| repository.git_dir().join(LINKED))
        }
        Layer::Local | Layer::Main => Some(control().join("main")),
        Layer::Shared => Some(control().join("shared")),
        Layer::Head | Layer::Target | Layer::Remote => None,
    }
}

/// A directory, and what stood in the way of opening and of listing it.
struct Opened<'a> {
    worktree: Option<Worktree<'a>>,
    problems: Vec<String>,
    listed: Vec<String>,
    failure: Option<String>,
}

impl<'a> Opened<'a> {
    fn new(session: &'a Session, layer: Layer, data: Option<&Path>, listing: Listed) -> Self {
        let (mut problems, mut listed) = (Vec::new(), Vec::new());
        let mut worktree = data.and_then(|data| Worktree::open(session, data, &mut problems));
        let mut failure = None;
        if let Some(worktree) = worktree.as_mut().filter(|_| listing != Listed::No) {
            let cache = (listing == Listed::Remembered).then(|| cache_of(session, layer)).flatten();
            cache.iter().for_each(|cache| worktree.remember(session, cache));
            if !worktree.recall() {
                failure = worktree.list(&mut listed);
            }
        }
        Self { worktree, problems, listed, failure }
    }
}

/// Everything that is no directory of issues.
struct Commits<'a> {
    head: Head<'a>,
    tips: Vec<Tip<'a>>,
    landing: Landing<'a>,
    deleted: Vec<IssueId>,
    gone: Vec<IssueId>,
}

impl<'a> Commits<'a> {
    fn open(
        session: &'a Session,
        view: &'a OnceLock<Option<Arc<View>>>,
        scope: Scope,
        own: Option<&Path>,
        problems: &mut Vec<String>,
    ) -> Result<Self> {
        let head = match (scope, session.repository()) {
            (Scope::Local, _) => Head::Never,
            (Scope::Nearest, repository) => Head::IfMissing(repository),
            (Scope::All, None) => Head::Open(None),
            (Scope::All, Some(repository)) => {
                Head::Open(Commit::open(session, repository, problems).map(Box::new))
            }
        };
        let mut marks = |data: Option<&Path>| {
            let data = data.filter(|_| scope != Scope::Local);
            let names = data.map(|data| listed(session, &data.join(DELETED), problems)).unwrap_or_default();
            let mut ids: Vec<_> = names.iter().filter_map(|name| IssueId::parse(name.to_str()?)).collect();
            ids.sort_unstable();
            ids
        };
        let (deleted, gone) = (marks(own), marks(session.shared_data()));
        let (tips, landing) = if scope == Scope::All {
            tips(session, view, &head, problems)?
        } else {
            (Vec::new(), Landing::none(session, view))
        };
        Ok(Self { head, tips, landing, deleted, gone })
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
