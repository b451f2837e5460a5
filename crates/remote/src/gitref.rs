//! A register on a git remote: one ref, one commit a step, the previous head its only parent. A swap is a push that
//! says which commit it replaces.
//!
//! Steps live in a bare repository of their own, so that no fetch of ours touches the user's. Answers are read from
//! the flags of `--porcelain`, never from words. Pushes that were answered ok are known to vanish while the server packs
//! its refs, so one to a ref that may be packed is looked at once more. A server packs none below `refs/worktree`, and
//! whether it was set back is seen by every read.

mod call;
mod parse;
mod reach;
mod steps;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use holdfast_git::{Config, Git, RefName};
use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use serde::Deserialize;

use crate::register::{Along, Found, Mark, Next, Past, Register, Swap, Unreachable, Version};
use call::Caller;
use parse::Flag;
pub use parse::without_credentials;
pub use reach::reaching;
use steps::Steps;

/// The ref that is used unless another one is configured.
///
/// Git packs no refs below `refs/worktree`. Of a ref in `packed-refs` a server that keeps refs in files may believe an old
/// copy of that file, and take a push whose expected value it has replaced: the file is taken for the same one by its
/// number, its size and the second in which it was written, which all come back while refs are packed.
pub const REF: &str = "refs/worktree/jit/claims";

/// The ref that is used where a server takes none below `refs/worktree`.
pub const PACKED: &str = "refs/jit/claims";

/// Below which git packs no refs, and which of them a register may have.
const UNPACKED: &str = "refs/worktree/";
const UNPACKED_OURS: &str = "refs/worktree/jit/";

/// Whether a server never packs the ref of that name.
#[must_use]
pub fn is_never_packed(name: &str) -> bool {
    name.starts_with(UNPACKED)
}

/// Where the last head that was fetched is kept.
const SEEN: &str = "refs/jit/seen";

/// Which register, and how to reach it.
#[derive(Clone, Debug)]
pub struct Access {
    /// The git directory of the repository that is worked in.
    pub git_dir: PathBuf,
    /// What a path in the place of a URL is relative to: its main worktree, or the repository itself if it is bare.
    pub home: PathBuf,
    /// The bare repository for the steps; made if it is not there.
    pub engine: PathBuf,
    /// The remote.
    pub remote: String,
    /// The repository that keeps the ref, in place of the remote: for whoever serves it.
    pub url: Option<String>,
    /// The ref.
    pub name: String,
    /// What is configured for that repository; none has git asked for it.
    pub config: Option<Config>,
    /// The user's ssh command, if the environment names one.
    pub ssh_command: Option<String>,
    /// How long one call of git may take.
    pub limit: Duration,
}

/// A register on a git remote.
pub struct GitRef {
    sys: Sys,
    caller: Caller,
    steps: Steps,
    name: String,
    cut_every: u64,
    staged: Mutex<BTreeMap<String, String>>,
}

/// After how many steps the history is cut.
const CUT_EVERY: u64 = 10_000;

type Asked<T> = Result<T, Unreachable>;

impl GitRef {
    /// The register that `access` names. Nothing is asked over the network yet.
    ///
    /// # Errors
    /// When the remote is not configured, has several push URLs, or the repository for the steps cannot be made.
    pub fn open(sys: &Sys, access: &Access) -> Asked<Self> {
        if !parse::is_ref(&access.name) {
            return Err(Unreachable(format!("'{}' cannot be the name of a ref", access.name.escape_debug())));
        }
        let (caller, name) = (Caller::open(sys, access)?, access.name.clone());
        let steps = Steps::new(sys, &access.engine);
        Ok(Self { sys: sys.clone(), caller, steps, name, cut_every: CUT_EVERY, staged: Mutex::default() })
    }

    /// This one, whose history is cut after so many steps.
    #[must_use]
    pub const fn cut_every(mut self, steps: u64) -> Self {
        self.cut_every = steps;
        self
    }

    /// The commit that the ref is on; none if there is no such ref.
    fn remote_tip(&self) -> Asked<Option<String>> {
        Ok(self.listed(&[&self.name])?.into_iter().next().flatten())
    }

    /// The commits that refs are on, in that order; none for one that is not there.
    fn listed(&self, names: &[&str]) -> Asked<Vec<Option<String>>> {
        let args = [&["ls-remote", "--refs", call::REMOTE][..], names].concat();
        let said = self.caller.ask_shortly(&args)?;
        if said.code != Some(0) {
            return Err(self.caller.unreachable(&said));
        }
        Ok(names.iter().map(|name| parse::listed(&said.stdout, name)).collect())
    }

    /// Fetches the ref and everything that it needs.
    fn fetch(&self, name: &str, to: &str) -> Asked<()> {
        let spec = format!("+{name}:{to}");
        let said = self.caller.ask(&[
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-filter",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
            call::REMOTE,
            &spec,
        ])?;
        if said.code == Some(0) { Ok(()) } else { Err(self.caller.unreachable(&said)) }
    }

    /// Pushes refs to where they belong, each only if it is still where it is expected: all of them or none.
    fn push(&self, moves: &[Move<'_>], dry: bool) -> Asked<Option<Vec<(Flag, String)>>> {
        let mut args: Vec<String> = [
            "push",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--no-recurse-submodules",
            "--no-signed",
        ]
        .map(str::to_owned)
        .into();
        if dry {
            args.push("--dry-run".into());
        }
        if moves.len() > 1 {
            args.push("--atomic".into());
        }
        let lease = |expected: &str, name: &str| format!("--force-with-lease={name}:{expected}");
        args.extend(moves.iter().filter_map(|Move { name, from, .. }| match from {
            Was::Nothing => Some(lease("", name)),
            Was::At(expected) => Some(lease(expected, name)),
            Was::Anything => None,
        }));
        args.push(call::REMOTE.into());
        args.extend(moves.iter().map(|Move { name, from, to }| match from {
            Was::Anything => format!("+{to}:{name}"),
            Was::Nothing | Was::At(_) => format!("{to}:{name}"),
        }));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let Some(said) = self.caller.try_ask(&args)? else { return Ok(None) };
        let words = self.caller.words(&said.stderr);
        let flags = moves.iter().map(|Move { name, .. }| parse::flag(&said.stdout, name));
        let flags: Option<Vec<_>> = flags.collect();
        Ok(flags.map(|flags| {
            flags.into_iter().map(|(flag, summary)| (flag, said_of(&summary, &words))).collect()
        }))
    }

    /// Whether what was seen lies in the history before a cut, or before the cut before that.
    fn descends_from_archive(&self, mut cut: u64, seen: &Mark) -> Asked<bool> {
        const ARCHIVED: &str = "refs/jit/archived";
        while cut >= seen.height && cut > 0 {
            if self.fetch(&self.archive(cut), ARCHIVED).is_err() {
                return Ok(false);
            }
            let Some(archived) = self.caller.resolve(&self.steps, ARCHIVED)? else { return Ok(false) };
            let Some(head) = self.steps.head(&archived)? else { return Ok(false) };
            let earlier = heights(&head)?;
            if earlier.height == cut && earlier.cut < seen.height {
                return self.steps.is_before(&seen.version.0, cut - seen.height, &archived);
            }
            if earlier.cut >= cut {
                return Ok(false);
            }
            cut = earlier.cut;
        }
        Ok(false)
    }

    /// The ref that keeps the history up to a cut.
    fn archive(&self, height: u64) -> String {
        self.beside(&format!("archive/{height}"))
    }

    /// A ref beside the register's own, among those that all worktrees of the server's repository have in common: what
    /// `git gc` in one of them removes is reachable from none of these.
    fn beside(&self, what: &str) -> String {
        let (base, _) = self.name.rsplit_once('/').unwrap_or((&self.name, ""));
        let base = base.strip_prefix(UNPACKED).map_or_else(|| base.to_owned(), |rest| format!("refs/{rest}"));
        format!("{base}/{what}")
    }

    /// The ref that keeps what the register is on from being collected; none if the register does that itself.
    fn kept(&self) -> Option<String> {
        let (_, last) = self.name.rsplit_once('/').filter(|_| is_never_packed(&self.name))?;
        Some(self.beside(&format!("kept/{last}")))
    }

    /// The refs that keep at the server what a step is going to move others to.
    fn staged(&self) -> Vec<(String, String)> {
        let staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        staged.iter().map(|(name, at)| (name.clone(), at.clone())).collect()
    }
}

fn said_of(summary: &str, words: &str) -> String {
    let last = words.lines().map(str::trim).find(|line| line.starts_with("remote:")).unwrap_or_default();
    if last.is_empty() { summary.to_owned() } else { format!("{summary}; {last}") }
}

/// Which of several refs was refused, and why: git says no of all that are pushed together, and of one what for. Of several
/// it is the last one, because what somebody wants pushed comes after what is ours.
fn reason(moves: &[Move<'_>], flags: &[(Flag, String)]) -> Option<String> {
    let is_why = |(flag, why): &(Flag, String)| *flag == Flag::Refused && !parse::is_for_another(why);
    let (Move { name, .. }, (_, why)) = moves.iter().zip(flags).rfind(|(_, said)| is_why(said))?;
    Some(format!("{name} was refused: {why}"))
}

/// One ref that a push moves.
struct Move<'a> {
    name: &'a str,
    from: Was<'a>,
    to: &'a str,
}

/// Where a ref must be to be moved.
#[derive(Clone, Copy)]
enum Was<'a> {
    /// It is not there.
    Nothing,
    At(&'a str),
    Anything,
}

impl<'a> Was<'a> {
    fn expected(at: Option<&'a str>) -> Self {
        at.map_or(Self::Nothing, Self::At)
    }
}

#[derive(Deserialize)]
struct Heights {
    height: u64,
    cut: u64,
}

fn heights(head: &[u8]) -> Asked<Heights> {
    serde_json::from_slice(head).map_err(|error| Unreachable(error.to_string()))
}

impl Register for GitRef {
    fn name(&self) -> String {
        format!("{} at {}", self.name, self.caller.shown())
    }

    fn place(&self) -> PathBuf {
        PathBuf::from(Register::name(self))
    }

    fn read(&self) -> Asked<Option<Found>> {
        let Some(mut tip) = self.remote_tip()? else { return Ok(None) };
        let mut value = self.steps.head(&tip)?;
        if value.is_none() {
            self.fetch(&self.name, SEEN)?;
            // What was fetched may be later than what was listed.
            tip = self.caller.resolve(&self.steps, SEEN)?.unwrap_or(tip);
            value = self.steps.head(&tip)?;
        }
        match value {
            Some(value) => Ok(Some(Found { version: Version(tip), value })),
            None => Err(Unreachable(format!("the commit {tip} has no head: the ref is not a register"))),
        }
    }

    fn confirms(&self, version: Option<&Version>) -> Asked<bool> {
        let (expected, to) = match version {
            Some(version) => (Some(version.0.as_str()), version.0.clone()),
            None => {
                let nothing = Next { height: 0, chain: "", head: b"{}", step: b"{}", title: "a question" };
                (None, self.steps.commit(None, &nothing)?)
            }
        };
        let question = Move { name: &self.name, from: Was::expected(expected), to: &to };
        let flags = self.push(&[question], true)?;
        let flag = flags.and_then(|flags| flags.into_iter().next());
        match flag {
            Some((Flag::Done, _)) => Ok(true),
            Some((Flag::Refused, _)) => Ok(false),
            Some((Flag::Silent, why)) => Err(Unreachable(why)),
            None => Err(Unreachable("it did not answer".into())),
        }
    }

    fn descends(&self, now: &Found, seen: &Mark) -> Asked<bool> {
        let Heights { height, cut } = heights(&now.value)?;
        // The commit of a cut is one step after it, and has no parent.
        match height.checked_sub(seen.height).filter(|_| seen.height > cut) {
            Some(steps) => self.steps.is_before(&seen.version.0, steps, &now.version.0),
            None => self.descends_from_archive(cut, seen),
        }
    }

    fn swap(&self, expected: Option<&Version>, next: &Next<'_>) -> Swap {
        self.swap_along(expected, next, &[])
    }

    fn swap_along(&self, expected: Option<&Version>, next: &Next<'_>, along: &[Along]) -> Swap {
        let expected = expected.map(|version| version.0.as_str());
        let cut = parse::cut(next);
        let parent = expected.filter(|_| cut.is_none());
        let commit = match self.steps.commit(parent, next) {
            Ok(commit) => commit,
            // Nothing was sent.
            Err(error) => return Swap::Lost(Some(error.0)),
        };
        let (archive, kept) = (cut.map(|height| self.archive(height)), self.kept());
        let mut moves = vec![Move { name: &self.name, from: Was::expected(expected), to: &commit }];
        moves.extend(kept.iter().map(|kept| Move { name: kept, from: Was::Anything, to: &commit }));
        if let (Some(archive), Some(before)) = (&archive, expected) {
            moves.push(Move { name: archive, from: Was::Nothing, to: before });
        }
        let is_odd =
            |along: &&Along| !parse::is_id(&along.to) || RefName::new(along.name.as_bytes()).is_none();
        if let Some(odd) = along.iter().find(is_odd) {
            return Swap::Lost(Some(format!("'{}' cannot be moved", odd.name.escape_debug())));
        }
        let staged = if along.is_empty() { Vec::new() } else { self.staged() };
        moves.extend(staged.iter().map(|(name, at)| Move { name, from: Was::At(at), to: "" }));
        moves.extend(along.iter().map(|Along { name, expected, to }| Move {
            name,
            from: Was::expected(expected.as_deref()),
            to,
        }));
        match self.push(&moves, false) {
            Ok(Some(flags)) => match flags.first() {
                Some((Flag::Done, _)) => {
                    if !along.is_empty() {
                        self.staged.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    }
                    Swap::Swapped(Version(commit))
                }
                Some((Flag::Refused, words)) => {
                    Swap::Lost(Some(reason(&moves, &flags).unwrap_or_else(|| words.clone())))
                }
                Some((Flag::Silent, words)) => Swap::Unknown(words.clone()),
                None => Swap::Unknown("git said nothing of the ref".into()),
            },
            Ok(None) => Swap::Unknown("no answer came in time".into()),
            Err(error) => Swap::Unknown(error.0),
        }
    }

    fn stage(&self, along: &[Along]) {
        for Along { to, .. } in along.iter().filter(|along| parse::is_id(&along.to)) {
            let name = self.beside(&format!("staged/{to}"));
            let Ok(there) = self.listed(&[&name]) else { return };
            let there = there.into_iter().next().flatten();
            let staged = Move { name: &name, from: Was::expected(there.as_deref()), to };
            let is_there = there.as_deref() == Some(to)
                || self.push(&[staged], false).is_ok_and(|said| {
                    said.is_some_and(|said| said.iter().all(|(flag, _)| *flag == Flag::Done))
                });
            if is_there {
                let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
                staged.insert(name, to.clone());
            }
        }
    }

    fn refs(&self, names: &[&str]) -> Asked<Vec<Option<String>>> {
        self.listed(names)
    }

    fn is_at(&self, version: &Version) -> Asked<bool> {
        Ok(self.remote_tip()?.as_deref() == Some(version.0.as_str()))
    }

    fn past(&self, now: &Found) -> Asked<Past> {
        let (first, steps) = self.steps.past(&now.version.0)?;
        Ok(Past { first, steps })
    }

    /// A ref that is packed may be set back by whoever packs it at that moment.
    fn must_be_checked(&self) -> bool {
        !is_never_packed(&self.name)
    }

    fn wants_cut(&self, height: u64, cut: u64) -> bool {
        height - cut >= self.cut_every
    }

    fn wait(&self, version: &Version, most: Millis) -> Asked<bool> {
        let pace = Millis::from_secs(2);
        let mut waited = Millis::ZERO;
        loop {
            if self.remote_tip()?.as_deref() != Some(version.0.as_str()) {
                return Ok(true);
            }
            if waited >= most {
                return Ok(false);
            }
            self.sys.clock.sleep(pace.min(most));
            waited = waited.plus(pace);
        }
    }
}

/// The bare repository for steps, in a control plane.
#[must_use]
pub fn engine_in(control: &Path) -> PathBuf {
    control.join("engine.git")
}

/// Git where the steps are.
fn git_in(engine: &Path) -> Git {
    Git::in_dir(engine)
}
