//! Objects that are made here: contents, directories and commits. Who a commit is by is decided elsewhere. As git does it, each gets a file of its own that appears whole, and is not flushed: what makes it count is the
//! ref that leads to it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use holdfast_sys::{Files, Open};
use miniz_oxide::deflate::compress_to_vec_zlib;

use super::{Mode, Objects, TreeEntry, closed};
use crate::{ObjectId, Result, hash};

/// How hard content is compressed.
const LEVEL: u8 = 6;

/// Files by their paths; those without content are taken out.
type Contents<'c> = BTreeMap<&'c [u8], Option<&'c [u8]>>;

impl Objects<'_> {
    /// A tree like `tree`, with these files in it; those without content are taken out, and directories that then have
    /// nothing. `nonce` is a number that nobody else has.
    ///
    /// # Errors
    /// When a tree cannot be read or written.
    pub fn with_files(&self, tree: &ObjectId, files: &Contents<'_>, nonce: u128) -> Result<ObjectId> {
        let mut writer = self.writer(nonce);
        match writer.filled(Some(tree), files)? {
            Some(tree) => Ok(tree),
            None => writer.loose.write("tree", &[]),
        }
    }

    /// A tree that has at its root what `tree` has, but for the entry `name`, which is as in `other` or not there.
    ///
    /// # Errors
    /// When a tree cannot be read or written.
    pub fn with_entry_of(
        &self,
        tree: &ObjectId,
        name: &[u8],
        other: Option<&ObjectId>,
        nonce: u128,
    ) -> Result<ObjectId> {
        let mut entries = self.tree(tree)?;
        entries.retain(|entry| entry.name != name);
        if let Some(other) = other {
            entries.extend(self.tree(other)?.into_iter().filter(|entry| entry.name == name));
        }
        self.writer(nonce).loose.tree(entries)
    }

    /// A commit by these people, each as [`signature`](crate::signature) gives them; none if git would not write it as it
    /// is. `nonce` is a number that nobody else has.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn make_commit(&self, made: &Made<'_>, nonce: u128) -> Result<Option<ObjectId>> {
        let is_text = |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| text.chars().all(is_kept));
        let once = made.parents.iter().collect::<BTreeSet<_>>().len() == made.parents.len();
        if !once || ![made.author, made.committer, made.message].into_iter().all(is_text) {
            return Ok(None);
        }
        self.writer(nonce).loose.commit(made, &[]).map(Some)
    }

    fn writer(&self, nonce: u128) -> Writer<'_> {
        Writer { objects: self, loose: Loose::new(self.files, self.own(), nonce) }
    }
}

/// What a commit is made of.
pub struct Made<'a> {
    /// Its tree.
    pub tree: &'a ObjectId,
    /// The commits before it.
    pub parents: &'a [ObjectId],
    /// Who wrote its change, `Name <address> <seconds> <zone>`.
    pub author: &'a [u8],
    /// Who makes it.
    pub committer: &'a [u8],
    /// Its message.
    pub message: &'a [u8],
}

/// Whether git takes a character for one: others it replaces, or refuses.
const fn is_kept(character: char) -> bool {
    let code = character as u32;
    code != 0 && code & 0xfffe != 0xfffe && !matches!(code, 0xfdd0..=0xfdef)
}

struct Writer<'a> {
    objects: &'a Objects<'a>,
    loose: Loose<'a>,
}

impl Writer<'_> {
    /// The directory with these files; none if it then has nothing.
    fn filled(&mut self, tree: Option<&ObjectId>, files: &Contents<'_>) -> Result<Option<ObjectId>> {
        let before = tree.map_or(Ok(Vec::new()), |tree| self.objects.tree(tree))?;
        let mut entries: BTreeMap<Vec<u8>, TreeEntry> =
            before.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        let mut below: BTreeMap<&[u8], Contents<'_>> = BTreeMap::new();
        for (path, content) in files {
            match path.iter().position(|byte| *byte == b'/') {
                Some(at) => {
                    let (name, rest) = path.split_at(at);
                    let rest = rest.get(1..).unwrap_or_default();
                    below.entry(name).or_default().insert(rest, *content);
                }
                None => match content {
                    Some(content) => {
                        let (name, id) = (path.to_vec(), self.loose.blob(content)?);
                        entries.insert(name.clone(), TreeEntry { name, mode: Mode::File, id });
                    }
                    None => drop(entries.remove(*path)),
                },
            }
        }
        for (name, files) in below {
            let inside = entries.get(name).filter(|entry| entry.mode == Mode::Tree).map(|entry| entry.id);
            let only_out = files.values().all(Option::is_none);
            if inside.is_none() && only_out {
                continue;
            }
            match self.filled(inside.as_ref(), &files)? {
                Some(id) => {
                    let name = name.to_vec();
                    entries.insert(name.clone(), TreeEntry { name, mode: Mode::Tree, id });
                }
                None => drop(entries.remove(name)),
            }
        }
        if entries.is_empty() { Ok(None) } else { self.loose.tree(entries.into_values().collect()).map(Some) }
    }
}

/// A place that new objects are put into, each as a file of its own.
pub struct Loose<'a> {
    files: &'a dyn Files,
    place: &'a Path,
    nonce: u128,
    written: u32,
}

impl<'a> Loose<'a> {
    /// The directory `place`, which holds the objects of a repository; `nonce` is a number that nobody else has.
    #[must_use]
    pub fn new(files: &'a dyn Files, place: &'a Path, nonce: u128) -> Self {
        Self { files, place, nonce, written: 0 }
    }

    /// Puts the content of a file there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn blob(&mut self, content: &[u8]) -> Result<ObjectId> {
        self.write("blob", content)
    }

    /// Puts a commit there as it is, with headers of its own that git passes over, each of one line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn commit(&mut self, made: &Made<'_>, headers: &[(&str, &[u8])]) -> Result<ObjectId> {
        let Made { tree, parents, author, committer, message } = made;
        let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        let start = format!("tree {tree}\n{parents}author ");
        let mut text = [start.as_bytes(), author, b"\ncommitter ", committer, b"\n"].concat();
        for (name, value) in headers {
            text.extend([name.as_bytes(), b" ", value, b"\n"].concat());
        }
        text.push(b'\n');
        text.extend(*message);
        self.write("commit", &text)
    }

    /// A directory that has nothing. Git knows it without a file.
    #[must_use]
    pub fn empty_tree() -> ObjectId {
        hash::object("tree", &[])
    }

    /// Puts a directory there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn tree(&mut self, mut entries: Vec<TreeEntry>) -> Result<ObjectId> {
        // Directories are sorted as if their names ended with a slash.
        let key = |entry: &TreeEntry| {
            let mut key = entry.name.clone();
            key.extend((entry.mode == Mode::Tree).then_some(b'/'));
            key
        };
        entries.sort_by_key(key);
        let mut bytes = Vec::new();
        for entry in entries {
            bytes.extend(entry.mode.octal().as_bytes());
            bytes.push(b' ');
            bytes.extend(&entry.name);
            bytes.push(0);
            bytes.extend(entry.id.as_bytes());
        }
        self.write("tree", &bytes)
    }

    /// Gives content its file. One that is there already is put anew: git removes what is old and not needed, and looks
    /// at the time of its file for that.
    fn write(&mut self, kind: &str, content: &[u8]) -> Result<ObjectId> {
        let id = hash::object(kind, content);
        let (files, place) = (self.files, self.place);
        let name = id.to_string();
        let (folder, file) = name.split_at_checked(2).unwrap_or_default();
        let folder = place.join(folder);
        self.written += 1;
        let beside = place.join(format!("tmp_obj_{:032x}{}", self.nonce, self.written));
        let packed = [format!("{kind} {}\0", content.len()).as_bytes(), content].concat();
        let packed = compress_to_vec_zlib(&packed, LEVEL);
        let put = || -> holdfast_sys::Result<()> {
            files.open(&beside, Open::New { mode: 0o444 })?.write_all_at(&packed, 0)?;
            make(files, &folder)?;
            files.rename(&beside, &folder.join(file))
        };
        put().map_err(|error| {
            let _ = files.remove_file(&beside);
            closed(place, &error.to_string())
        })?;
        Ok(id)
    }
}

fn make(files: &dyn Files, folder: &Path) -> holdfast_sys::Result<()> {
    match files.create_dir(folder, 0o777) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}
