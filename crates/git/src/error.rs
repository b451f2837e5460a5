//! What went wrong with git, on what, why, and what to type next. Nothing here prints; a door shows the
//! text, its causes and the hint.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::{ObjectId, RefName};

/// The result of a question to git.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a question to git has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system failed.
    #[error(transparent)]
    Sys(#[from] holdfast_sys::Error),
    /// A file is far larger than anything that git writes there.
    #[error("{} is larger than {limit} bytes, so it is not what git writes there", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most that is read of it.
        limit: usize,
    },
    /// There is something else in the place of a file.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A path goes through more symbolic links than any honest one.
    #[error("{} leads through too many symbolic links", path.display())]
    LinkLoop {
        /// The path.
        path: PathBuf,
    },
    /// A `.git` file does not lead to a repository.
    #[error("the file {} does not lead to a repository: {fault}", path.display())]
    GitFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: GitFileFault,
    },
    /// `GIT_DIR` names something that is not a repository.
    #[error("GIT_DIR is set to {}, which is not a git repository", path.display())]
    NotARepository {
        /// Where it leads.
        path: PathBuf,
    },
    /// The repository belongs to somebody else, and nobody said that this is fine.
    #[error("the repository at {} belongs to user {owner}, not to user {user}", path.display())]
    DubiousOwner {
        /// Its worktree, or its git directory if it is bare.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who asks.
        user: u32,
    },
    /// A bare repository was found by walking up, which the configuration forbids.
    #[error("the bare repository {} was not named, and safe.bareRepository is 'explicit'", path.display())]
    BareForbidden {
        /// The repository.
        path: PathBuf,
    },
    /// The repository's format is newer than what is known here.
    #[error("{} says that the repository has format version {version}", path.display())]
    FormatVersion {
        /// The configuration file.
        path: PathBuf,
        /// The version.
        version: i64,
    },
    /// The repository uses extensions that must be understood to read it.
    #[error("{} names extensions that cannot be used here: {}", path.display(), names.join(", "))]
    Extensions {
        /// The configuration file.
        path: PathBuf,
        /// Their names.
        names: Vec<String>,
    },
    /// A configuration file cannot be parsed.
    #[error("bad configuration in line {line} of {origin}")]
    ConfigSyntax {
        /// The file, or the variable that carries it.
        origin: String,
        /// The line.
        line: u32,
    },
    /// A configuration value is not of the kind that its key needs.
    #[error("the configuration value {key} = '{value}' in {origin} is not {wanted}")]
    ConfigValue {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// Where it is set.
        origin: String,
        /// What it has to be.
        wanted: &'static str,
    },
    /// Configuration files include each other without end.
    #[error("too many includes within each other, at {}", path.display())]
    IncludeDepth {
        /// The file at which it was too much.
        path: PathBuf,
    },
    /// A ref does not hold what a ref holds.
    #[error("{} is not a ref: {fault}", path.display())]
    BadRef {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// Refs lead to each other without end.
    #[error("the ref {name} leads through too many other refs")]
    RefLoop {
        /// Where it began.
        name: RefName,
    },
    /// The refs are kept in a form that only git reads.
    #[error("the refs of {} are kept as reftable, which only git itself can read", git_dir.display())]
    Reftable {
        /// The repository.
        git_dir: PathBuf,
    },
    /// The objects are named by a hash that cannot be read here.
    #[error("the objects of {} are named by SHA-256, which cannot be read here", git_dir.display())]
    Sha256 {
        /// The repository.
        git_dir: PathBuf,
    },
    /// The object database cannot be opened.
    #[error("cannot open the object database {}: {why}", path.display())]
    Database {
        /// Its directory.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// An object is not there or damaged.
    #[error("cannot read the {kind} {id}: {why}")]
    Object {
        /// What it should be.
        kind: &'static str,
        /// Its name.
        id: ObjectId,
        /// What is wrong.
        why: String,
    },
    /// The git program cannot be started.
    #[error("cannot start {}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The git program failed.
    #[error("{command} failed{}: {}", code.map_or(String::new(), |code| format!(" ({code})")), said(stderr))]
    Failed {
        /// What was run.
        command: String,
        /// Its exit code; none if a signal ended it.
        code: Option<i32>,
        /// What it wrote to stderr.
        stderr: String,
    },
}

/// What is wrong with a `.git` file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GitFileFault {
    /// It does not begin with `gitdir: `.
    Form,
    /// There is no path in it.
    NoPath,
    /// What it leads to is not a repository.
    NotARepository(PathBuf),
}

impl fmt::Display for GitFileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("it does not have the form 'gitdir: <path>'"),
            Self::NoPath => f.write_str("there is no path in it"),
            Self::NotARepository(path) => write!(f, "{} is not one", path.display()),
        }
    }
}

fn said(stderr: &str) -> &str {
    let text = stderr.trim();
    if text.is_empty() { "it said nothing" } else { text }
}

impl Error {
    /// What to do about it, in words that can be pasted where there are any.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Sys(_) => "check that the path exists and that you may read it".into(),
            Self::TooLarge { path, .. } => format!("look at it with: head -c 200 {}", quoted(path)),
            Self::NotAFile { path } => format!("look at it with: ls -ld {}", quoted(path)),
            Self::LinkLoop { path } => format!("look at it with: namei {}", quoted(path)),
            Self::GitFile { path, .. } => format!(
                "if the repository was moved, run in its main worktree: git worktree repair {}",
                quoted(path.parent().unwrap_or(path))
            ),
            Self::NotARepository { .. } => "unset GIT_DIR, or set it to a repository's .git directory".into(),
            Self::DubiousOwner { path, .. } => {
                format!("if you trust it: git config --global --add safe.directory {}", quoted(path))
            }
            Self::BareForbidden { path } => format!("name it: GIT_DIR={}", quoted(path)),
            Self::FormatVersion { .. } | Self::Extensions { .. } => {
                "a newer git made this repository; update this program".into()
            }
            Self::ConfigSyntax { .. } => "git config --list --show-origin names the same line".into(),
            Self::ConfigValue { key, .. } => format!("git config --show-origin --get-all {key}"),
            Self::IncludeDepth { .. } => "look for a file that includes itself".into(),
            Self::BadRef { .. } | Self::RefLoop { .. } => "git fsck says more".into(),
            Self::Reftable { .. } => "git refs migrate --ref-format=files makes it readable".into(),
            Self::Sha256 { .. } => "use a repository with SHA-1 object names".into(),
            Self::Database { .. } | Self::Object { .. } => "git fsck says more".into(),
            Self::Start { .. } => "install git, or put it on the PATH".into(),
            Self::Failed { command, .. } => format!("to see it again: {command}"),
        }
    }
}

/// The path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
