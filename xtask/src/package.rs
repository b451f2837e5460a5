//! `cargo xtask package`: everything that a release consists of, from one table of targets and one version. Paths of the
//! machine, owners and times are kept out of it, so that two builds of one commit can be compared.

mod again;
mod check;
mod deb;
mod index;
mod manual;
mod npm;
pub(crate) mod root;
mod stage;
pub(crate) mod table;

use std::path::{Path, PathBuf};

use crate::args::Packages;
use crate::child::Child;
use crate::programs;
use stage::{Layout, Stage};
use table::Target;

/// What a release consists of and where it is.
struct Made {
    /// The directory that everything is in.
    folder: PathBuf,
    version: String,
    /// For each target that is built here: its tarball, and where its .deb is if it has one.
    targets: Vec<Built>,
    /// The npm packages: first the one that people name, then the ones with the programs.
    npm: Vec<PathBuf>,
}

/// What was made for one target.
struct Built {
    target: &'static Target,
    tarball: PathBuf,
    deb: Option<PathBuf>,
}

/// Makes all packages; with `--check` also installs and runs each.
#[must_use]
pub fn run(root: &Path, asked: &Packages) -> bool {
    let done = make(root, asked).and_then(|made| {
        for path in listed(&made.folder)? {
            println!("{}", path.display());
        }
        if asked.check {
            check::all(root, &made)?;
        }
        if asked.again { again::compare(root, &made) } else { Ok(()) }
    });
    if let Err(why) = &done {
        eprintln!("{why}");
    }
    done.is_ok()
}

fn make(root: &Path, asked: &Packages) -> Result<Made, String> {
    let version = table::version(root)?;
    let folder = place(root, asked.to.as_deref())?;
    let work = Work { root, folder: &folder, version: &version, moment: moment(root)? };
    let mut made = Made { folder: folder.clone(), version: version.clone(), targets: vec![], npm: vec![] };
    for target in table::built_here() {
        let built = match &asked.programs {
            Some(built) => std::path::absolute(built).map_err(|why| format!("{built}: {why}"))?,
            None => programs::ship(root, target.triple)?,
        };
        let stage = Stage::new(root, &built)?;
        let tarball = tarball(&work, target, &stage)?;
        let deb = target.debian.map(|name| deb::make(&work, name, &stage)).transpose()?;
        made.npm.push(npm::programs(&work, target, &stage)?);
        made.targets.push(Built { target, tarball, deb });
    }
    made.npm.insert(0, npm::launcher(&work)?);
    index::write_all(&work, &made, asked.base_url.as_deref())?;
    Ok(made)
}

/// The directory that everything goes to, with nothing in it. Only our own is emptied.
fn place(root: &Path, named: Option<&str>) -> Result<PathBuf, String> {
    let folder = named.map_or_else(|| programs::target(root).join("dist"), PathBuf::from);
    let folder = std::path::absolute(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    match named {
        None => empty(&folder)?,
        Some(_) if !folder.exists() => empty(&folder)?,
        Some(_) if listed(&folder)?.is_empty() => {}
        Some(_) => return Err(format!("{} is not empty", folder.display())),
    }
    Ok(folder)
}

/// What every kind of package is made with.
pub(crate) struct Work<'a> {
    pub(crate) root: &'a Path,
    /// Where it goes.
    pub(crate) folder: &'a Path,
    pub(crate) version: &'a str,
    /// The time that every file gets, in seconds since 1970: that of the commit.
    pub(crate) moment: String,
}

impl Work<'_> {
    /// Runs a program of which the same input gives the same bytes.
    pub(crate) fn run(&self, program: &str, words: &[&str]) -> Result<String, String> {
        let child = Child::new(self.root, program, words).env("SOURCE_DATE_EPOCH", &self.moment);
        let ended = child.env("LC_ALL", "C.UTF-8").env("TZ", "UTC").quiet().run();
        if ended.ok { Ok(ended.out) } else { Err(format!("{program}: {}\n{}", ended.how, ended.err.trim())) }
    }
}

/// The moment of the last commit, or the one that the environment names.
fn moment(root: &Path) -> Result<String, String> {
    if let Ok(named) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(named);
    }
    let said = Child::new(root, "git", &["log", "-1", "--format=%ct"]).quiet().run();
    match said.out.trim() {
        "" => Err("there is no commit to take the time from; set SOURCE_DATE_EPOCH".into()),
        seconds => Ok(seconds.into()),
    }
}

/// Programs, pages, completions and units below one directory that is named after what it is.
fn tarball(work: &Work, target: &Target, stage: &Stage) -> Result<PathBuf, String> {
    let name = table::archive(work.version, target.triple);
    let parent = work.folder.join("work");
    stage.write(&parent.join(&name), Layout::Prefix)?;
    let tar = work.folder.join(format!("{name}.tar"));
    let (to, time, from) = (shown(&tar), format!("--mtime=@{}", work.moment), shown(&parent));
    let owners = ["--sort=name", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner", &time];
    work.run("tar", &[&["-c", "-f", &to, "-C", &from][..], &owners, &[&name]].concat())?;
    work.run("gzip", &["-9", "-n", &to])?;
    remove(&parent)?;
    Ok(work.folder.join(format!("{name}.tar.gz")))
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unread = |why| format!("{}: {why}", folder.display());
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).map_err(unread)?.collect();
    let mut paths: Vec<PathBuf> = entries.map_err(unread)?.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    Ok(paths)
}

pub(crate) fn empty(folder: &Path) -> Result<(), String> {
    remove(folder)?;
    std::fs::create_dir_all(folder).map_err(|why| format!("{}: {why}", folder.display()))
}

pub(crate) fn remove(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {why}", folder.display())),
        _ => Ok(()),
    }
}

/// Writes a file with the directories that it is in.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|why| format!("{}: {why}", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_something_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (named, file) = (shown(folder.path()), folder.path().join("letter"));
        assert_eq!(place(Path::new("."), Some(&named)), Ok(folder.path().into()));
        std::fs::write(&file, "kept").unwrap();
        assert!(place(Path::new("."), Some(&named)).unwrap_err().contains("is not empty"));
        assert!(file.is_file());
    }
}
