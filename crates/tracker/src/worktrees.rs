//! Worktrees for agents: made in a place of their own, taken away when nothing of them would be lost, and what is left
//! of those that somebody else took away.

use std::path::{Path, PathBuf};

use holdfast_git::{Git, Repository};
use holdfast_kernel::{Command, Lease, LeaseId, Text};
use holdfast_sys::{Guard, LockMode};

use crate::agent::AgentId;
use crate::approvals;
use crate::caller::Caller;
use crate::claims::reserved::claim_of;
use crate::durable;
use crate::error::{ApprovalError, Error, Result, WorktreeError};
use crate::gone::is_gone;
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::notice::Notice;
use crate::session::Session;
use crate::target::Target;
use crate::workspace::DATA;
use crate::worktree::{Entry, Record};

/// How many things are named that would be left behind.
const MOST_NAMED: usize = 20;

/// A worktree that is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// What it is called.
    pub name: String,
    /// Who works there.
    pub agent: Option<AgentId>,
    /// The branch; one of its own name if none is given.
    pub branch: Option<String>,
    /// Where a branch that is not there yet begins; where the target is if nothing is given.
    pub from: Option<String>,
}

/// A worktree that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// Where it is.
    pub root: PathBuf,
    /// Its branch.
    pub branch: String,
    /// Its identity.
    pub identity: Record,
}

/// Makes a worktree on a branch.
///
/// # Errors
/// When there is one of that name, or git cannot make it.
pub fn add(session: &Session, wanted: &Wanted) -> Result<Made> {
    let branch = wanted.branch.clone().unwrap_or_else(|| wanted.name.clone());
    build(session, wanted, Some(&branch))
}

/// Makes a worktree that is on no branch yet.
///
/// # Errors
/// As [`add`].
pub fn add_detached(session: &Session, wanted: &Wanted) -> Result<Made> {
    build(session, wanted, None)
}

fn build(session: &Session, wanted: &Wanted, branch: Option<&str>) -> Result<Made> {
    let root = place(session, &wanted.name)?;
    one_by_one(session, || {
        if session.sys().files.stat(&root).is_ok() {
            return Err(WorktreeError::Exists { path: root.clone() }.into());
        }
        make(session, &root, branch, wanted)
    })?;
    let inside = session_in(session, &root)?;
    let identity = match &wanted.agent {
        Some(agent) => inside.assign(agent)?,
        None => inside.worktree()?.clone(),
    };
    Ok(Made { root, branch: branch.unwrap_or("HEAD").to_owned(), identity })
}

fn make(session: &Session, root: &Path, branch: Option<&str>, wanted: &Wanted) -> Result<()> {
    if let Some(above) = root.parent() {
        durable::make_dirs(session.sys(), above, 0o755)?;
    }
    let repository = repository(session)?;
    let git = Git::in_dir(session.root().unwrap_or_else(|| repository.common_dir()));
    // It says in the worktree's lock that it is making it.
    let git = git.env("LC_ALL", Some("C".into()));
    let path = root.to_string_lossy().into_owned();
    if let Some(branch) = branch {
        let there = git.ask(&["show-ref", "--verify", "--quiet", &format!("refs/heads/{branch}")], &[])?;
        if there.code == Some(0) {
            if wanted.from.is_some() {
                let why = "it is there already, so it begins nowhere else".to_owned();
                return Err(Error::BadValue { what: "--branch", given: branch.to_owned(), why });
            }
            git.run(&["worktree", "add", "-q", "--", &path, branch])?;
            return Ok(());
        }
    }
    let from = match &wanted.from {
        Some(from) => from.clone(),
        None => target_tip(session)?,
    };
    match branch {
        Some(branch) => {
            git.run(&["worktree", "add", "-q", "--no-track", "-b", branch, "--", &path, &from])?
        }
        // Git may still know one there whose directory was removed by hand; its branch keeps what was committed.
        None => git.run(&["worktree", "add", "-q", "-f", "-f", "--detach", "--", &path, &from])?,
    };
    Ok(())
}

/// Does something that makes or removes a worktree. Git's own bookkeeping fails when two do so at once, so everything of
/// that kind comes one after the other.
pub(crate) fn one_by_one<T>(session: &Session, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let lock = session.control().join("locks/worktrees.lock");
    let mut guard = Guard::open(session.sys(), &lock, session.prepare()?.file())?;
    let _section = guard.enter(session.sys(), LockMode::Exclusive)?;
    work()
}

/// The place of the worktree with this name, whether or not it is there.
///
/// # Errors
/// When that is no name, or outside of git.
pub fn place(session: &Session, name: &str) -> Result<PathBuf> {
    Ok(home(session, repository(session)?)?.join(checked(name)?))
}

/// The commit that new work begins on: the tip of the target, where there is one.
///
/// # Errors
/// When the target cannot be told.
pub fn target_tip(session: &Session) -> Result<String> {
    let target = Target::find(&session.caller, repository(session)?, session.config())?;
    let tip = target.as_ref().and_then(Target::onto);
    Ok(tip.map_or_else(|| "HEAD".to_owned(), |tip| tip.to_string()))
}

/// What a worktree is that is taken away.
#[derive(Clone, Debug)]
pub struct Removed {
    /// Where it was.
    pub root: PathBuf,
    /// The claims that ended with it.
    pub ended: Vec<Lease>,
}

/// Takes a worktree away. Its branch stays.
///
/// # Errors
/// When there is none of that name, it has work that would be left behind and nobody insists, or somebody else has
/// claims there.
pub fn remove(session: &Session, name: &str, insist: bool) -> Result<Removed> {
    let repository = repository(session)?;
    let entry = find(session, repository, name)?;
    let needed = |why| WorktreeError::Needed { path: entry.root.clone(), why };
    if entry.main {
        return Err(needed("it is the main worktree").into());
    }
    if entry.current {
        return Err(needed("it is the worktree that this command runs in").into());
    }
    if entry.unfinished {
        discard(session, &entry.root)?;
        return Ok(Removed { root: entry.root, ended: Vec::new() });
    }
    if !insist && !entry.gone {
        let what = left_behind(session, repository, &entry.root)?;
        if !what.is_empty() {
            return Err(WorktreeError::HasWork { name: name.to_owned(), what }.into());
        }
    }
    let claims = claims_in(session, &entry)?;
    let agent = session.known_agent().map(|agent| agent.name().clone());
    let (own, others): (Vec<Lease>, Vec<Lease>) =
        claims.into_iter().partition(|lease| Some(&lease.holder.agent) == agent.as_ref());
    if !others.is_empty() {
        let issues = Issues::new(session);
        let handle = |lease: &Lease| {
            IssueId::of(&lease.resource).map_or_else(|| lease.resource.to_string(), |id| issues.handle(id))
        };
        let mut holders: Vec<String> = others.iter().map(|lease| lease.holder.agent.to_string()).collect();
        holders.dedup();
        let issues = others.iter().map(handle).collect();
        return Err(WorktreeError::HasClaims { name: name.to_owned(), holders, issues }.into());
    }
    for lease in &own {
        let holder = lease.holder.clone();
        session.claims_to_change()?.command(&Command::Release { lease: lease.id, holder })?;
    }
    // What is left there by now is the tracker's own, or was insisted on.
    take_away(session, &entry.root)?;
    Ok(Removed { root: entry.root, ended: own })
}

/// Takes a worktree away with all that is in it.
pub(crate) fn take_away(session: &Session, root: &Path) -> Result<()> {
    let git = Git::in_dir(repository(session)?.common_dir());
    one_by_one(session, || {
        git.run(&["worktree", "remove", "--force", "--", &root.to_string_lossy()])?;
        Ok(())
    })
}

/// Takes a worktree away that git was killed in while it made it. Nobody has worked there.
fn discard(session: &Session, root: &Path) -> Result<()> {
    let git = Git::in_dir(repository(session)?.common_dir());
    one_by_one(session, || {
        // Whoever was at it when it was looked at has ended by now.
        if session.worktrees()?.iter().any(|entry| entry.root == root && !entry.unfinished) {
            let why = "it was being made, and is finished now";
            return Err(WorktreeError::Needed { path: root.to_path_buf(), why }.into());
        }
        git.run(&["worktree", "remove", "--force", "--force", "--", &root.to_string_lossy()])?;
        Ok(())
    })
}

/// Ends claims whose worktree is gone: git does not know it any more. Gives those that it ended; where that needs approval,
/// it is asked for, and a notice says so.
///
/// # Errors
/// When the claims or the worktrees cannot be read, or a claim cannot be ended.
pub fn prune(session: &Session) -> Result<Vec<Lease>> {
    let worktrees = session.worktrees()?;
    let claims = session.claims_to_change()?;
    let by = session.holder()?.clone();
    let reason = Text::new("its worktree is gone")
        .map_err(|_| Error::Internal("a reason that cannot be kept".to_owned()))?;
    let view = claims.view()?;
    let gone = view.table.iter().filter(|lease| !lease.standing(&view.now).is_over());
    let gone: Vec<Lease> = gone.filter(|lease| is_gone(lease, &worktrees)).cloned().collect();
    let ids: Vec<LeaseId> = gone.iter().map(|lease| lease.id).collect();
    let mut ended = Vec::new();
    // What belongs to a claim ends with it.
    let alone = |lease: &Lease| claim_of(lease).is_none_or(|claim| !ids.contains(&claim));
    for lease in gone.into_iter().filter(alone) {
        match approvals::evict(session, &lease, &by, &reason) {
            Ok(lease) => ended.push(lease),
            Err(Error::Approval(why @ ApprovalError::Needed { .. })) => {
                session.notice(&Notice::ApprovalNeeded { what: why.to_string(), hint: why.hint() });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(ended)
}

fn repository(session: &Session) -> Result<&Repository> {
    session.repository().ok_or_else(|| Error::NotInGit(session.caller.start.clone()))
}

/// The same caller in another worktree.
///
/// # Errors
/// When there is none.
pub fn session_in(session: &Session, root: &Path) -> Result<Session> {
    let caller = Caller { start: root.to_path_buf(), git: inside(session), ..session.caller.clone() };
    Session::find(&caller).map(|found| found.kept_as(session))
}

/// What git takes from the environment, without what it says about this very worktree.
fn inside(session: &Session) -> holdfast_git::Environment {
    let (git_dir, work_tree, common_dir, index_file) = (None, None, None, None);
    holdfast_git::Environment { git_dir, work_tree, common_dir, index_file, ..session.caller.git.clone() }
}

/// A name that is a directory's, and can be a branch's.
fn checked(name: &str) -> Result<&str> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@');
    let is_fit = !name.is_empty() && !name.starts_with(['-', '.']) && name.len() <= 100;
    if is_fit && name.chars().all(plain) && !name.contains("..") && !name.ends_with(".lock") {
        return Ok(name);
    }
    let why = "must be letters, digits and any of . _ - + @, and begin with neither . nor -".to_owned();
    Err(Error::BadValue { what: "the name of a worktree", given: name.to_owned(), why })
}

/// Where worktrees are made: `worktree.dir` from the main worktree, else beside it.
fn home(session: &Session, repository: &Repository) -> Result<PathBuf> {
    let main = repository.main_work_tree(&*session.sys().files)?;
    let main = main.unwrap_or_else(|| repository.common_dir().to_path_buf());
    if let Some(dir) = &session.config().worktree.dir {
        return Ok(real(session, &main.join(dir)));
    }
    let name = main.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(main.with_file_name(format!("{}.worktrees", name.strip_suffix(".git").unwrap_or(&name))))
}

/// A path as git tells of it, without links and steps back, as far as something is there.
fn real(session: &Session, path: &Path) -> PathBuf {
    let files = &*session.sys().files;
    let found = path.ancestors().find_map(|above| Some((above, holdfast_git::real_path(files, above).ok()?)));
    let rest = found.as_ref().and_then(|(above, _)| path.strip_prefix(above).ok());
    match (&found, rest) {
        (Some((_, real)), Some(rest)) if rest.as_os_str().is_empty() => real.clone(),
        (Some((_, real)), Some(rest)) => real.join(rest),
        _ => path.to_path_buf(),
    }
}

/// The worktree that was meant: by its name, its path or its id.
fn find(session: &Session, repository: &Repository, name: &str) -> Result<Entry> {
    let (home, typed) = (home(session, repository)?.join(name), session.caller.start.join(name));
    let mut all = session.worktrees()?;
    let by_place = all.iter().position(|entry| entry.root == home || entry.root == typed);
    let named = |entry: &Entry| {
        entry.worktree_id.as_deref() == Some(name) || entry.root.file_name().is_some_and(|own| own == name)
    };
    let by_name = || {
        let found: Vec<usize> = (0..all.len()).filter(|at| all.get(*at).is_some_and(named)).collect();
        <[usize; 1]>::try_from(found).ok().map(|[only]| only)
    };
    match by_place.or_else(by_name) {
        Some(at) => Ok(all.swap_remove(at)),
        None => Err(Error::NoSuchWorktree(name.to_owned())),
    }
}

/// What a worktree has that is in no commit, or in none of the target's. The tracker's own files are known elsewhere.
fn left_behind(session: &Session, repository: &Repository, root: &Path) -> Result<Vec<String>> {
    let mut what = uncommitted(root)?;
    what.truncate(MOST_NAMED);
    let Some(target) = Target::find(&session.caller, repository, session.config())? else { return Ok(what) };
    let mut args = vec!["log".to_owned(), "--format=commit %h (%s)".to_owned()];
    args.extend([format!("-{MOST_NAMED}"), "HEAD".to_owned(), "--not".to_owned()]);
    args.extend(target.tips().map(|tip| tip.to_string()));
    args.extend(["--".to_owned(), ".".to_owned(), format!(":(exclude){DATA}")]);
    let commits = Git::in_dir(root).run(&args)?;
    what.extend(String::from_utf8_lossy(&commits).lines().map(ToOwned::to_owned));
    Ok(what)
}

/// Where a worktree has issues and the judgements of their gates. The control plane has all of that, too.
pub(crate) const RECORDS: [&str; 2] = [".jit/issues", ".jit/gates/results"];

/// What else the tracker writes by itself.
const MADE: [&str; 2] = [".jit/.gitattributes", ".jit/.gitignore"];

/// The files of a worktree that are in no commit, but for what the tracker writes by itself. Its configuration and the
/// definitions of gates are somebody's work.
///
/// # Errors
/// When git cannot tell.
pub fn uncommitted(root: &Path) -> Result<Vec<String>> {
    let others = RECORDS.iter().chain(&MADE).map(|own| format!(":(exclude){own}"));
    let words = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", "."];
    let args: Vec<String> = words.iter().map(ToString::to_string).chain(others).collect();
    let said = Git::in_dir(root).run(&args)?;
    let paths = said.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
    let named = paths.filter(|path| !path.is_empty());
    Ok(named.map(|path| String::from_utf8_lossy(path).into_owned()).collect())
}

/// The claims in force that are held in a worktree.
fn claims_in(session: &Session, entry: &Entry) -> Result<Vec<Lease>> {
    let view = session.claims().view()?;
    let there = view.table.iter().filter(|lease| entry.is_place(lease.holder.place.as_str()));
    Ok(there.filter(|lease| !lease.standing(&view.now).is_over()).cloned().collect())
}
