//! From a path to a place. Links are followed on the way, never at the last step.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

use rustix::io::{Errno, Result};

use super::super::touch::Thing;
use super::{Body, Disk, NodeId, Place, ROOT};

/// How many links are followed before it counts as a loop.
const MOST_LINKS: u32 = 40;

impl Disk {
    /// The thing at a path.
    pub(in super::super) fn find(&self, path: &Path) -> Result<NodeId> {
        let place = self.locate(path)?;
        match &place.name {
            None => Ok(place.dir),
            Some(name) => self.entry(place.dir, name)?.ok_or(Errno::NOENT),
        }
    }

    /// What a name in a directory leads to.
    pub(super) fn entry(&self, dir: NodeId, name: &OsStr) -> Result<Option<NodeId>> {
        self.touched.read(|| Thing::name(self.node(dir).born, name));
        Ok(self.entries(dir)?.visible.get(name).copied())
    }

    /// The directory that a path's last part is a name in; the last part need not be there.
    pub(super) fn locate(&self, path: &Path) -> Result<Place> {
        if path.as_os_str().is_empty() {
            return Err(Errno::NOENT);
        }
        let mut way = vec![ROOT];
        let mut ahead: VecDeque<Step> = steps(path).collect();
        let mut links = 0;
        while let Some(step) = ahead.pop_front() {
            let here = way.last().copied().unwrap_or(ROOT);
            match step {
                Step::Up => drop(way.pop_if(|_| here != ROOT)),
                Step::Down(name) if ahead.is_empty() => {
                    self.entries(here)?;
                    return Ok(Place { dir: here, name: Some(name) });
                }
                Step::Down(name) => {
                    let id = self.entry(here, &name)?.ok_or(Errno::NOENT)?;
                    match &self.node(id).body {
                        Body::Directory(_) => way.push(id),
                        Body::File(_) => return Err(Errno::NOTDIR),
                        Body::Symlink(target) => {
                            links += 1;
                            if links > MOST_LINKS {
                                return Err(Errno::LOOP);
                            }
                            way.truncate(if target.is_absolute() { 1 } else { way.len() });
                            steps(target).rev().for_each(|step| ahead.push_front(step));
                        }
                    }
                }
            }
        }
        Ok(Place { dir: way.last().copied().unwrap_or(ROOT), name: None })
    }
}

enum Step {
    Up,
    Down(OsString),
}

fn steps(path: &Path) -> impl DoubleEndedIterator<Item = Step> {
    path.components().filter_map(|component| match component {
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_os_string())),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    })
}
