//! `jit issue create` and `update` as whole commands, in a repository with ten thousand issues against one with
//! a hundred: a change of one issue must not cost more because there are others.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{command, shipped, succeed};
use crate::row::Row;
use crate::stats::Spread;

const ROUNDS: usize = 61;
const AT_MOST: f64 = 1.2;
const FEW: usize = 100;
const MANY: usize = 10_000;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let (few, many) = (Tracker::new(ground, "few", FEW)?, Tracker::new(ground, "many", MANY)?);
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for tracker in [&few, &many] {
        contenders.push(tracker.timing(&["issue", "create", "--title", "One more"]));
        contenders.push(tracker.updating());
    }
    let times = rounds(ROUNDS, &mut contenders)?;
    let [create, update, create_many, update_many] = times.as_slice() else {
        return Err("nothing was measured".into());
    };
    let rows = [row("jit issue create", create, create_many), row("jit issue update", update, update_many)];
    rows.into_iter().collect::<Option<_>>().ok_or_else(|| "nothing was measured".into())
}

fn row(work: &str, few: &[Duration], many: &[Duration]) -> Option<Row> {
    let ratio = Spread::of_ratios(many, few)?;
    let (peer, ours) = (Spread::of_times(few)?, Spread::of_times(many)?);
    Some(Row::of_times(
        &format!("{work}, {MANY} issues"),
        (&format!("{FEW} issues"), peer),
        ours,
        ratio,
        AT_MOST,
    ))
}

/// A repository with many issues, all of them committed, and a claim on one.
struct Tracker {
    program: PathBuf,
    at: PathBuf,
    issue: String,
}

impl Tracker {
    fn new(ground: &Ground, name: &str, issues: usize) -> Result<Self, Failure> {
        let (program, at) = (shipped(ground, "jit"), ground.folder(name)?);
        let mut tracker = Self { program, at, issue: String::new() };
        succeed(command("git", &tracker.at).args(["init", "-q"]))?;
        succeed(tracker.jit(&["init"]).arg("--quiet"))?;
        let id =
            tracker.jit(&["-q", "issue", "create", "--title", "Measured"]).stdout(Stdio::piped()).output()?;
        tracker.issue = String::from_utf8(id.stdout)?.trim().to_owned();
        tracker.fill(issues)?;
        succeed(command("git", &tracker.at).args(["add", "."]))?;
        let person = ["-c", "user.name=measured", "-c", "user.email=m@example.org"];
        succeed(command("git", &tracker.at).args(person).args(["commit", "-q", "-m", "issues"]))?;
        succeed(&mut tracker.jit(&["claim", "acquire", &tracker.issue, "--ttl", "86400"]))?;
        Ok(tracker)
    }

    /// Puts issues there, each with a label, as quickly as files can be written.
    fn fill(&self, issues: usize) -> Result<(), Failure> {
        for n in 0..issues {
            let id = format!("01K{n:023}");
            let home = self.at.join(".jit/issues").join(&id);
            std::fs::create_dir_all(&home)?;
            let at = "2026-01-01T00:00:00.000Z";
            let issue = format!(
                "{{\"id\":\"{id}\",\"title\":\"Issue {n}\",\"state\":\"ready\",\"created_at\":\"{at}\",\"updated_at\":\"{at}\"}}\n"
            );
            std::fs::write(home.join("issue.json"), issue)?;
        }
        Ok(())
    }

    fn jit(&self, args: &[&str]) -> Command {
        let mut command = command(&self.program, &self.at);
        command.env("JIT_AGENT_ID", "agent:measured").env("JIT_CONFIG_HOME", &self.at).args(args);
        command
    }

    fn timing(&self, args: &'static [&'static str]) -> Contender<'_> {
        Box::new(move || timed(|| succeed(&mut self.jit(args))))
    }

    /// Changes something each time.
    fn updating(&self) -> Contender<'_> {
        let mut round = 0;
        Box::new(move || {
            round += 1;
            let title = format!("Measured {round} times");
            timed(|| succeed(&mut self.jit(&["issue", "update", &self.issue, "--title", &title])))
        })
    }
}
