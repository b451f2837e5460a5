//! The names that git gives to content. Equal names mean equal content, so what is on disk can be compared
//! with a commit without reading the commit's objects. Nothing here judges whether content can be trusted.

use sha1::{Digest, Sha1};

use crate::ObjectId;

/// The name of a directory that holds exactly these plain files and nothing else; none if a name is not one
/// part of a path. Their order does not matter.
#[must_use]
pub fn directory(files: &[(&str, &[u8])]) -> Option<ObjectId> {
    let mut files: Vec<(&str, ObjectId)> =
        files.iter().map(|(name, content)| (*name, blob(content))).collect();
    files.sort();
    let mut tree = Vec::with_capacity(files.len() * 64);
    for (name, id) in files {
        if name.is_empty() || name.contains(['/', '\0']) {
            return None;
        }
        tree.extend_from_slice(b"100644 ");
        tree.extend_from_slice(name.as_bytes());
        tree.push(0);
        tree.extend_from_slice(id.as_bytes());
    }
    Some(object("tree", &tree))
}

/// The name of a file's content.
#[must_use]
pub fn blob(content: &[u8]) -> ObjectId {
    object("blob", content)
}

pub(crate) fn object(kind: &str, content: &[u8]) -> ObjectId {
    let mut hash = Sha1::new();
    hash.update(format!("{kind} {}\0", content.len()));
    hash.update(content);
    ObjectId::sha1(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::{blob, directory};

    #[test]
    fn content_has_the_name_that_git_gives_it() {
        // As `git hash-object` and `git mktree` say.
        assert_eq!(blob(b"").to_string(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob(b"hello\n").to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(directory(&[]).unwrap().to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    }

    #[test]
    fn the_order_of_files_does_not_matter_and_a_path_is_no_name() {
        let (a, b) = (("a", &b"1"[..]), ("b", &b"2"[..]));
        assert_eq!(directory(&[a, b]), directory(&[b, a]));
        assert_ne!(directory(&[a, b]), directory(&[a]));
        assert_eq!(directory(&[("x/y", b"")]), None);
    }
}
