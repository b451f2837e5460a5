//! What is in the root: locks with an owner, locks without one, and what cannot be read. Reading never
//! follows a symbolic link, never writes, and never lets one bad lock hide the others.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use holdfast_kernel::{Lease, LeaseId, Mode, Name, Resource, Table};
use holdfast_sys::{Kind, Stat, Sys};

use super::foreign::Foreign;
use super::layout::{self, Spot};
use super::{Outlasts, Settings, marker, ownerless};
use crate::codec::Stored;
use crate::counter::Position;
use crate::{Error, Result, Unreadable, whole};

/// How a lock is kept.
pub(super) enum Kept {
    /// By the bytes of its owner's file.
    Owned(Vec<u8>),
    /// By the bytes of an owner's file that another program wrote.
    Foreign(Vec<u8>),
    /// By its directory alone, as it was when it was looked at.
    Ghost {
        /// The directory.
        stat: Stat,
        /// The marker in it.
        marker: Option<Vec<u8>>,
    },
    /// It cannot be told by whom.
    Damaged(Error),
}

/// One lock, and the lease that it stands for.
pub(super) struct Lock {
    pub(super) spot: Spot,
    pub(super) lease: Lease,
    pub(super) kept: Kept,
}

/// The locks that were looked at.
pub(super) struct Locks {
    pub(super) position: Position,
    pub(super) table: Table,
    locks: BTreeMap<LeaseId, Lock>,
}

impl Locks {
    pub(super) fn get(&self, id: LeaseId) -> Option<&Lock> {
        self.locks.get(&id)
    }

    /// The lock on a resource. There is at most one: it is one directory.
    pub(super) fn on(&self, resource: &Resource) -> Option<&Lock> {
        self.table.on(resource).next().and_then(|lease| self.get(lease.id))
    }
}

/// Looks at a root, within a section.
pub(super) struct Scan<'a> {
    pub(super) sys: &'a Sys,
    pub(super) root: &'a Path,
    pub(super) settings: &'a Settings,
    pub(super) position: Position,
}

impl Scan<'_> {
    /// All locks.
    pub(super) fn all(&self) -> Result<Locks> {
        let mut locks = Vec::new();
        for spot in spots(self.sys, self.root)? {
            locks.extend(self.lock(spot)?);
        }
        self.table(locks)
    }

    /// The lock on one resource.
    pub(super) fn one(&self, resource: &Resource) -> Result<Locks> {
        let spot = Spot::new(self.root, resource);
        let lock = spot.map(|spot| self.lock(spot)).transpose()?.flatten();
        self.table(lock.into_iter().collect())
    }

    /// The lock at a spot, if there is one.
    pub(super) fn lock(&self, spot: Spot) -> Result<Option<Lock>> {
        // A family that is a symbolic link would lead somewhere else.
        if !is_directory(self.sys, &spot.family)? {
            return Ok(None);
        }
        let Some(stat) = look(self.sys, &spot.dir)? else { return Ok(None) };
        if stat.kind != Kind::Directory {
            let what = format_args!("it is {}, not a directory", whole::called(stat.kind));
            let error = Error::damaged(&spot.dir, "the lock", what);
            return Ok(Some(self.damaged(spot, &stat, error)));
        }
        Ok(Some(match self.owner(&spot, &stat) {
            Ok(Some((lease, kept))) => Lock { spot, lease, kept },
            Ok(None) => self.ghost(spot, stat),
            Err(Error::Damaged { .. }) if self.was_cut_off(&stat)? => self.ghost(spot, stat),
            Err(error) if is_about_one_lock(&error) => self.damaged(spot, &stat, error),
            Err(error) => return Err(error),
        }))
    }

    /// Whether a lock that was never flushed is from before the machine last started. What cannot be read of
    /// it was lost with the power, and whoever wrote it is gone.
    fn was_cut_off(&self, stat: &Stat) -> Result<bool> {
        let now = self.sys.clock.now()?;
        let started = now.boot().map(|boot| now.wall_ms().saturating_sub(boot.ms).cast_signed());
        let unflushed = self.settings.outlasts == Outlasts::Process;
        Ok(unflushed && started.is_some_and(|started| stat.modified_ms < started))
    }

    /// What the owner's file says, if there is one.
    fn owner(&self, spot: &Spot, stat: &Stat) -> Result<Option<(Lease, Kept)>> {
        let path = spot.owner();
        let Some(bytes) = whole::read(self.sys, &path)? else { return Ok(None) };
        if let Some(foreign) = Foreign::read(&bytes) {
            return Ok(Some((foreign.lease(spot, stat, self.settings), Kept::Foreign(bytes))));
        }
        let wrong = |what: &dyn std::fmt::Display| Error::damaged(&path, "the owner", what);
        let stored = self.settings.codec.read(&bytes).map_err(|error| match error {
            Unreadable::Damaged(what) => wrong(&what),
            Unreadable::Newer(version) => Error::Newer { path: path.clone(), version },
        })?;
        self.position.admits(&stored).map_err(|what| wrong(&what))?;
        let Stored { lease, .. } = stored;
        if lease.resource != spot.resource {
            return Err(wrong(&format_args!("it is the owner of {}", lease.resource)));
        }
        if lease.mode != Mode::Exclusive {
            return Err(wrong(&"it is a shared lease"));
        }
        Table::restore([lease.clone()]).map_err(|error| wrong(&error))?;
        Ok(Some((lease, Kept::Owned(bytes))))
    }

    fn ghost(&self, spot: Spot, stat: Stat) -> Lock {
        let marker = marker::read(self.sys, &spot.dir);
        let lease = ownerless::ghost(&spot, &stat, marker.as_ref(), self.settings);
        Lock { spot, lease, kept: Kept::Ghost { stat, marker: marker.map(|marker| marker.bytes) } }
    }

    fn damaged(&self, spot: Spot, stat: &Stat, error: Error) -> Lock {
        let lease = ownerless::damaged(&spot, stat, &error, self.settings);
        Lock { spot, lease, kept: Kept::Damaged(error) }
    }

    fn table(&self, found: Vec<Lock>) -> Result<Locks> {
        let mut locks: BTreeMap<LeaseId, Lock> = BTreeMap::new();
        for lock in found {
            let lock = if locks.contains_key(&lock.lease.id) { self.doubled(lock)? } else { lock };
            locks.insert(lock.lease.id, lock);
        }
        let leases = locks.values().map(|lock| lock.lease.clone());
        let table =
            Table::restore(leases).map_err(|error| Error::damaged(self.root, "the locks in it", error))?;
        Ok(Locks { position: self.position, table, locks })
    }

    /// A lock whose owner's file bears the id of another one: somebody made it from a copy.
    fn doubled(&self, lock: Lock) -> Result<Lock> {
        let stat = self.sys.files.stat(&lock.spot.dir)?;
        let error = Error::damaged(&lock.spot.owner(), "the owner", "another lock has the same lease id");
        Ok(self.damaged(lock.spot, &stat, error))
    }
}

/// Where locks can be, by what is there.
pub(super) fn spots(sys: &Sys, root: &Path) -> Result<Vec<Spot>> {
    let mut spots = Vec::new();
    for name in families(sys, root)? {
        spots.extend(spots_in(root, &name, &names(sys, &root.join(&name))?));
    }
    Ok(spots)
}

/// Where locks can be in a family, by the names that are there.
pub(super) fn spots_in(root: &Path, family: &str, scopes: &[String]) -> Vec<Spot> {
    let resources = scopes.iter().filter_map(|scope| Name::new(&format!("{family}/{scope}")).ok());
    resources.filter_map(|resource| Spot::new(root, &resource.into())).collect()
}

/// The directories in the root that can be families of locks.
pub(super) fn families(sys: &Sys, root: &Path) -> Result<Vec<String>> {
    let mut families = Vec::new();
    for name in in_utf8(sys.files.list(root)?).filter(|name| layout::is_name(name)) {
        if is_directory(sys, &root.join(&name))? {
            families.push(name);
        }
    }
    Ok(families)
}

/// The names in a family. One that is gone or not ours to read has no lock of ours in it.
pub(super) fn names(sys: &Sys, family: &Path) -> Result<Vec<String>> {
    match sys.files.list(family) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
            Ok(Vec::new())
        }
        names => Ok(in_utf8(names?).collect()),
    }
}

/// What is not UTF-8 is no lock's name.
fn in_utf8(names: Vec<OsString>) -> impl Iterator<Item = String> {
    names.into_iter().filter_map(|name| name.into_string().ok())
}

fn is_directory(sys: &Sys, path: &Path) -> Result<bool> {
    Ok(look(sys, path)?.is_some_and(|stat| stat.kind == Kind::Directory))
}

fn look(sys: &Sys, path: &Path) -> Result<Option<Stat>> {
    match sys.files.stat(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        stat => Ok(Some(stat?)),
    }
}

/// Whether other locks can be read all the same.
fn is_about_one_lock(error: &Error) -> bool {
    match error {
        Error::Damaged { .. } | Error::Newer { .. } => true,
        Error::Sys(error) => error.kind() == ErrorKind::PermissionDenied,
        _ => false,
    }
}
