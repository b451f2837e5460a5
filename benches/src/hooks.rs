//! Hooks as git runs them: on a thousand staged issues against the least that git needs to name them, and on a
//! commit that touches no issue against a hook that does nothing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{command, shipped, succeed};
use crate::row::Row;
use crate::stats::Spread;

const ISSUES: usize = 1_000;
/// What a crowd of agents holds at once.
const CLAIMED: usize = 20;
const ROUNDS: usize = 41;
/// Two programs that live for a millisecond or two are told apart by many runs only.
const IDLE_ROUNDS: usize = 301;
const AT_MOST: f64 = 3.0;
/// A shell is half of this by itself, and starting a program that does nothing nearly the other half: the second row shows it.
const IDLE_AT_MOST: f64 = 2.0;
const STARTED_AT_MOST: f64 = 1.3;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let tracker = Tracker::new(ground)?;
    let mut rows = Vec::new();

    tracker.git(&["add", "-A"])?;
    // Git writes the trees of what is staged before it runs a hook.
    tracker.git(&["write-tree"])?;
    let message = tracker.at.join("message");
    std::fs::write(&message, "work\n")?;
    let message = message.to_string_lossy().into_owned();
    let naming = || succeed(command("git", &tracker.at).args(["diff", "--cached", "--name-only"]));
    let judging = || succeed(&mut tracker.jit(&["hook", "pre-commit"]));
    let telling = || succeed(&mut tracker.jit(&["hook", "prepare-commit-msg", &message, "message"]));
    let contenders: &mut [Contender<'_>] =
        &mut [Box::new(|| timed(naming)), Box::new(|| timed(judging)), Box::new(|| timed(telling))];
    let times = rounds(ROUNDS, contenders)?;
    let [git, commit, message] = times.as_slice() else { return Err("nothing was measured".into()) };
    let peer = "git diff --cached --name-only";
    rows.extend(row("jit hook pre-commit, 1,000 issues", (peer, git), commit, AT_MOST));
    rows.extend(row("jit hook prepare-commit-msg, 1,000 issues", (peer, git), message, AT_MOST));

    tracker.git(&["commit", "-q", "--no-verify", "-m", "all"])?;
    // The hook renews what its agent holds, so it reads the claims.
    for id in ids().skip(CLAIMED) {
        succeed(&mut tracker.jit(&["-q", "claim", "release", &id]))?;
    }
    std::fs::write(tracker.at.join("README"), "something else\n")?;
    tracker.git(&["add", "README"])?;
    tracker.git(&["write-tree"])?;
    let empty = tracker.at.join(".git/hooks/empty");
    script(&empty, "#!/bin/sh\nexit 0\n")?;
    let (starting, program) = (tracker.at.join(".git/hooks/starting"), shipped(ground, "empty")?);
    let program = program.display();
    script(&starting, &format!("#!/bin/sh\n[ -x '{program}' ] && exec '{program}'\n"))?;
    let idle: Contender<'_> = Box::new(|| timed(|| succeed(&mut command(&empty, &tracker.at))));
    let least: Contender<'_> = Box::new(|| timed(|| succeed(&mut command(&starting, &tracker.at))));
    let ours: Contender<'_> =
        Box::new(|| timed(|| succeed(&mut tracker.start(tracker.at.join(".git/hooks/pre-commit")))));
    let times = rounds(IDLE_ROUNDS, &mut [idle, least, ours])?;
    let [idle, least, ours] = times.as_slice() else { return Err("nothing was measured".into()) };
    rows.extend(row(
        "the pre-commit hook, no issue touched, 20 claims",
        ("an empty hook", idle),
        ours,
        IDLE_AT_MOST,
    ));
    rows.extend(row("the same", ("a hook that starts an empty program", least), ours, STARTED_AT_MOST));
    Ok(rows)
}

fn row(work: &str, peer: (&str, &Vec<Duration>), ours: &[Duration], at_most: f64) -> Option<Row> {
    let (name, peer) = peer;
    let ratio = Spread::of_ratios(ours, peer)?;
    Some(Row::of_times(work, (name, Spread::of_times(peer)?), Spread::of_times(ours)?, ratio, at_most))
}

fn script(path: &Path, text: &str) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text)?;
    Ok(std::fs::set_permissions(path, PermissionsExt::from_mode(0o755))?)
}

/// A repository in which one agent holds a thousand issues and has changed them all.
struct Tracker {
    program: PathBuf,
    at: PathBuf,
}

impl Tracker {
    fn new(ground: &Ground) -> Result<Self, Failure> {
        let tracker = Self { program: shipped(ground, "jit")?, at: ground.folder("hooks")? };
        tracker.git(&["init", "-q", "-b", "main"])?;
        succeed(&mut tracker.jit(&["-q", "init"]))?;
        for id in ids() {
            tracker.write(&id, "")?;
        }
        tracker.git(&["add", "-A"])?;
        tracker.git(&["commit", "-q", "-m", "issues"])?;
        for id in ids() {
            succeed(&mut tracker.jit(&["-q", "claim", "acquire", &id, "--ttl", "86400"]))?;
        }
        let log = std::fs::read_to_string(tracker.at.join(".git/jit/claims.jsonl"))?;
        let counter = between(log.lines().next().unwrap_or_default(), "\"log_id\":\"", "\"")?;
        for line in log.lines().skip(1) {
            let fence = between(line, "\"sequence\":", ",")?;
            let id = between(line, "\"issue_id\":\"", "\"")?;
            tracker.write(id, &format!(",\n  \"fence\": {fence},\n  \"fence_log\": \"{counter}\""))?;
        }
        succeed(&mut tracker.jit(&["-q", "hooks", "install"]))?;
        Ok(tracker)
    }

    fn write(&self, id: &str, fence: &str) -> Result<(), Failure> {
        let folder = self.at.join(".jit/issues").join(id);
        std::fs::create_dir_all(&folder)?;
        let text = format!(
            "{{\n  \"id\": \"{id}\",\n  \"title\": \"Measured\",\n  \"type\": \"task\",\n  \"state\": \"ready\",\n  \
             \"priority\": \"normal\",\n  \"created_at\": \"2026-01-01T00:00:00.000Z\",\n  \
             \"updated_at\": \"2026-01-01T00:00:00.000Z\"{fence}\n}}\n"
        );
        Ok(std::fs::write(folder.join("issue.json"), text)?)
    }

    fn git(&self, args: &[&str]) -> Result<(), Failure> {
        let mut git = command("git", &self.at);
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@example.org");
        }
        succeed(git.args(args))
    }

    fn jit(&self, args: &[&str]) -> Command {
        let mut jit = self.start(&self.program);
        jit.args(args);
        jit
    }

    /// A program as the agent starts it.
    fn start(&self, program: impl AsRef<Path>) -> Command {
        let mut command = command(program, &self.at);
        command.env("JIT_AGENT_ID", "agent:measured").env("JIT_CONFIG_HOME", &self.at);
        command
    }
}

fn ids() -> impl Iterator<Item = String> {
    (0..ISSUES).map(|number| format!("01K8ZZZZZZ{number:016}"))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Result<&'a str, Failure> {
    let rest = text.split_once(before).map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once(after)).map(|(found, _)| found).ok_or_else(|| "an odd log".into())
}
