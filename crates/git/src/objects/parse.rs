//! The bytes of commits and trees. Both may come from anybody who can push, so what git would never write
//! is refused: above all a name in a tree that leads out of its directory.

use crate::{ObjectId, paths};

/// What an entry of a tree is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A file.
    File,
    /// A file that can be run.
    Executable,
    /// A symbolic link; its content is where it leads.
    Symlink,
    /// A directory.
    Tree,
    /// A commit of a submodule.
    Submodule,
}

impl Mode {
    pub(crate) fn parse(octal: &[u8]) -> Option<Self> {
        Self::from_bits(u32::from_str_radix(std::str::from_utf8(octal).ok()?, 8).ok()?)
    }

    /// As a tree spells it.
    pub(super) const fn octal(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Tree => "40000",
            Self::Submodule => "160000",
        }
    }

    pub(crate) const fn from_bits(mode: u32) -> Option<Self> {
        match (mode & 0o170_000, mode & 0o100) {
            (0o100_000, 0) => Some(Self::File),
            (0o100_000, _) => Some(Self::Executable),
            (0o120_000, _) => Some(Self::Symlink),
            (0o040_000, _) => Some(Self::Tree),
            (0o160_000, _) => Some(Self::Submodule),
            _ => None,
        }
    }
}

/// An entry of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeEntry {
    /// Its name in that tree: one part of a path, neither `.` nor `..`. It need not be UTF-8.
    pub name: Vec<u8>,
    pub mode: Mode,
    /// Its content.
    pub id: ObjectId,
}

/// Shows every entry of a tree; none if the bytes are not one. Some entries may have been shown then.
pub(super) fn entries(mut bytes: &[u8], mut show: impl FnMut(&[u8], Mode, ObjectId)) -> Option<()> {
    while !bytes.is_empty() {
        let space = bytes.iter().position(|byte| *byte == b' ')?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let (mode, name) = (bytes.get(..space)?, bytes.get(space + 1..end)?);
        if matches!(name, b"" | b"." | b"..") || name.contains(&b'/') {
            return None;
        }
        let id = ObjectId::from_bytes(bytes.get(end + 1..end + 21)?)?;
        show(name, Mode::parse(mode)?, id);
        bytes = bytes.get(end + 21..)?;
    }
    Some(())
}

/// The entries of a tree; none if the bytes are not one.
pub(super) fn tree(bytes: &[u8]) -> Option<Vec<TreeEntry>> {
    let mut all = Vec::new();
    entries(bytes, |name, mode, id| all.push(TreeEntry { name: name.to_vec(), mode, id }))?;
    Some(all)
}

/// What is needed of a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commit {
    /// Its tree.
    pub tree: ObjectId,
    /// The commits before it.
    pub parents: Vec<ObjectId>,
    /// Who wrote its change: name, address and time as git keeps them. It need not be UTF-8.
    pub author: Vec<u8>,
    /// What its texts are encoded in, if that is not UTF-8.
    pub encoding: Option<Vec<u8>>,
    /// When its change was first written, in seconds since 1970, by the clock of whoever wrote it. Amending
    /// or rebasing leaves this as it is.
    pub authored_secs: i64,
    /// When the commit itself was written.
    pub written_secs: i64,
    /// Its message.
    pub message: Vec<u8>,
}

impl Commit {
    /// The commit with these bytes; none if they are not one.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap_or(bytes.len());
        let mut lines = bytes.get(..end)?.split(|byte| *byte == b'\n').peekable();
        let tree = ObjectId::from_hex(lines.next()?.strip_prefix(b"tree ")?)?;
        let mut parents = Vec::new();
        while let Some(parent) = lines.peek().and_then(|line| line.strip_prefix(b"parent ")) {
            parents.push(ObjectId::from_hex(parent)?);
            lines.next();
        }
        let author = lines.find_map(|line| line.strip_prefix(b"author "))?;
        let committer = lines.find_map(|line| line.strip_prefix(b"committer "))?;
        let encoding = lines.find_map(|line| line.strip_prefix(b"encoding ")).map(<[u8]>::to_vec);
        let message = bytes.get(end + 2..).unwrap_or_default().to_vec();
        let (authored_secs, written_secs) = (seconds(author)?, seconds(committer)?);
        let author = author.to_vec();
        Some(Self { tree, parents, author, encoding, authored_secs, written_secs, message })
    }
}

/// The one line of a header of a commit; none if it has no such header.
pub(super) fn header<'b>(commit: &'b [u8], name: &str) -> Option<&'b [u8]> {
    let lines = commit.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    let value = |line: &'b [u8]| line.strip_prefix(name.as_bytes())?.strip_prefix(b" ");
    lines.into_iter().find_map(value)
}

/// The name, the address and the time in `Name <address> <seconds> <zone>`.
#[must_use]
pub fn person(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let open = text.iter().position(|byte| *byte == b'<')?;
    let close = text.iter().rposition(|byte| *byte == b'>')?;
    let (name, address) = (text.get(..open)?, text.get(open + 1..close)?);
    Some((paths::trim(name), address, paths::trim(text.get(close + 1..)?)))
}

/// The time in `Name <address> <seconds> <zone>`; the name may hold anything.
fn seconds(person: &[u8]) -> Option<i64> {
    let close = person.iter().rposition(|byte| *byte == b'>')?;
    let mut words = paths::trim(person.get(close + 1..)?).split(|byte| *byte == b' ');
    std::str::from_utf8(words.next()?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(mode: &str, name: &[u8]) -> Vec<u8> {
        [mode.as_bytes(), b" ", name, b"\0", &[7; 20]].concat()
    }

    #[test]
    fn trees_as_git_writes_them() {
        let bytes =
            [one("100644", b"a"), one("40000", b"b"), one("120000", b"\xff"), one("160000", b"m")].concat();
        let modes: Vec<_> = tree(&bytes).unwrap().iter().map(|entry| entry.mode).collect();
        assert_eq!(modes, [Mode::File, Mode::Tree, Mode::Symlink, Mode::Submodule]);
        assert_eq!(tree(b""), Some(vec![]));
    }

    #[test]
    fn names_that_lead_out_of_a_tree_are_refused() {
        for name in [&b""[..], b".", b"..", b"a/b", b"../../etc/passwd"] {
            assert_eq!(tree(&one("100644", name)), None, "{name:?}");
        }
    }

    #[test]
    fn garbage_is_no_tree() {
        let whole = one("100644", b"a");
        for cut in 1..whole.len() {
            assert_eq!(tree(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(tree(&one("777", b"a")), None);
        assert_eq!(tree(&one("x", b"a")), None);
    }

    #[test]
    fn a_header_is_found_by_its_whole_name_and_never_in_the_message() {
        let text = b"tree x\nauthor a\njit-heads no\njit-head {\"a\": 1}\n\njit-step {}\n";
        assert_eq!(header(text, "jit-head"), Some(&b"{\"a\": 1}"[..]));
        assert_eq!((header(text, "jit-step"), header(text, "jit"), header(b"", "jit")), (None, None, None));
    }

    #[test]
    fn a_commit_without_a_message_is_one() {
        let id = "1".repeat(40);
        let text = format!("tree {id}\nparent {id}\nauthor A <a> 1 +0000\ncommitter B > <b> 5 +0000\n");
        let commit = Commit::parse(text.as_bytes()).unwrap();
        assert_eq!((commit.parents.len(), commit.authored_secs, commit.written_secs), (1, 1, 5));
        assert!(commit.message.is_empty());
        assert_eq!(Commit::parse(b"tree x"), None);
        assert_eq!(Commit::parse(format!("tree {id}\n\nmessage").as_bytes()), None);
    }
}
