//! Git, for whatever reaches a remote: a login in its URL goes there by the environment, because the arguments of a
//! process can be read by everybody on the machine, and a path leads to the same place from every worktree.

use std::path::PathBuf;
use std::time::Duration;

use holdfast_git::run::Output;
use holdfast_git::{Config, Git, Repository};
use holdfast_remote::gitref::reaching;

use holdfast_store::Trouble;
use holdfast_sys::Sys;

use crate::caller::Caller;
use crate::tracking;

/// This git, for a command that reaches `remote`.
///
/// # Errors
/// When its URL has a login that would stand in the arguments of git.
pub(crate) fn to(
    git: Git,
    caller: &Caller,
    repository: &Repository,
    remote: &str,
) -> holdfast_store::Result<Git> {
    match Config::read(&*caller.sys.files, &caller.git, Some(repository)) {
        Ok(config) => reaching(git, &config, &caller.git, remote, &home(caller, repository))
            .map_err(|unreachable| Trouble::Unavailable.because(unreachable.0)),
        // Git says itself what is wrong with it.
        Err(_) => Ok(git),
    }
}

/// What a path in the place of a URL is relative to.
pub(crate) fn home(caller: &Caller, repository: &Repository) -> PathBuf {
    let main = repository.main_work_tree(&*caller.sys.files).ok().flatten();
    main.unwrap_or_else(|| repository.common_dir().to_path_buf())
}

/// How often a fetch is tried while others fetch into the same repository.
const TRIES: u32 = 16;

/// What git says if somebody else has fetched at the same time: it found the branch elsewhere than it expected.
const CONTENDED: &str = "cannot lock ref";

/// What it says if there is a lock in its way.
const LOCKED: &str = ".lock': File exists";

/// Has a remote say where these branches are, or all of them. Whoever sets a limit has no answer after it.
///
/// # Errors
/// Why it did not say.
pub(crate) fn fetch(
    git: Git,
    sys: &Sys,
    repository: Option<&Repository>,
    words: &[&str],
    limit: Option<Duration>,
) -> Result<(), String> {
    let (git, words) = (git.env("LC_ALL", Some("C".into())), [&["fetch", "-q"], words].concat());
    let ask = || {
        let said = match limit {
            None => git.ask(&words, &[]).map(Some),
            Some(limit) => git.ask_within(&words, limit),
        };
        let late = || format!("no answer within {} s", limit.unwrap_or_default().as_secs());
        match said.map_err(|error| error.to_string())?.ok_or_else(late)? {
            said if said.code == Some(0) => Ok(()),
            said => Err(heard(&said)),
        }
    };
    let mut said = ask();
    for time in 1..TRIES {
        match &said {
            Err(why) if why.contains(CONTENDED) => {
                // It may be a lock that nobody has any more.
                if time == 1 && why.contains(LOCKED) {
                    repository.map(|repository| tracking::settle_all(sys, repository));
                }
                said = ask();
            }
            _ => break,
        }
    }
    said
}

/// What git said that did not do what it was asked to, on one line.
fn heard(said: &Output) -> String {
    let text = String::from_utf8_lossy(&said.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { "git said nothing".into() } else { lines.join("; ") }
}
