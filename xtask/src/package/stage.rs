//! What is installed, before any package system has its say: programs, manual pages, completions, units of systemd and
//! documents, each with the place that it has.

use std::path::{Path, PathBuf};

use super::manual::{self, Pages};
use super::{read, write};
use crate::child::Child;
use crate::programs::PROGRAMS;

/// What a file is. The place follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Program,
    Manual,
    Bash,
    Zsh,
    Fish,
    Unit,
    Document,
}

/// Where files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Below any directory, as `/usr/local`.
    Prefix,
    /// Below `/usr` of Debian.
    Debian,
}

impl Kind {
    const fn folder(self, layout: Layout) -> &'static str {
        match (self, layout) {
            (Self::Program, _) => "bin",
            (Self::Manual, _) => "share/man/man1",
            (Self::Bash, _) => "share/bash-completion/completions",
            (Self::Zsh, Layout::Prefix) => "share/zsh/site-functions",
            (Self::Zsh, Layout::Debian) => "share/zsh/vendor-completions",
            (Self::Fish, _) => "share/fish/vendor_completions.d",
            (Self::Unit, _) => "lib/systemd/user",
            (Self::Document, _) => "share/doc/holdfast",
        }
    }
}

/// A file.
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// All files.
pub(super) struct Stage(Vec<Entry>);

/// Shells, what they call a file of completions, and where it goes.
const SHELLS: [(&str, Kind); 3] = [("bash", Kind::Bash), ("zsh", Kind::Zsh), ("fish", Kind::Fish)];
const UNITS: [&str; 2] = ["jit-serve@.service", "jit-heartbeat@.service"];
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

impl Stage {
    /// Takes the programs from where they were built and asks them for their pages and completions.
    pub(super) fn new(root: &Path, built: &Path) -> Result<Self, String> {
        let mut entries = Vec::new();
        let mut pages = Pages::new();
        for (_, name) in PROGRAMS {
            let program = built.join(name);
            entries.push(Entry { kind: Kind::Program, name: name.into(), bytes: read(&program)? });
            if !manual::is_helper(name, &pages) {
                for (shell, kind) in SHELLS {
                    entries.push(completions(&program, name, shell, kind)?);
                }
            }
            manual::collect(&program, name, &mut pages)?;
        }
        let page = |(name, text): (String, String)| Entry {
            kind: Kind::Manual,
            name: format!("{name}.1"),
            bytes: text.into_bytes(),
        };
        entries.extend(pages.into_iter().map(page));
        let files = UNITS.map(|name| (Kind::Unit, root.join("contrib/systemd").join(name)));
        let documents = DOCUMENTS.map(|name| (Kind::Document, root.join(name)));
        for (kind, path) in files.into_iter().chain(documents) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            entries.push(Entry { kind, name, bytes: read(&path)? });
        }
        Ok(Self(entries))
    }

    /// The programs with these names.
    pub(super) fn programs<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Entry> {
        self.0.iter().filter(|entry| entry.kind == Kind::Program && names.contains(&entry.name.as_str()))
    }

    /// Writes everything below a directory.
    pub(super) fn write(&self, to: &Path, layout: Layout) -> Result<(), String> {
        self.0.iter().try_for_each(|entry| {
            let path = to.join(entry.kind.folder(layout)).join(&entry.name);
            put(&path, entry)
        })
    }
}

/// Writes a file so that others may read it, and run it if it is a program.
pub(super) fn put(path: &Path, entry: &Entry) -> Result<(), String> {
    write(path, &entry.bytes)?;
    mode(path, if entry.kind == Kind::Program { 0o755 } else { 0o644 })
}

#[cfg(unix)]
pub(super) fn mode(path: &Path, mode: u32) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).map_err(|why| format!("{}: {why}", path.display()))
}

/// Where there are no modes, there is nothing to set.
#[cfg(not(unix))]
pub(super) fn mode(_: &Path, _: u32) -> Result<(), String> {
    Ok(())
}

fn completions(program: &Path, name: &str, shell: &str, kind: Kind) -> Result<Entry, String> {
    let path: PathBuf = program.into();
    let said = Child::new(Path::new("."), &path.display().to_string(), &["completions", shell]).quiet().run();
    if !said.ok {
        return Err(format!("`{name} completions {shell}` {}: {}", said.how, said.err.trim()));
    }
    let file = match kind {
        Kind::Zsh => format!("_{name}"),
        Kind::Fish => format!("{name}.fish"),
        _ => name.into(),
    };
    Ok(Entry { kind, name: file, bytes: said.out.into_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_file_has_its_place() {
        let entry = |kind, name: &str| Entry { kind, name: name.into(), bytes: b"x".to_vec() };
        let stage =
            Stage(vec![entry(Kind::Program, "jit"), entry(Kind::Zsh, "_jit"), entry(Kind::Manual, "jit.1")]);
        let folder = tempfile::tempdir().unwrap();
        stage.write(&folder.path().join("usr"), Layout::Debian).unwrap();
        stage.write(&folder.path().join("own"), Layout::Prefix).unwrap();
        for path in [
            "usr/bin/jit",
            "usr/share/zsh/vendor-completions/_jit",
            "usr/share/man/man1/jit.1",
            "own/share/zsh/site-functions/_jit",
        ] {
            assert!(folder.path().join(path).is_file(), "{path}");
        }
        assert_eq!(stage.programs(&["jit", "jvs"]).count(), 1);
    }
}
