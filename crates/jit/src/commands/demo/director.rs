//! The director: sets the stage, starts the agents, kills one and stops another at the worst moment, and
//! has the log judged at the end.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, Sender, channel};

use holdfast_kernel::Stamp;
use holdfast_sys::os;
use schemars::JsonSchema;
use serde::Serialize;

use super::audit::{Audit, Story};
use super::ground::Ground;
use super::lanes::{Lanes, Mark};
use super::{AgentReport, CAST};
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::Result;

/// How the demonstration ended, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DemoOutput {
    /// How it ended.
    pub demo: Verdict,
}

/// How the demonstration ended.
#[derive(Serialize, JsonSchema)]
pub struct Verdict {
    /// Whether nothing was lost and nothing was done twice.
    pub ok: bool,
    /// What happened to each issue.
    pub issues: Vec<Story>,
    /// What is wrong.
    pub problems: Vec<String>,
    /// Whether the agent that was stopped could not write any more.
    pub late_write_refused: bool,
    /// Where the repository is, if it is kept.
    pub repository: Option<String>,
}

/// Shows it.
///
/// # Errors
/// When the stage cannot be set, or an agent does what is not in the play.
pub(super) fn run(context: &Context, keep: bool) -> Result<Report> {
    let ground = Ground::new(context, keep)?;
    let issues = ground.issues()?;
    let (wanted, _) = issues.first().cloned().unwrap_or_default();
    let say = |text: &str| context.printer.live(text);
    say(&format!("A repository with four worktrees, in {}. The issues:", ground.path("main").display()));
    for (number, (_, title)) in issues.iter().enumerate() {
        say(&format!("  #{} {title}", number + 1));
    }
    say("Four agents start at once. All want #1 first; then each takes what is available.\n");
    let lanes = Lanes::new(context.printer, context.caller.sys.clock.now()?, issues.clone());
    let mut play = Play::start(context, &ground, lanes, &wanted)?;
    play.watch()?;
    let audit = Audit::of(&ground, &issues)?;
    let ok = audit.problems.is_empty() && play.refused && play.killed.is_some();
    let verdict = if ok { "nothing was lost, nothing was done twice" } else { "this is not as it should be" };
    let path = keep.then(|| ground.path("main"));
    let mut text = format!("\n{}\n", audit.text());
    text.push_str(&format!("{verdict}\n"));
    if let Some(path) = &path {
        text.push_str(&format!("the repository is kept: cd {}\n", path.display()));
    }
    let demo = Verdict {
        ok,
        issues: audit.stories,
        problems: audit.problems,
        late_write_refused: play.refused,
        repository: path.map(|path| path.to_string_lossy().into_owned()),
    };
    Ok(Report::new(text, &DemoOutput { demo }).brief(verdict).exit(if ok {
        Exit::Ok
    } else {
        Exit::Problems
    }))
}

/// A play that is on.
struct Play<'a> {
    context: &'a Context,
    lanes: Lanes,
    agents: Vec<Child>,
    heard: Receiver<(usize, Option<AgentReport>)>,
    wanted: String,
    stopped: Option<(usize, String)>,
    killed: Option<usize>,
    refused: bool,
}

impl<'a> Play<'a> {
    fn start(context: &'a Context, ground: &Ground, lanes: Lanes, wanted: &str) -> Result<Self> {
        let (tell, heard) = channel();
        let mut agents = Vec::new();
        for (number, name) in CAST.iter().enumerate() {
            let mut agent = ground.start(name, wanted)?;
            listen(number, &mut agent, tell.clone());
            agents.push(agent);
        }
        let wanted = wanted.to_owned();
        Ok(Self { context, lanes, agents, heard, wanted, stopped: None, killed: None, refused: false })
    }

    /// Draws what happens until every agent has left.
    fn watch(&mut self) -> Result<()> {
        let mut left = 0;
        while left < self.agents.len() {
            // Every agent that ends, however it ends, closes its end of the pipe.
            let Ok((agent, report)) = self.heard.recv() else { break };
            match report {
                Some(report) => self.follow(agent, &report)?,
                None => left += 1,
            }
        }
        for agent in &mut self.agents {
            let _ = agent.wait();
        }
        Ok(())
    }

    fn follow(&mut self, agent: usize, report: &AgentReport) -> Result<()> {
        let now = self.context.caller.sys.clock.now()?;
        self.lanes.draw(&now, agent, &Mark::Report(report));
        match report {
            AgentReport::Claimed { issue, .. } if *issue != self.wanted => self.strike(&now, agent, issue)?,
            AgentReport::Done { issue } => self.wake(&now, agent, issue)?,
            AgentReport::Refused { issue, .. } => {
                self.refused |= self.stopped == Some((agent, issue.clone()))
            }
            _ => {}
        }
        Ok(())
    }

    /// Stops the first agent that holds something it did not win in the race, and kills the second. The other
    /// two bring the work to its end.
    fn strike(&mut self, now: &Stamp, agent: usize, issue: &str) -> Result<()> {
        match (&self.stopped, self.killed) {
            (None, _) => {
                self.pause(agent, true)?;
                self.stopped = Some((agent, issue.to_owned()));
                self.lanes.draw(now, agent, &Mark::Fate("stopped (kill -STOP)"));
            }
            (Some((stopped, _)), None) if *stopped != agent => {
                self.kill(agent);
                self.killed = Some(agent);
                self.lanes.draw(now, agent, &Mark::Fate("killed (kill -9)"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Wakes the stopped agent up once somebody else has done its work.
    fn wake(&self, now: &Stamp, agent: usize, issue: &str) -> Result<()> {
        if let Some((stopped, its)) = &self.stopped
            && *stopped != agent
            && its == issue
        {
            self.pause(*stopped, false)?;
            self.lanes.draw(now, *stopped, &Mark::Fate("wakes up"));
        }
        Ok(())
    }

    fn pause(&self, agent: usize, still: bool) -> Result<()> {
        match self.agents.get(agent) {
            Some(agent) => Ok(os::pause(agent.id(), still)?),
            None => Ok(()),
        }
    }

    fn kill(&mut self, agent: usize) {
        if let Some(agent) = self.agents.get_mut(agent) {
            // One that has ended by itself cannot be killed any more; the audit will tell.
            let _ = agent.kill();
        }
    }
}

impl Drop for Play<'_> {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            // Whoever is still there has nobody to play for.
            let _ = agent.kill();
            let _ = agent.wait();
        }
    }
}

/// Hands on what an agent tells, and that it has left.
fn listen(number: usize, agent: &mut Child, tell: Sender<(usize, Option<AgentReport>)>) {
    let Some(pipe) = agent.stdout.take() else { return };
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(std::result::Result::ok) {
            if let Ok(report) = serde_json::from_str(&line) {
                let _ = tell.send((number, Some(report)));
            }
        }
        let _ = tell.send((number, None));
    });
}
