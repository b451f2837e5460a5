//! Judging a candidate: the commands of gates run on exactly what would land, in a checkout of their own that is kept,
//! so that what they build stays there for the next time.

use std::path::{Path, PathBuf};

use holdfast_git::ObjectId;
use holdfast_kernel::{Lease, Millis};
use holdfast_sys::{Files, Guard, Kind, LockMode};

use super::alive::while_renewing;
use super::plumbing::Plumbing;
use crate::durable;
use crate::error::{LandError, Result};
use crate::gates::{FILE, Gate, Mode, Outcome, Registry, Run, outputs};
use crate::ids::IssueId;
use crate::issues::Issue;
use crate::notice::Notice;
use crate::session::Session;
use crate::workspace::DATA;
use crate::worktrees::one_by_one;
use crate::writes::{GateResult, Results};

/// More checkouts than anybody lands at once.
const MOST_SCRATCHES: u32 = 32;

/// How long a command may take that says nothing about it.
const USUAL_LIMIT: u64 = 600;

/// Deeper than any checkout.
const DEEPEST: u32 = 512;

/// What judges a candidate.
pub(super) struct Judge<'a> {
    pub(super) session: &'a Session,
    pub(super) plumbing: &'a Plumbing<'a>,
    pub(super) id: IssueId,
    /// What has to stay in force however long it takes.
    pub(super) leases: &'a [&'a Lease],
}

/// What commands made of a tree, which is what was judged: everything but the tracker's own files.
#[derive(Default)]
pub(super) struct Judgement {
    pub(super) tree: String,
    pub(super) gates: Vec<Judged>,
}

/// How one gate was judged by its command.
pub(super) struct Judged {
    pub(super) key: String,
    pub(super) outcome: Outcome,
}

impl Judge<'_> {
    /// The gates of an issue that a command has to judge on this candidate, and what came of it. What was found `before`
    /// about the same tree is not asked again.
    ///
    /// # Errors
    /// When one says no, or cannot be run.
    pub(super) fn judge(
        &self,
        issue: &Issue,
        results: &Results,
        before: Judgement,
        onto: &ObjectId,
        tip: &ObjectId,
    ) -> Result<Judgement> {
        if issue.gates.is_empty() {
            return Ok(Judgement::default());
        }
        let registry = self.registry(onto)?;
        let commands: Vec<(&String, &Gate)> = issue
            .gates
            .iter()
            .filter_map(|key| Some((key, registry.gates.get(key)?)))
            .filter(|(_, gate)| gate.mode == Mode::Command)
            .collect();
        if commands.is_empty() {
            return Ok(Judgement::default());
        }
        let tree = self.judged_tree(tip)?;
        let mut gates = if before.tree == tree { before.gates } else { Vec::new() };
        let counts = |result: &GateResult| result.judged.as_deref() == Some(&tree);
        let is_known = |key: &str| {
            let is_kept = results.passed(key) && results.0.get(key).is_some_and(counts);
            is_kept || gates.iter().any(|judged| judged.key == key)
        };
        let open: Vec<(&String, &Gate)> = commands.into_iter().filter(|(key, _)| !is_known(key)).collect();
        if !open.is_empty() {
            gates.extend(while_renewing(self.session.claims(), self.leases, || self.run(&open, tip))?);
        }
        Ok(Judgement { tree, gates })
    }

    /// Runs them in the first checkout that nobody else uses at the moment.
    fn run(&self, open: &[(&String, &Gate)], tip: &ObjectId) -> Result<Vec<Judged>> {
        let (sys, mode) = (self.session.sys(), self.session.prepare()?.file());
        let lock = |number: u32| self.session.control().join(format!("locks/scratch-{number}.lock"));
        for number in 1..MOST_SCRATCHES {
            let mut guard = Guard::open(sys, &lock(number), mode)?;
            if let Some(_section) = guard.try_enter(sys, LockMode::Exclusive)? {
                return self.run_in(number, open, tip);
            }
        }
        let mut guard = Guard::open(sys, &lock(MOST_SCRATCHES), mode)?;
        let _section = guard.enter(sys, LockMode::Exclusive)?;
        self.run_in(MOST_SCRATCHES, open, tip)
    }

    fn run_in(&self, number: u32, open: &[(&String, &Gate)], tip: &ObjectId) -> Result<Vec<Judged>> {
        let sys = self.session.sys();
        let scratch = self.scratch()?.join(format!("landing-{number}"));
        self.check_out(&scratch, tip)?;
        let (id, mut judged) = (self.id.to_string(), Vec::new());
        for (key, gate) in open {
            let limit = Millis::from_secs(gate.timeout_secs.unwrap_or(USUAL_LIMIT));
            let variables = [("JIT_ISSUE_ID", id.as_str()), ("JIT_GATE", key.as_str())];
            let command = gate.command.as_deref().unwrap_or_default();
            self.session.notice(&Notice::GateRuns { issue: id.clone(), gate: (*key).clone() });
            let run = Run { sys, command, directory: &scratch, variables: &variables, limit };
            let outcome = run.run()?;
            outputs::keep(self.session, self.id, key, &outcome);
            if !outcome.passed() {
                let gate = (*key).clone();
                return Err(LandError::GateFailed { gate, code: outcome.code, output: outcome.output }.into());
            }
            judged.push(Judged { key: (*key).clone(), outcome });
        }
        Ok(judged)
    }

    /// Where the checkouts are: as configured, else in the user's cache, below the log that the claims are kept in.
    fn scratch(&self) -> Result<PathBuf> {
        let caller = &self.session.caller;
        let configured = self.session.config().landing.scratch.as_ref();
        let configured = configured.map(|path| self.session.root().unwrap_or(&caller.start).join(path));
        let log = self.session.claims().view()?.counter.map(|counter| counter.to_string());
        Ok(match (configured.or_else(|| caller.cache_home.clone()), log) {
            // Clones that share their claims share the log, and no checkouts.
            (Some(cache), Some(log)) => match self.session.clone_name()? {
                Some(clone) => cache.join(log).join(clone),
                None => cache.join(log),
            },
            _ => self.session.control().join("scratch"),
        })
    }

    /// Has a checkout hold exactly what would land, and what git ignores: that is what builds leave for the next one. What
    /// else an earlier command has left must not decide this one.
    fn check_out(&self, scratch: &Path, tip: &ObjectId) -> Result<()> {
        let (path, tip) = (scratch.to_string_lossy().into_owned(), tip.to_string());
        if durable::is_file(self.session.sys(), &scratch.join(".git"))? {
            let git = Plumbing::new(self.session, scratch);
            let does = |args: &[&str]| Ok::<_, crate::Error>(git.git().ask(args, &[])?.code == Some(0));
            if does(&["checkout", "-q", "--detach", "--force", &tip])? && does(&["clean", "-q", "-ffd"])? {
                return Ok(());
            }
            // Whoever used it before was cut off in the middle of something.
            one_by_one(self.session, || {
                let args = ["worktree", "remove", "--force", "--force", &path];
                Ok(self.plumbing.git().ask(&args, &[])?)
            })?;
        }
        // Whoever made it was killed before git knew of it; nothing but checkouts of ours is there.
        clear(&*self.session.sys().files, scratch, 0);
        let above = scratch.parent().unwrap_or(scratch);
        durable::make_dirs(self.session.sys(), above, 0o700)?;
        one_by_one(self.session, || {
            self.plumbing.git().run(&["worktree", "add", "-q", "--force", "--detach", &path, &tip])?;
            Ok(())
        })
    }

    /// The gates as the target defines them.
    fn registry(&self, onto: &ObjectId) -> Result<Registry> {
        match self.plumbing.show(onto, &format!("{DATA}/{FILE}"))? {
            Some(bytes) => Ok(serde_json::from_slice(&bytes).or_else(|_| Registry::load(self.session))?),
            None => Registry::load(self.session),
        }
    }

    /// What is judged: everything but the tracker's own files.
    fn judged_tree(&self, commit: &ObjectId) -> Result<String> {
        let tree = self.plumbing.with_own_files_of(&self.plumbing.tree(commit)?, None)?;
        Ok(tree.to_string())
    }
}

/// Takes a directory away, as far as that is possible.
fn clear(files: &dyn Files, path: &Path, depth: u32) {
    let is_directory = files.stat(path).is_ok_and(|stat| stat.kind == Kind::Directory);
    if !is_directory {
        let _ = files.remove_file(path);
        return;
    }
    if depth < DEEPEST {
        for name in files.list(path).unwrap_or_default() {
            clear(files, &path.join(name), depth + 1);
        }
    }
    let _ = files.remove_dir(path);
}
