//! What becomes of an issue once the command that worked on it has ended.

use std::os::unix::ffi::OsStrExt as _;

use holdfast_tracker::claims::Terms;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issues, Scope, Standing, State};
use holdfast_tracker::run::{Attempts, Ended, Input, NEEDS_ATTENTION, Start, Why, lost};
use holdfast_tracker::writes::Writer;
use holdfast_tracker::{Session, durable, keep, land, notes, take, worktrees};
use serde_json::Value;

use super::guarded::Fate;
use super::{Outcome, Ran, Work, inside, internal};
use crate::commands::guardian::Landing;
use crate::vars;

/// How many files are named that are in no commit.
const MOST_NAMED: usize = 10;

/// More than the word of a landing can be.
const LONGEST: usize = 1 << 20;

/// Errors of a landing that say nothing about the work.
const NOT_ITS_FAULT: [&str; 3] = ["TARGET_MOVING", "INTERRUPTED", "NOTHING_TO_LAND"];

impl Work<'_> {
    /// Finishes, gives back, or leaves alone what the command did itself.
    pub(super) fn settle(&mut self, fate: Fate) -> Result<Ran> {
        let ran = self.ran(Outcome::Dropped);
        match fate {
            // That says nothing about the issue, and the next one would fare no better.
            Fate::NotStarted(why) => {
                let ran = self.give_back(ran, &why, false)?;
                Ok(Ran { outcome: Outcome::NotStarted, ..ran })
            }
            Fate::Unguarded => {
                self.record.end_all(self.session.sys());
                self.give_back(ran, "the guardian was killed, and the command with it", false)
            }
            Fate::Ended(ended) => {
                let ran = Ran { exit_code: ended.code, ..ran };
                self.ended(ran, &ended)
            }
        }
    }

    fn ended(&mut self, ran: Ran, ended: &Ended) -> Result<Ran> {
        if let Some(Why::Lost(why)) = &ended.why {
            return Ok(Ran { outcome: Outcome::Lost, reason: Some(why.clone()), ..ran });
        }
        if !self.is_held()? {
            return self.by_itself(ran);
        }
        match (self.guarded.interrupted, ended.code) {
            (Some(signal), _) => self.give_back(ran, &format!("stopped by signal {signal}"), false),
            (None, Some(0)) if self.typed.no_finish => self.give_back(ran, "the command ended with 0", false),
            (None, Some(0)) => self.finish(ran),
            (None, Some(code)) => self.give_back(ran, &format!("the command ended with {code}"), true),
            (None, None) => {
                let signal = ended.signal.unwrap_or_default();
                self.give_back(ran, &format!("signal {signal} ended the command"), true)
            }
        }
    }

    fn id(&self) -> Result<IssueId> {
        IssueId::parse(&self.begun.issue.id).ok_or_else(|| internal("an issue without an id"))
    }

    fn is_held(&self) -> Result<bool> {
        land::is_held(&self.session, &self.begun.taken.lease)
    }

    /// What the command has made of the issue by itself, if it was not somebody else.
    fn by_itself(&self, ran: Ran) -> Result<Ran> {
        // Whoever slept for too long may come to the end of the command before its guardian looks at the claim.
        if let Some(why) = lost(&self.session, self.begun.taken.lease.id)? {
            return Ok(Ran { outcome: Outcome::Lost, reason: Some(why), ..ran });
        }
        let id = self.id()?;
        let seen =
            Issues::new(&self.session).see(id, Scope::All, |seen| (seen.issue.state, seen.standing.clone()));
        let outcome = match seen {
            Ok((State::Done, Standing::OnBranch { .. })) => Outcome::Waiting,
            Ok((State::Done, _)) => Outcome::Landed,
            Ok((State::Gated, _)) => Outcome::Gated,
            _ => Outcome::Released,
        };
        if outcome != Outcome::Released {
            Attempts::forget(&self.session, id);
        }
        Ok(Ran { outcome, ..ran })
    }

    /// Commits and lands what the command did. That is done below the guardian, too: whatever gates start ends with it.
    pub(super) fn finish(&mut self, ran: Ran) -> Result<Ran> {
        let id = self.id()?;
        if self.is_homeless() {
            let why = format!("its worktree was removed: {}", self.root.display());
            return self.give_back(ran, &why, true);
        }
        if let Err(error) = Attempts::work(&self.session, id, ran.fence) {
            self.context.printer.warn(&format!("if this is killed, the command is run again: {error}"));
        }
        let program = vars::program().ok_or_else(|| internal("a program that is nowhere"))?;
        let (root, agent) = (self.root.as_os_str(), self.session.agent()?.id.to_string());
        let words: [&[u8]; 10] = [
            program.as_os_str().as_bytes(),
            b"-C",
            root.as_bytes(),
            b"--agent-id",
            agent.as_bytes(),
            b"--quiet",
            b"guardian",
            self.record.mark.as_bytes(),
            b"--finish",
            ran.id.as_bytes(),
        ];
        let fate = self.guarded.run(Start {
            words: words.map(<[u8]>::to_vec).to_vec(),
            directory: self.root.clone(),
            variables: Vec::new(),
            input: Input::Nothing,
            log: None,
            in_foreground: false,
        })?;
        let told = durable::read(self.session.sys(), &self.record.outcome(), LONGEST)?;
        let told = told.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match (fate, told) {
            (Fate::Ended(_), Some(Landing::Finished(ended))) => {
                Attempts::forget(&self.session, id);
                Ok(landed(ran, &ended))
            }
            (Fate::Ended(_), Some(Landing::Failed { code, message })) => {
                self.not_landed(ran, &code, &message)
            }
            // It may have landed: whoever comes next finds out and goes on.
            (Fate::Ended(Ended { why: Some(Why::Lost(why)), .. }), None) => {
                Ok(Ran { outcome: Outcome::Lost, reason: Some(why), ..ran })
            }
            (Fate::NotStarted(why), _) => self.give_back(ran, &format!("it cannot be finished: {why}"), true),
            (Fate::Ended(_) | Fate::Unguarded, _) => Ok(Ran { outcome: Outcome::CutOff, ..ran }),
        }
    }

    fn not_landed(&self, ran: Ran, code: &str, message: &str) -> Result<Ran> {
        if !self.is_held()? {
            // What is done waits on its branch for the target to be free.
            let ran = self.by_itself(ran)?;
            return Ok(Ran { reason: ran.reason.clone().or_else(|| Some(message.to_owned())), ..ran });
        }
        let failed = !NOT_ITS_FAULT.contains(&code);
        let why = match code {
            "NO_CHANGE" => "the command ended with 0 and changed nothing",
            _ => message,
        };
        self.give_back(ran, why, failed)
    }

    /// Gives the issue back.
    pub(super) fn give_back(&self, ran: Ran, why: &str, failed: bool) -> Result<Ran> {
        let (id, fence) = (self.id()?, ran.fence);
        let mut ran = Ran { outcome: Outcome::Dropped, reason: Some(why.to_owned()), ..ran };
        if failed {
            ran = self.counted(ran, id, fence);
        }
        if self.is_homeless() {
            return self.give_back_from_elsewhere(ran, id, why);
        }
        if ran.needs_attention {
            label(&self.session, id)?;
        }
        let given = land::give_back(&self.session, id, Some(&self.note(&ran, why)));
        if let Err(error) = given {
            // Another clone has landed it meanwhile.
            if !self.is_held()? {
                return self.by_itself(ran);
            }
            // Where the worktree is gone, the claim can still be given back.
            self.context.printer.warn(&format!("{} could not be given back as it was: {error}", ran.handle));
            keep::release(&self.session, &self.begun.taken.lease.id.to_string())?;
        }
        if ran.needs_attention {
            // Whoever takes the label away gives it as many attempts again.
            Attempts::forget(&self.session, id);
        }
        Ok(ran)
    }

    /// Whether the worktree was removed under the command. Whatever is written there would make a directory that nobody
    /// knows of.
    fn is_homeless(&self) -> bool {
        self.session.repository().is_some() && self.session.sys().files.stat(&self.root.join(".git")).is_err()
    }

    /// Gives an issue back whose worktree is gone: what there is to say is written in another one.
    fn give_back_from_elsewhere(&self, ran: Ran, id: IssueId, why: &str) -> Result<Ran> {
        let gone = format!("its worktree was removed: {}", self.root.display());
        let why = if why == gone { gone } else { format!("{gone} ({why})") };
        notes::add(&self.session, id, &format!("given back: {}", self.note(&ran, &why)))?;
        keep::release(&self.session, &self.begun.taken.lease.id.to_string())?;
        if ran.needs_attention {
            let places = self.session.worktrees()?;
            let place = places.iter().find(|entry| !entry.gone && entry.root != self.root);
            let place = place.ok_or_else(|| internal("a repository without a worktree"))?;
            let there = inside(&self.session.caller, &place.root)?;
            let terms = Terms::parse(self.typed.ttl.as_deref(), None, there.config(), there.agent()?)?;
            let taken = take::acquire(&there, id, &terms, None)?;
            let labelled = label(&there, id);
            keep::release(&there, &taken.lease.id.to_string())?;
            labelled?;
            Attempts::forget(&there, id);
        }
        Ok(Ran { reason: Some(why), ..ran })
    }

    /// Counts a failed attempt. An issue that nobody can tell how often it failed on needs attention: it could be offered
    /// for ever.
    fn counted(&self, mut ran: Ran, id: IssueId, fence: u64) -> Ran {
        match Attempts::count(&self.session, id, fence) {
            Ok(Attempts { failed, .. }) => {
                ran.failed_attempts = failed;
                ran.needs_attention = self.typed.attempts.is_some_and(|most| failed >= most);
            }
            Err(error) => {
                self.context
                    .printer
                    .warn(&format!("nobody can tell how often {} has failed: {error}", ran.handle));
                ran.failed_attempts = 1;
                ran.needs_attention = self.typed.attempts.is_some();
            }
        }
        ran
    }

    /// What whoever comes next has to know. It is pushed, so it says where output is and not what it says.
    fn note(&self, ran: &Ran, why: &str) -> String {
        let mut note = why.to_owned();
        if ran.failed_attempts > 0 {
            note.push_str(&format!(" (failed attempt {})", ran.failed_attempts));
        }
        if let Some(branch) = &ran.branch {
            note.push_str(&format!("\nbranch: {branch}"));
        }
        match self.dirty() {
            Ok(dirty) if dirty.is_empty() => {}
            Ok(dirty) => {
                // Others have no use for a path of this machine; its last part tells worktrees apart.
                let name = self.root.file_name().unwrap_or_default().to_string_lossy();
                note.push_str(&format!("\nnot committed in its worktree {name}: {}", dirty.join(", ")));
            }
            Err(error) => {
                note.push_str(&format!("\nwhat is not committed in its worktree cannot be told: {error}"));
            }
        }
        if let Some(log) = &self.log {
            let path = log.path.strip_prefix(self.session.control()).unwrap_or(&log.path);
            note.push_str(&format!(
                "\noutput: jit dispatch logs {} ({} in the control plane)",
                ran.handle,
                path.display()
            ));
        }
        note
    }

    /// The files of the worktree that are in no commit.
    fn dirty(&self) -> Result<Vec<String>> {
        if self.session.repository().is_none() || self.is_homeless() {
            return Ok(Vec::new());
        }
        let mut named = worktrees::uncommitted(&self.root)?;
        let more = named.len().saturating_sub(MOST_NAMED);
        named.truncate(MOST_NAMED);
        if more > 0 {
            named.push(format!("and {more} more"));
        }
        Ok(named)
    }
}

/// Has no pool take an issue any more.
fn label(session: &Session, id: IssueId) -> Result<()> {
    let writer = Writer::open(session)?;
    writer.change(id, "labelling", |draft| draft.label(NEEDS_ATTENTION, true).map(drop))?;
    Ok(())
}

/// A run whose issue was finished.
fn landed(ran: Ran, ended: &Value) -> Ran {
    let text = |name: &str| ended.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let outcome = match text("outcome").as_deref() {
        Some("landed") => Outcome::Landed,
        Some("gated") => Outcome::Gated,
        Some("waiting") => Outcome::Waiting,
        _ => Outcome::Done,
    };
    let reason = match outcome {
        Outcome::Gated => {
            let open = ended.get("open_gates").and_then(Value::as_array).into_iter().flatten();
            Some(open.filter_map(Value::as_str).collect::<Vec<_>>().join(", ") + " open")
        }
        _ => text("reason"),
    };
    Ran { outcome, reason, branch: text("branch").or(ran.branch), commit: text("commit"), ..ran }
}
