//! Issues that need not be read: all copies of one are the same, and in every directory that has it it is still what is
//! remembered of it. That is looked at each time; only what the answer rests on, but all of that.

use holdfast_sys::Folder;

use super::cache::{Entry, Extent, Told};
use super::layer::Layer;
use super::layers::{DIRECTORIES, Layers};
use super::seen::Sets;
use super::standing::{Standing, Tips};
use super::state::State;
use crate::ids::IssueId;

/// How many issues are worth opening their directories once more.
const MANY: usize = 1_000;

/// Which of the directories have an issue, and in which of them it is still what is remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Freshness {
    has: [bool; DIRECTORIES],
    fresh: [bool; DIRECTORIES],
}

impl Freshness {
    /// Whether a directory has the issue otherwise than it is remembered.
    pub(super) fn is_stale(self, number: usize) -> bool {
        let at = |all: [bool; DIRECTORIES]| all.get(number).copied().unwrap_or(false);
        at(self.has) && !at(self.fresh)
    }
}

/// Where a thread that asks for issues in the order of their ids has come to in every layer, the directories as it has them
/// open, and room for names.
#[derive(Default)]
pub(super) struct Cursors {
    /// In the list of each directory, and in what is remembered of it.
    directories: [[usize; 2]; DIRECTORIES],
    folders: [Option<Box<dyn Folder>>; DIRECTORIES],
    head: usize,
    tips: [usize; 2],
    path: String,
}

/// What is remembered of an issue in the directories that have it.
#[derive(Default)]
struct Remembered<'l>([Option<Entry<'l>>; DIRECTORIES]);

impl Layers<'_> {
    /// What a thread needs to ask for so many issues.
    pub(super) fn cursors(&self, count: usize) -> Cursors {
        let again = |number| self.directory(number).filter(|_| count >= MANY).and_then(|(_, it)| it.again());
        Cursors { folders: std::array::from_fn(again), ..Cursors::default() }
    }

    /// An issue as far as lists have to know it, without reading it; how it looks where that takes a closer look.
    pub(super) fn quick<'l>(
        &'l self,
        id: IssueId,
        sets: Sets,
        cursors: &mut Cursors,
    ) -> Result<Told<'l>, Freshness> {
        let (mut freshness, mut remembered) = (Freshness::default(), Remembered::default());
        let places = freshness.has.iter_mut().zip(&mut freshness.fresh).zip(&mut remembered.0);
        cursors.path.clear();
        id.push_to(&mut cursors.path);
        let Cursors { path, folders, directories, .. } = cursors;
        for ((((_, worktree), ((has, fresh), room)), from), folder) in
            self.directories().into_iter().zip(places).zip(directories).zip(folders)
        {
            let Some(worktree) = worktree else { continue };
            let entry;
            (*has, entry) = worktree.find(id, from);
            let Some(entry) = entry else { continue };
            let at = (&mut *path, folder.as_deref());
            *fresh = worktree.is_fresh(&entry, sets.rests_on(entry.state), at);
            *room = Some(entry);
        }
        if self.is_gone(id) || freshness.has != freshness.fresh {
            return Err(freshness);
        }
        self.alone(id, &remembered, sets, cursors).ok_or(freshness)
    }

    /// An issue that is as it is remembered wherever it is; none unless all copies of it are the same.
    fn alone<'l>(
        &'l self,
        id: IssueId,
        remembered: &Remembered<'l>,
        sets: Sets,
        cursors: &mut Cursors,
    ) -> Option<Told<'l>> {
        let places = self.directories().into_iter().zip(&remembered.0);
        let mut there =
            places.filter_map(|((layer, worktree), entry)| Some((layer, worktree?, entry.as_ref()?)));
        let (layer, _, entry) = there.clone().next()?;
        if there.any(|(_, _, other)| other.tree != entry.tree) {
            return None;
        }
        let head = self.head().and_then(|head| head.next_tree(id, &mut cursors.head));
        if head.is_some_and(|head| head != entry.tree) {
            return None;
        }
        let mut tips = Tips::default();
        for (tip, from) in self.tips.iter().zip(&mut cursors.tips) {
            match tip.commit.as_ref().map_or(head, |commit| commit.next_tree(id, from)) {
                Some(there) if there == entry.tree => tips = tips.and(tip.tips),
                Some(_) => return None,
                None => {}
            }
        }
        // What this worktree does not have itself is known from the commit that it is on, if that has it.
        let layer = if layer != Layer::Local && head.is_some() { Layer::Head } else { layer };
        let (extent, again) = (sets.extent(entry.state), sets.extent(State::InProgress));
        let mut told = entry.told(extent)?;
        let standing = self.landing.of(id, told.finish(), layer, tips, tips);
        if standing == Standing::Lost && extent != again {
            // It has to be done again, so it matters what it waits for.
            let Cursors { path, folders, .. } = cursors;
            let mut there = self.directories().into_iter().zip(&remembered.0).zip(folders);
            let is_fresh = there.all(|(((_, worktree), entry), folder)| match (worktree, entry) {
                (Some(worktree), Some(entry)) => {
                    worktree.is_fresh(entry, again, (&mut *path, folder.as_deref()))
                }
                _ => true,
            });
            told = entry.told(again).filter(|_| is_fresh)?;
        }
        told.stand(standing);
        Some(told)
    }
}

impl Sets {
    /// How much is looked at of an issue of this state. How gated work stands depends on whether the target has exactly
    /// this copy of all its files.
    const fn rests_on(self, state: State) -> Extent {
        if matches!(state, State::Gated) { Extent::ALL } else { self.extent(state) }
    }

    /// How much is told of an issue of this state.
    const fn extent(self, state: State) -> Extent {
        Extent { labels: self.labels.has(state), deps: self.deps.has(state) }
    }
}
