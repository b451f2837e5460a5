//! The files that tests compare with: the specification, the vectors and the kernel's own source.
#![expect(clippy::disallowed_methods, reason = "tests read the repository's own files")]

use std::path::{Path, PathBuf};

/// A file of the repository, by its path from the root.
pub(crate) fn path(from_root: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(from_root)
}

pub(crate) fn read(from_root: &str) -> String {
    let path = path(from_root);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Replaces a file whole: the tests of other processes may be reading it.
pub(crate) fn write(from_root: &str, text: &str) {
    let path = path(from_root);
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, &path).unwrap();
}

/// The names of the files in a folder that end like that, sorted.
pub(crate) fn list(folder: &str, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(path(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    names
}

/// Whether the files are to be written instead of compared.
pub(crate) fn bless() -> bool {
    std::env::var_os("HOLDFAST_BLESS").is_some()
}

/// The variants of a public enum, read from its source.
pub(crate) fn variants(file: &str, name: &str) -> Vec<String> {
    let source = read(file);
    let (_, body) = source.split_once(&format!("pub enum {name} {{\n")).expect("the enum");
    let (body, _) = body.split_once("\n}").expect("its end");
    let variant = |line: &str| {
        let line = line.strip_prefix("    ")?;
        let word: String = line.chars().take_while(char::is_ascii_alphanumeric).collect();
        (word.starts_with(|c: char| c.is_ascii_uppercase())).then_some(word)
    };
    body.lines().filter_map(variant).collect()
}

/// `TtlOutOfRange` as `ttl_out_of_range`.
pub(crate) fn snake(camel: &str) -> String {
    let mut out = String::new();
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
