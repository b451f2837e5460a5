//! The director: sets the stage, starts the agents, kills one and stops another at the worst moment, and
//! has the log judged at the end.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::json;

use super::audit::Audit;
use super::ground::Ground;
use super::lanes::{Lanes, Mark};
use super::{CAST, Told};
use crate::context::Context;
use crate::error::{Error, Exit, Result};
use crate::output::Report;

/// Who is killed, and who is stopped: each as soon as it holds something that it did not win in the race.
const KILLED: usize = 3;
const STOPPED: usize = 2;

/// Shows it.
///
/// # Errors
/// When the stage cannot be set, or an agent does what is not in the play.
pub fn run(context: &Context, keep: bool) -> Result<Report> {
    let ground = Ground::new(context, keep)?;
    let issues = ground.issues()?;
    let (wanted, _) = issues.first().cloned().unwrap_or_default();
    let say = |text: &str| context.printer.live(text);
    say(&format!("A repository with four worktrees, in {}. The issues:", ground.path("main").display()));
    for (number, (_, title)) in issues.iter().enumerate() {
        say(&format!("  #{} {title}", number + 1));
    }
    say("Four agents start at once. All want #1 first; then each takes what is available.\n");
    let lanes = Lanes::new(context.printer, context.sys.clock.now()?, issues.clone());
    let mut play = Play::start(context, &ground, lanes, &wanted)?;
    play.watch()?;
    let audit = Audit::of(&ground, &issues)?;
    let stopped = play.refused;
    let ok = audit.problems.is_empty() && stopped && play.killed.is_some();
    let verdict = if ok { "nothing was lost, nothing was done twice" } else { "this is not as it should be" };
    let path = keep.then(|| ground.path("main"));
    let mut text = format!("\n{}\n", audit.text());
    text.push_str(&format!("{verdict}\n"));
    if let Some(path) = &path {
        text.push_str(&format!("the repository is kept: cd {}\n", path.display()));
    }
    let json = json!({ "demo": {
        "ok": ok,
        "issues": audit.stories,
        "problems": audit.problems,
        "late_write_refused": stopped,
        "repository": path.map(|path| path.to_string_lossy().into_owned()),
    }});
    Ok(Report::new(text, &json).brief(verdict).exit(if ok { Exit::Ok } else { Exit::Problems }))
}

/// A play that is on.
struct Play<'a> {
    context: &'a Context,
    lanes: Lanes,
    agents: Vec<Child>,
    heard: Receiver<(usize, Option<Told>)>,
    wanted: String,
    killed: Option<String>,
    stopped: Option<String>,
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
        Ok(Self { context, lanes, agents, heard, wanted, killed: None, stopped: None, refused: false })
    }

    /// Draws what happens until every agent has left.
    fn watch(&mut self) -> Result<()> {
        let mut left = 0;
        while left < self.agents.len() {
            // Every agent that ends, however it ends, closes its end of the pipe.
            let Ok((agent, told)) = self.heard.recv() else { break };
            match told {
                Some(told) => self.follow(agent, &told)?,
                None => left += 1,
            }
        }
        for agent in &mut self.agents {
            let _ = agent.wait();
        }
        Ok(())
    }

    fn follow(&mut self, agent: usize, told: &Told) -> Result<()> {
        let now = self.context.sys.clock.now()?;
        self.lanes.draw(&now, agent, &Mark::Told(told));
        match told {
            Told::Claimed { issue, .. } if *issue == self.wanted => {}
            Told::Claimed { issue, .. } if agent == KILLED && self.killed.is_none() => {
                self.killed = Some(issue.clone());
                self.signal(agent, rustix::process::Signal::KILL)?;
                self.lanes.draw(&now, agent, &Mark::Fate("killed (kill -9)"));
            }
            Told::Claimed { issue, .. } if agent == STOPPED && self.stopped.is_none() => {
                self.stopped = Some(issue.clone());
                self.signal(agent, rustix::process::Signal::STOP)?;
                self.lanes.draw(&now, agent, &Mark::Fate("stopped (kill -STOP)"));
            }
            Told::Done { issue } if self.stopped.as_ref() == Some(issue) && agent != STOPPED => {
                self.signal(STOPPED, rustix::process::Signal::CONT)?;
                self.lanes.draw(&now, STOPPED, &Mark::Fate("wakes up"));
            }
            Told::Refused { issue, .. } => self.refused |= self.stopped.as_ref() == Some(issue),
            _ => {}
        }
        Ok(())
    }

    fn signal(&self, agent: usize, signal: rustix::process::Signal) -> Result<()> {
        let pid = self.agents.get(agent).and_then(|agent| i32::try_from(agent.id()).ok());
        let sent = pid.and_then(rustix::process::Pid::from_raw).map(|pid| rustix::process::kill_process(pid, signal));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(Error::Usage(format!("{} cannot be sent a signal", CAST.get(agent).unwrap_or(&"nobody")))),
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
fn listen(number: usize, agent: &mut Child, tell: Sender<(usize, Option<Told>)>) {
    let Some(pipe) = agent.stdout.take() else { return };
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(std::result::Result::ok) {
            if let Ok(told) = serde_json::from_str(&line) {
                let _ = tell.send((number, Some(told)));
            }
        }
        let _ = tell.send((number, None));
    });
}
