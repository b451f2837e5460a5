//! `jit dispatch`: a pool of workers that run a command for one issue after the other, and what can be asked about one
//! from elsewhere.

mod client;
mod lane;
mod pool;

use std::ffi::OsString;
use std::path::Path;

use holdfast_door::{Clean, Colour, Notes, table};
use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::Open;
use holdfast_tracker::answers::pools;
use holdfast_tracker::claims::Terms;
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::issues::Issues;
use holdfast_tracker::run::pool::{self as state, State};
use holdfast_tracker::times::span;
use holdfast_tracker::{Session, escalate, run};
use schemars::JsonSchema;
use serde::Serialize;

use super::run::{Outcome, Ran, check, located};
use crate::cli;
use crate::context::Context;
use crate::output::Report;
use crate::output::lanes::Lanes;
pub(super) use pool::{Happening, Plan, Pool, Summary, Watcher};

/// How much of each part of a log is shown.
const SHOWN: usize = 4 << 20;

/// How a pool ended, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DispatchOutput {
    /// How it ended.
    pub pool: Ended,
}

/// How a pool ended.
#[derive(Serialize, JsonSchema)]
pub struct Ended {
    /// What it is called.
    pub name: String,
    /// How many issues landed, or were finished otherwise.
    pub finished: u64,
    /// How many attempts failed.
    pub failed: u64,
    /// The issues that commands failed on too often.
    pub needs_attention: Vec<Ran>,
    /// Worktrees that stay, because something in them is in no commit.
    pub kept_worktrees: Vec<String>,
    /// Why it could not go on, if it could not.
    pub problem: Option<String>,
}

/// A pool that was told to end, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct StopOutput {
    /// The pool.
    pub stopping: State,
}

/// What a command wrote, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct LogsOutput {
    /// Where it is.
    pub log: String,
    /// The text, without what a terminal would act on.
    pub text: String,
    /// The logs of earlier attempts, the oldest first.
    pub earlier: Vec<String>,
}

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &cli::Dispatch) -> Result<Report> {
    match &typed.question {
        None => dispatch(context, &typed.pool),
        Some(cli::AboutPool::Status) => status(context),
        Some(cli::AboutPool::Stop { name, now }) => stop(context, name, *now),
        Some(cli::AboutPool::Logs { issue }) => logs(context, issue),
    }
}

fn dispatch(context: &Context, typed: &cli::Pool) -> Result<Report> {
    state::checked(&typed.name)?;
    let (words, reads) = match typed.agent {
        Some(client) => client::words(client, &typed.agent_args),
        None => (located(&context.caller, typed.command.clone()), false),
    };
    check(&words)?;
    let session = asking(context, &typed.name)?;
    // What would be refused for every issue is refused once.
    Terms::parse(typed.ttl.as_deref(), None, session.config(), session.agent()?)?;
    let plan = Plan {
        name: typed.name.clone(),
        workers: usize::from(typed.workers),
        filter: typed.filters.parse()?.without(run::NEEDS_ATTENTION),
        filters: arguments(typed),
        attempts: typed.attempts,
        span: typed.span.as_deref().map(time).transpose()?,
        drain: typed.drain,
        stdin: typed.stdin || reads,
        words,
        variables: Vec::new(),
    };
    let names = (1..=plan.workers).map(|number| format!("{}-{number}", plan.name)).collect();
    let now = context.caller.sys.clock.now()?;
    let mut view = View { lanes: Lanes::new(context.printer, now, names), attempts: plan.attempts };
    let name = plan.name.clone();
    let pool = Pool::new(&session, plan)?;
    let _watching = Watching::begin(&session);
    Ok(report(name, pool.run(&mut view)?))
}

/// That what takes too long is noticed for as long as a pool is there. It is not waited for: what was put on record is gone
/// on with by whoever watches next.
struct Watching {
    _stop: std::sync::mpsc::Sender<()>,
}

impl Watching {
    fn begin(session: &Session) -> Self {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let caller = session.caller.clone();
        std::thread::spawn(move || {
            let rest = |span: Millis| {
                let span = std::time::Duration::from_millis(span.get());
                stopped.recv_timeout(span) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            };
            escalate::watch(&caller, &rest, &|trouble| Notes::new().warning(trouble));
        });
        Self { _stop: stop }
    }
}

/// The pool as somebody who asks.
fn asking(context: &Context, name: &str) -> Result<Session> {
    let mut caller = context.caller.clone();
    caller.typed_agent = Some(format!("agent:{name}").into());
    let session = Session::open(&caller)?;
    if session.repository().is_none() {
        return Err(Error::NotInGit(caller.start));
    }
    holdfast_tracker::land::settle(&session)?;
    Ok(session)
}

/// What `jit run` is told about which issues are wanted, and for how long.
fn arguments(typed: &cli::Pool) -> Vec<OsString> {
    let cli::Filters { state, priority, assignee, label, .. } = &typed.filters;
    let lists = [("--state", state), ("--priority", priority), ("--label", label)];
    let lists = lists.into_iter().filter(|(_, values)| !values.is_empty());
    let mut words: Vec<OsString> =
        lists.map(|(flag, values)| format!("{flag}={}", values.join(",")).into()).collect();
    words.extend(assignee.iter().map(|name| format!("--assignee={name}").into()));
    words.extend(typed.ttl.iter().map(|ttl| format!("--ttl={ttl}").into()));
    words
}

/// A span of time that was typed.
fn time(text: &str) -> Result<Millis> {
    let bad = || Error::BadValue {
        what: "--for",
        given: text.to_owned(),
        why: "must be a number with s, m, h or d behind it".to_owned(),
    };
    let unit = text.chars().next_back().ok_or_else(bad)?;
    let secs = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(bad()),
    };
    let number: u64 = text.trim_end_matches(unit).parse().map_err(|_| bad())?;
    let secs =
        number.checked_mul(secs).filter(|secs| *secs <= Millis::LONGEST.get() / 1_000).ok_or_else(bad)?;
    Ok(Millis::from_secs(secs))
}

/// The pool as people see it.
struct View {
    lanes: Lanes,
    attempts: u32,
}

impl View {
    /// What became of a run, and what there is to say about it if there is room.
    fn ended(&self, ran: &Ran) -> (String, String) {
        let Ran { handle, title, reason, failed_attempts, needs_attention, .. } = ran;
        let more = reason.as_ref().map_or_else(|| format!(": {title}"), |why| format!(": {why}"));
        let text = match failed_attempts {
            0 => format!("{} {handle}", word(ran.outcome)),
            _ if *needs_attention => format!("needs attention: {handle}"),
            failed => format!("failed {handle} ({failed} of {})", self.attempts),
        };
        (text, more)
    }
}

impl Watcher for View {
    fn see(&mut self, now: &Stamp, lane: usize, what: &Happening<'_>) {
        let (colour, text, more) = match what {
            Happening::Claimed(ran, _) => {
                (Colour::Yellow, format!("claims {}", ran.handle), format!(": {}", ran.title))
            }
            Happening::Ended(ran) => {
                let (text, more) = self.ended(ran);
                (colour(ran.outcome), text, more)
            }
            Happening::Trouble(why) => (Colour::Red, "trouble".to_owned(), format!(": {why}")),
            Happening::Ending => {
                return self.lanes.say("begins nothing new; once more stops what is running");
            }
            Happening::Stopping => return self.lanes.say("stops what is running"),
            Happening::Waiting => {
                return self.lanes.say("waits for something to do; Ctrl-C or jit dispatch stop ends it");
            }
        };
        self.lanes.draw(now, lane, colour, &text, &more);
    }
}

/// What became of an issue, in a word.
pub(super) const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Landed => "landed",
        Outcome::Done => "done",
        Outcome::Gated => "gated",
        Outcome::Waiting => "waits on its branch",
        Outcome::Dropped => "dropped",
        Outcome::NotStarted => "not started",
        Outcome::Released => "given back",
        Outcome::Lost => "lost",
        Outcome::CutOff => "cut off",
    }
}

pub(super) const fn colour(outcome: Outcome) -> Colour {
    match outcome {
        Outcome::Landed | Outcome::Done => Colour::Green,
        Outcome::Gated | Outcome::Waiting | Outcome::Released => Colour::Plain,
        Outcome::Dropped | Outcome::NotStarted | Outcome::Lost | Outcome::CutOff => Colour::Red,
    }
}

fn report(name: String, summary: Summary) -> Report {
    let Summary { finished, failed, needs_attention, kept, stopped, stuck } = summary;
    let mut text = format!("{name} has ended: {finished} finished, {failed} failed attempts\n");
    for ran in &needs_attention {
        text.push_str(&format!(
            "needs attention: {} ({}); jit dispatch logs {}\n",
            ran.handle, ran.title, ran.handle
        ));
    }
    if !kept.is_empty() {
        text.push_str(
            "kept, with work that is in no commit (git worktree remove --force PATH removes one):\n",
        );
        kept.iter().for_each(|root| text.push_str(&format!("  {root}\n")));
    }
    if let Some(why) = &stuck {
        text.push_str(&format!("{why}\n"));
    }
    let exit = match (stopped, &stuck) {
        (Some(signal), _) => Exit::Signal(signal),
        (None, Some(_)) => Exit::Failed,
        (None, None) if needs_attention.is_empty() => Exit::Ok,
        (None, None) => Exit::Problems,
    };
    let brief = finished.to_string();
    let pool = Ended { name, finished, failed, needs_attention, kept_worktrees: kept, problem: stuck };
    Report::new(text, &DispatchOutput { pool }).brief(brief).exit(exit)
}

fn status(context: &Context) -> Result<Report> {
    let session = context.session()?;
    let document = pools::list(&session)?;
    let pools = &document.pools;
    let now = context.caller.sys.clock.now()?.wall_ms();
    let mut text = Clean::default();
    for pool in pools {
        let how = match (pool.running, pool.ending) {
            (false, _) => "is not there any more; start it again, and it goes on",
            (true, true) => "begins nothing new",
            (true, false) => "is at work",
        };
        text += format!(
            "{} {how} (process {}): {} finished, {} failed attempts\n",
            pool.name, pool.pid, pool.finished, pool.failed
        );
        let rows: Vec<[String; 4]> =
            pool.workers.iter().map(|worker| row(worker, now, pool.running)).collect();
        text += table(["WORKER", "ISSUE", "FOR", "TITLE"], &rows);
    }
    if pools.is_empty() {
        text = "no pool\n".into();
    }
    Ok(Report::new(text, &document))
}

fn row(worker: &state::Worker, now: u64, running: bool) -> [String; 4] {
    let name = worker.agent_id.trim_start_matches("agent:").to_owned();
    match worker.task.as_ref().filter(|_| running) {
        Some(task) => {
            let since = span(Millis::new(now.saturating_sub(task.since_ms)));
            [name, task.handle.clone(), since, task.title.clone()]
        }
        None => {
            let last = worker.last.as_deref().map(|last| format!("last: {last}")).unwrap_or_default();
            [name, "-".to_owned(), "-".to_owned(), last]
        }
    }
}

fn stop(context: &Context, name: &str, now: bool) -> Result<Report> {
    let session = context.session()?;
    let pool = State::read(&session, name)?.filter(|pool| pool.running);
    let pool = pool.ok_or_else(|| Error::NoPool(name.to_owned()))?;
    pool.ask_to_end(&session);
    let text = if now && !pool.ending {
        // The first asks it to begin nothing new; the second is heard apart from it once the first was.
        let is_deaf = |now: State| now.running && !now.ending && now.pid == pool.pid;
        while State::read(&session, name)?.is_some_and(is_deaf) {
            context.caller.sys.clock.sleep(Millis::new(10));
        }
        pool.ask_to_end(&session);
        format!("{name} stops what is running\n")
    } else if now {
        format!("{name} stops what is running\n")
    } else {
        format!("{name} begins nothing new\n")
    };
    Ok(Report::new(text, &StopOutput { stopping: pool }).brief(name))
}

fn logs(context: &Context, issue: &str) -> Result<Report> {
    let session = context.session()?;
    let id = Issues::new(&session).resolve(issue)?;
    let mut all = run::logs(session.sys(), session.control(), id)?;
    let log = all.pop().ok_or_else(|| Error::NoLog(issue.to_owned()))?;
    let bytes = written(&session, &log)?;
    let text = Clean::page(&String::from_utf8_lossy(&bytes));
    let earlier = all.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let document =
        LogsOutput { log: log.to_string_lossy().into_owned(), text: text.as_str().to_owned(), earlier };
    let brief = document.log.clone();
    Ok(Report::new(text, &document).brief(brief))
}

/// What a log has: its beginning, and its end if it is too long to be shown.
fn written(session: &Session, log: &Path) -> Result<Vec<u8>> {
    let open = |path: &Path| match session.sys().files.open(path, Open::Read) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        handle => handle.map(Some),
    };
    let mut bytes = match open(&run::first_part(log))? {
        Some(first) => first.read_from(0, SHOWN)?,
        None => Vec::new(),
    };
    let Some(last) = open(log)? else { return Ok(bytes) };
    let skipped = last.stat()?.len.saturating_sub(SHOWN as u64);
    if !bytes.is_empty() || skipped > 0 {
        bytes.extend_from_slice(b"\n[some of what was written is left out here]\n");
    }
    bytes.extend(last.read_from(skipped, SHOWN)?);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn a_time_has_a_unit() {
        for (text, secs) in [("90s", 90), ("45m", 2_700), ("8h", 28_800), ("2d", 172_800)] {
            assert_eq!(time(text).unwrap().get(), secs * 1_000, "{text}");
        }
        for wrong in ["", "h", "8", "-8h", "8 h", "1.5h", "99999999999999999999d", "8w"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
