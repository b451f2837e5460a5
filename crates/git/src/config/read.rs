//! Which configuration files there are, in which order, and what they include.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use holdfast_sys::Files;

use super::{Entry, Origin, Scope, bad_value, command, expand, glob};
use crate::syntax::{Assignment, BadLine, parse};
use crate::{Environment, Error, Head, Repository, Result, paths};

/// Far more than any configuration.
const LARGEST: usize = 64 << 20;

/// As deep as git follows includes.
const DEEPEST: usize = 10;

/// Every entry of every file and of the command, in git's order.
pub(super) fn entries(
    files: &dyn Files,
    env: &Environment,
    repository: Option<&Repository>,
) -> Result<Vec<Entry>> {
    let mut first =
        Reader { files, env, repository, urls: None, asked_for_urls: false, depth: 0, entries: vec![] };
    first.read_all()?;
    if !first.asked_for_urls {
        return Ok(first.entries);
    }
    // An include that depends on the remotes' addresses needs all of them, wherever they are set.
    let urls = first.entries.iter().filter(|entry| is_remote_url(&entry.key));
    let urls = urls.filter_map(|entry| entry.value.clone()).collect();
    let mut second = Reader { urls: Some(urls), entries: vec![], ..first };
    second.read_all()?;
    Ok(second.entries)
}

fn is_remote_url(key: &[u8]) -> bool {
    key.strip_prefix(b"remote.").is_some_and(|rest| rest.ends_with(b".url"))
}

struct Reader<'a> {
    files: &'a dyn Files,
    env: &'a Environment,
    repository: Option<&'a Repository>,
    urls: Option<Vec<Vec<u8>>>,
    asked_for_urls: bool,
    depth: usize,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn read_all(&mut self) -> Result<()> {
        if self.env.reads_system_config() {
            let system = self.env.config_system.clone().unwrap_or_else(|| "/etc/gitconfig".into());
            self.file(Path::new(&system), Scope::System)?;
        }
        for file in self.user_files() {
            // A user's file that this process may not read is another user's, as under sudo.
            paths::if_visible(self.file(&file, Scope::Global))?;
        }
        if let Some(repository) = self.repository {
            self.file(&repository.common_dir().join("config"), Scope::Local)?;
            if repository.has_worktree_config() {
                self.file(&repository.git_dir().join("config.worktree"), Scope::Worktree)?;
            }
        }
        for assignment in command::assignments(self.env)? {
            self.entry(assignment, Scope::Command, None)?;
        }
        Ok(())
    }

    fn user_files(&self) -> Vec<PathBuf> {
        if let Some(file) = &self.env.config_global {
            return vec![file.into()];
        }
        let set = |text: &&OsString| !text.is_empty();
        let home = self.env.home.as_ref().map(PathBuf::from);
        let xdg = self.env.xdg_config_home.as_ref().filter(set).map(PathBuf::from);
        let xdg = xdg.or_else(|| home.as_ref().map(|home| home.join(".config")));
        let xdg = xdg.map(|xdg| xdg.join("git/config"));
        xdg.into_iter().chain(home.map(|home| home.join(".gitconfig"))).collect()
    }

    fn file(&mut self, path: &Path, scope: Scope) -> Result<()> {
        // Git's own way to say that there is none: `GIT_CONFIG_GLOBAL=/dev/null`.
        if path == Path::new("/dev/null") {
            return Ok(());
        }
        let Some(bytes) = paths::read_if_there(self.files, path, LARGEST)? else { return Ok(()) };
        let bad = |BadLine(line)| Error::ConfigSyntax { origin: path.display().to_string(), line };
        for assignment in parse(&bytes).map_err(bad)? {
            self.entry(assignment, scope, Some(path))?;
        }
        Ok(())
    }

    fn entry(&mut self, set: Assignment, scope: Scope, file: Option<&Path>) -> Result<()> {
        let origin = Origin { scope, file: file.map(Path::to_path_buf), line: set.line };
        let entry = Entry { key: set.key, value: set.value, origin };
        self.entries.push(entry.clone());
        if self.is_include(&entry)? { self.include(&entry) } else { Ok(()) }
    }

    fn is_include(&mut self, entry: &Entry) -> Result<bool> {
        if entry.key == b"include.path" {
            return Ok(true);
        }
        let inner = entry.key.strip_prefix(b"includeif.").and_then(|rest| rest.strip_suffix(b".path"));
        inner.map_or(Ok(false), |condition| self.holds(condition, entry))
    }

    fn include(&mut self, entry: &Entry) -> Result<()> {
        let text = entry.value.as_deref().ok_or_else(|| bad_value(entry, "a path"))?;
        let path = expand(self.env.home.as_deref(), text);
        let mut path = path.ok_or_else(|| bad_value(entry, "a path that can be spelled out here"))?;
        if path.is_relative() {
            let beside = entry.origin.file.as_deref().and_then(Path::parent);
            path = beside.ok_or_else(|| bad_value(entry, "an absolute path"))?.join(path);
        }
        if self.depth == DEEPEST {
            return Err(Error::IncludeDepth { path });
        }
        self.depth += 1;
        let done = self.file(&path, entry.origin.scope);
        self.depth -= 1;
        done
    }

    /// Whether the condition of an include holds. One that git does not know never does.
    fn holds(&mut self, condition: &[u8], entry: &Entry) -> Result<bool> {
        if let Some(pattern) = condition.strip_prefix(b"gitdir:") {
            return self.git_dir_matches(pattern, entry, false);
        }
        if let Some(pattern) = condition.strip_prefix(b"gitdir/i:") {
            return self.git_dir_matches(pattern, entry, true);
        }
        if let Some(pattern) = condition.strip_prefix(b"onbranch:") {
            return self.branch_matches(pattern);
        }
        let Some(pattern) = condition.strip_prefix(b"hasconfig:remote.*.url:") else { return Ok(false) };
        self.asked_for_urls = true;
        let urls = self.urls.as_deref().unwrap_or_default();
        Ok(urls.iter().any(|url| glob::matches(pattern, url, false)))
    }

    fn git_dir_matches(&self, pattern: &[u8], entry: &Entry, fold: bool) -> Result<bool> {
        let Some(repository) = self.repository else { return Ok(false) };
        let git_dir = repository.git_dir().as_os_str().as_bytes();
        let pattern = whole_directory(pattern.to_vec());
        let Some(rest) = pattern.strip_prefix(b"./") else {
            return Ok(glob::matches(&self.absolute_pattern(&pattern)?, git_dir, fold));
        };
        // What stands before `./` is a path, not a pattern, whatever characters are in it.
        let file =
            entry.origin.file.as_deref().ok_or_else(|| bad_value(entry, "a condition outside of files"))?;
        let file = paths::real(self.files, file)?;
        let mut beside = file.parent().unwrap_or(&file).as_os_str().as_bytes().to_vec();
        beside.push(b'/');
        let Some((start, within)) = git_dir.split_at_checked(beside.len()) else { return Ok(false) };
        let same = if fold { start.eq_ignore_ascii_case(&beside) } else { start == beside };
        Ok(same && glob::matches(rest, within, fold))
    }

    /// The pattern with the home directory spelled out; one that begins nowhere may begin anywhere.
    fn absolute_pattern(&self, pattern: &[u8]) -> Result<Vec<u8>> {
        let at_home = pattern.strip_prefix(b"~").filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
        if let (Some(rest), Some(home)) = (at_home, &self.env.home) {
            let home = paths::real(self.files, Path::new(home))?;
            return Ok([home.as_os_str().as_bytes(), rest].concat());
        }
        let anywhere: &[u8] = if pattern.starts_with(b"/") { b"" } else { b"**/" };
        Ok([anywhere, pattern].concat())
    }

    fn branch_matches(&self, pattern: &[u8]) -> Result<bool> {
        let Some(repository) = self.repository else { return Ok(false) };
        let Head::Branch(name) = repository.head(self.files)? else { return Ok(false) };
        let pattern = whole_directory(pattern.to_vec());
        Ok(name.branch().is_some_and(|branch| glob::matches(&pattern, branch, false)))
    }
}

/// A pattern that ends with a slash means everything below it.
fn whole_directory(mut pattern: Vec<u8>) -> Vec<u8> {
    if pattern.ends_with(b"/") {
        pattern.extend(b"**");
    }
    pattern
}
