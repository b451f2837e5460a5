//! The only code that knows git: where a repository is, its worktrees, branches, trees, configuration,
//! hooks and trailers.
//!
//! What every command needs (the repository, the worktree, the branch) is read by hand from a handful of
//! small files through [`holdfast_sys::Files`], without a child process and without libgit2. Objects that
//! have a file of their own are too ([`objects`]); libgit2 reads those that are packed. Refs are moved here where
//! that is beyond doubt what git would do ([`Mover`]). Where git itself must act, its own program is started ([`run`]). Nothing here reads the environment: a door passes an [`Environment`].

pub mod changes;
pub mod config;
pub mod discover;
pub mod error;
pub mod hash;
pub mod head;
pub mod hooks;
pub mod objects;
pub mod repository;
pub mod run;
pub mod signature;
pub mod trailers;
pub mod worktrees;

mod candidate;
mod environment;
mod format;
mod index;
mod moves;
mod oid;
mod paths;
mod refname;
mod refs;
mod syntax;
mod untouched;
mod zone;

pub use changes::Change;
pub use config::Config;
pub use discover::{Found, discover};
pub use environment::{Environment, Named};
pub use error::{Error, Result};
pub use head::Head;
pub use moves::Mover;
pub use objects::Objects;
pub use oid::ObjectId;
pub use paths::real as real_path;
pub use refname::RefName;
pub use repository::{Place, Repository};
pub use run::Git;
pub use untouched::is_untouched;
pub use worktrees::Worktree;
