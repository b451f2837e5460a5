//! `jit run`: a command under a claim. The claim is kept while the command lives, and nothing of it lives on without the
//! claim; what it did lands, or the issue is given back.

mod guarded;
mod settle;
mod words;

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use holdfast_git::Environment;
use holdfast_kernel::Lease;
use holdfast_tracker::claims::{Terms, keeper};
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::land::{self, Begun, Branch, Wanted};
use holdfast_tracker::run::{self, Attempts, Bound, Input, Record, Start};
use holdfast_tracker::{Caller, Session, take, worktrees};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cli;
use crate::context::Context;
use crate::output::Report;
use guarded::Guarded;
pub(super) use words::{check, filled, located};

/// What became of a run, as one JSON object.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunOutput {
    /// What became of it.
    pub run: Ran,
}

/// What became of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// The issue.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// Who held it.
    pub agent_id: String,
    /// The number of the grant.
    pub fence: u64,
    /// What became of the issue.
    pub outcome: Outcome,
    /// Why, if it is not what one hopes for.
    pub reason: Option<String>,
    /// How often commands have failed on it, this time included.
    pub failed_attempts: u32,
    /// Whether this was once too often, so that no pool takes it before somebody has looked.
    pub needs_attention: bool,
    /// The exit code of the command; none if a signal ended it, or it was not started.
    pub exit_code: Option<i32>,
    /// The branch that it landed on, or that has the work.
    pub branch: Option<String>,
    /// The commit that it landed with.
    pub commit: Option<String>,
    /// Where the output is, if it was kept.
    pub log: Option<String>,
    /// Where the work was done.
    pub worktree: String,
}

/// What became of an issue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The target has it.
    Landed,
    /// It is done, and there is no branch to land on.
    Done,
    /// Its gates are open.
    Gated,
    /// A branch has it, finished, and waits for whoever takes it from there.
    Waiting,
    /// It was given back.
    Dropped,
    /// The command could not be started, so the issue was given back.
    NotStarted,
    /// The command gave it back by itself.
    Released,
    /// The claim ended without the command's doing, and the command was ended.
    Lost,
    /// The landing was cut off; whoever comes next goes on with it.
    CutOff,
}

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &cli::Run) -> Result<Report> {
    let session = context.session()?;
    let ended = run::sweep(&session)?;
    if ended > 0 {
        context.printer.warn(&format!("ended {ended} processes of runs whose guardians were killed"));
    }
    let record = Record::new(&session)?;
    if !typed.worktree {
        return Work::begin(context, session, typed, record)?.go();
    }
    let name = format!("run-{}", record.mark.get(..8).unwrap_or_default());
    record.makes(&session, &worktrees::place(&session, &name)?)?;
    let wanted = worktrees::Wanted { name, ..worktrees::Wanted::default() };
    let made = worktrees::add_detached(&session, &wanted).inspect_err(|_| record.remove(session.sys()))?;
    let (root, mut branches) = (made.root, Vec::new());
    let report = inside(&session.caller, &root).and_then(|inside| {
        let work = Work::begin(context, inside, typed, record.clone())?;
        branches.extend(work.begun.branch.clone().filter(|branch| branch.starts_with("jit/")));
        work.go()
    });
    // Its guardian has taken it away, if there was one.
    if run::place::is_there(&session, &root)? && !run::place::take_away(&session, &root)? {
        context.printer.warn(&format!("{} stays: it has work that is in no commit", root.display()));
    }
    run::place::forget(&session, &branches)?;
    record.remove(session.sys());
    report
}

/// A question that is asked in another worktree. What the environment says of this one does not hold there.
pub(super) fn inside(caller: &Caller, root: &Path) -> Result<Session> {
    let (git_dir, work_tree, common_dir, index_file) = (None, None, None, None);
    let git = Environment { git_dir, work_tree, common_dir, index_file, ..caller.git.clone() };
    Session::open(&Caller { start: root.to_path_buf(), git, ..caller.clone() })
}

/// A run.
struct Work<'a> {
    context: &'a Context,
    session: Session,
    typed: &'a cli::Run,
    record: Record,
    guarded: Guarded,
    begun: Begun,
    root: PathBuf,
    log: Option<Bound>,
    /// Whether a run before this one was killed when the command had done its work.
    has_worked: bool,
}

impl<'a> Work<'a> {
    /// Starts the guardian, and claims.
    fn begin(context: &'a Context, session: Session, typed: &'a cli::Run, record: Record) -> Result<Self> {
        run::busy(&session)?;
        let agent = session.agent()?.id.to_string();
        let root = session.root().map_or_else(|| session.caller.start.clone(), Path::to_path_buf);
        let guarded = Guarded::start(&root, &agent, &record.mark).map_err(|error| {
            // Two that begin at once both find nobody there; one of their guardians does not get in.
            run::busy(&session).err().unwrap_or(error)
        })?;
        if let Err(error) = session.name_guardian(guarded.pid) {
            context.printer.warn(&format!(
                "nobody can tell whether this run is alive, so others wait for the deadline: {error}"
            ));
        }
        let terms = Terms::parse(typed.ttl.as_deref(), None, session.config(), session.agent()?)?;
        let (begun, has_worked) = start(context, &session, typed, &terms)?;
        guarded.keep(&begun.taken.lease.id.to_string())?;
        let log = log(&session, typed, &begun)?;
        Ok(Self { context, session, typed, record, guarded, begun, root, log, has_worked })
    }

    /// Runs the command, and settles what became of it.
    fn go(mut self) -> Result<Report> {
        self.tell(&Event::Claimed(&self.ran(Outcome::Released)));
        let ran = if self.guarded.is_interrupted()? {
            self.give_back(self.ran(Outcome::Dropped), "a signal came before the command was started", false)?
        } else if self.has_worked && !self.typed.no_finish {
            self.finish(self.ran(Outcome::Dropped))?
        } else {
            let start = self.command()?;
            let fate = self.guarded.run(start)?;
            self.settle(fate)?
        };
        self.tell(&Event::Ended(&ran));
        let interrupted = self.guarded.interrupted;
        self.guarded.dismiss();
        Ok(report(&ran, interrupted))
    }

    /// The command, with all that it is to know.
    fn command(&self) -> Result<Start> {
        let Begun { issue, handle, briefing, taken, .. } = &self.begun;
        let briefing = self.record.brief(&self.session, briefing.as_str())?;
        let words = match self.typed.pooled {
            true => filled(&self.typed.command, &self.placeholders(&briefing.to_string_lossy())),
            false => located(&self.context.caller, self.typed.command.clone()),
        };
        let agent = self.session.agent()?.id.to_string();
        let variables = [
            ("JIT_ISSUE_ID", issue.id.clone()),
            ("JIT_ISSUE_HANDLE", handle.clone()),
            ("JIT_ISSUE_TITLE", issue.title.clone()),
            ("JIT_AGENT_ID", agent),
            ("JIT_FENCE", taken.lease.fence.get().to_string()),
            ("JIT_KEEPER_PID", self.guarded.pid.to_string()),
            ("JIT_BRIEFING", briefing.to_string_lossy().into_owned()),
        ];
        let input = match (self.typed.stdin, self.typed.log) {
            (true, _) => Input::File(briefing),
            (false, true) => Input::Nothing,
            (false, false) => Input::Given,
        };
        Ok(Start {
            words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            directory: self.root.clone(),
            variables: variables.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            input,
            log: self.log.clone(),
            in_foreground: false,
        })
    }

    fn placeholders(&self, briefing: &str) -> [(&'static str, String); 5] {
        [
            ("{id}", self.begun.issue.id.clone()),
            ("{handle}", self.begun.handle.clone()),
            ("{title}", self.begun.issue.title.clone()),
            ("{worktree}", self.root.to_string_lossy().into_owned()),
            ("{briefing}", briefing.to_owned()),
        ]
    }

    /// What is known of this run so far.
    fn ran(&self, outcome: Outcome) -> Ran {
        let lease = &self.begun.taken.lease;
        Ran {
            id: self.begun.issue.id.clone(),
            handle: self.begun.handle.clone(),
            title: self.begun.issue.title.clone(),
            agent_id: lease.holder.agent.to_string(),
            fence: lease.fence.get(),
            outcome,
            reason: None,
            failed_attempts: 0,
            needs_attention: false,
            exit_code: None,
            branch: self.begun.branch.clone(),
            commit: None,
            log: self.log.as_ref().map(|log| log.path.to_string_lossy().into_owned()),
            worktree: self.root.to_string_lossy().into_owned(),
        }
    }

    /// Lets the pool know.
    fn tell(&self, event: &Event<'_>) {
        if self.typed.pooled {
            self.context.printer.line(holdfast_door::Clean::json(event));
        }
    }
}

/// What a pool is told, a line each.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Event<'a> {
    /// An issue was claimed.
    Claimed(&'a Ran),
    /// The run is over.
    Ended(&'a Ran),
}

/// Claims, or goes on with what a run before this one was cut off from, and says whether the work of that is done.
fn start(context: &Context, session: &Session, typed: &cli::Run, terms: &Terms) -> Result<(Begun, bool)> {
    let mut has_worked = false;
    let issue = typed.issue.as_deref().map(|typed| Issues::new(session).resolve(typed)).transpose()?;
    if let [(id, lease)] = land::held_here(session)?.as_slice()
        && issue.is_none_or(|wanted| wanted == *id)
    {
        has_worked = go_on(session, typed, terms, *id, lease)?;
    }
    if !typed.here && land::held_here(session)?.is_empty() {
        leave_branch(context, session, typed.pooled)?;
    }
    let filter = typed.filters.parse()?.without(run::NEEDS_ATTENTION);
    let on = if typed.here { Branch::Here } else { Branch::Own };
    let wanted = Wanted { issue, filter: &filter, another: false, on };
    Ok((land::start(session, &wanted, terms, None)?, has_worked))
}

/// Goes on with a claim that is held here. The guardian of this run is the only one in this worktree, so whoever had it
/// before is through with it, or was cut off. Says whether its command had done its work.
fn go_on(session: &Session, typed: &cli::Run, terms: &Terms, id: IssueId, lease: &Lease) -> Result<bool> {
    if land::close_over(session, id, lease)? {
        Attempts::forget(session, id);
        return Ok(false);
    }
    let has_worked = Attempts::has_worked(session, id, lease.fence.get());
    if !keeper::is_through(session.sys(), lease) {
        return Ok(has_worked);
    }
    // Whoever comes back is the same holder; its claim has to name the guardian that is there now.
    let taken = take::acquire(session, id, terms, None)?;
    if !typed.here {
        land::go_to_branch(session, &taken.lease)?;
    }
    Ok(has_worked)
}

/// Has this worktree leave the branch of an issue that is not held here any more: one that has landed, or that somebody
/// else took over, or that was given back with commits on its branch, which stay there. What is in no commit stays where
/// it is, and the worktree with it; but for what it has of the issue itself, which would be in the way of the next branch
/// or be committed there.
fn leave_branch(context: &Context, session: &Session, pooled: bool) -> Result<()> {
    let (Some(root), Some(branch)) = (session.root(), session.branch()?) else { return Ok(()) };
    if !branch.starts_with("jit/") {
        return Ok(());
    }
    run::place::forget_records(root)?;
    if !run::place::is_part_of_target(session, root)? && run::place::clear(session, root)? && !pooled {
        context.printer.warn(&format!("this worktree has left {branch}, which keeps its commits"));
    }
    Ok(())
}

/// Where the output goes, if it is kept.
fn log(session: &Session, typed: &cli::Run, begun: &Begun) -> Result<Option<Bound>> {
    if !typed.log {
        return Ok(None);
    }
    let issue = Issues::new(session).resolve(&begun.issue.id)?;
    let (directory, file) = session.prepare()?.places();
    run::prepare(session.sys(), session.control(), issue, directory)?;
    let most = session.config().run.log_max_bytes;
    Ok(Some(Bound::of(session.control(), issue, begun.taken.lease.fence.get(), file, most)))
}

fn report(ran: &Ran, interrupted: Option<u8>) -> Report {
    let Ran { handle, title, reason, branch, .. } = ran;
    let because = reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let on = branch.as_deref().map(|branch| format!(" on {branch}")).unwrap_or_default();
    let text = match ran.outcome {
        Outcome::Landed => format!("landed {handle}{on}: {title}\n"),
        Outcome::Done => format!("done {handle}: {title}\n"),
        Outcome::Gated => format!("gated {handle}{because}\n"),
        Outcome::Waiting => format!("done {handle}{on}, not landed{because}\n"),
        Outcome::Dropped | Outcome::NotStarted => format!("dropped {handle} ({title}){because}\n"),
        Outcome::Released => format!("{handle} was given back by the command: {title}\n"),
        Outcome::Lost => format!("lost the claim on {handle}{because}\n"),
        Outcome::CutOff => format!("the landing of {handle} was cut off{because}\n"),
    };
    let exit = match (interrupted, ran.outcome) {
        (Some(signal), Outcome::Dropped | Outcome::CutOff) => Exit::Signal(signal),
        (_, Outcome::Landed | Outcome::Done | Outcome::Gated | Outcome::Waiting | Outcome::Released) => {
            Exit::Ok
        }
        (_, Outcome::Dropped | Outcome::NotStarted | Outcome::CutOff) => Exit::Failed,
        (_, Outcome::Lost) => Exit::Lease,
    };
    let brief = ran.id.clone();
    Report::new(text, &RunOutput { run: ran.clone() }).brief(brief).exit(exit)
}

/// That something failed which never should.
fn internal(why: &str) -> Error {
    Error::Internal(why.to_owned())
}
