//! From claim to landed: `jit start` against the claim that it makes, and `jit finish` against the git commands that it
//! stands for.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{command, shipped, succeed};
use crate::row::Row;
use crate::stats::Spread;

const ROUNDS: usize = 21;
const START_AT_MOST: f64 = 2.0;
const FINISH_AT_MOST: f64 = 3.0;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let names = ["claim", "start", "git", "finish"];
    let sites = names.map(|name| Site::new(ground, name));
    let [claim, start, git, finish] = sites;
    let (claim, start, mut git, mut finish) = (claim?, start?, git?, finish?);
    let mut contenders: [Contender<'_>; 4] = [
        Box::new(|| claim.claim()),
        Box::new(|| start.start()),
        Box::new(|| git.by_hand()),
        Box::new(|| finish.finish()),
    ];
    let times = rounds(ROUNDS, &mut contenders)?;
    let [claim, start, git, finish] = times.as_slice() else { return Err("nothing was measured".into()) };
    let rows = [
        row("jit start", ("jit claim next", claim), start, START_AT_MOST),
        row("jit finish", ("merge-tree, commit-tree, update-ref, read-tree", git), finish, FINISH_AT_MOST),
    ];
    rows.into_iter().collect::<Option<_>>().ok_or_else(|| "nothing was measured".into())
}

fn row(work: &str, peer: (&str, &Vec<Duration>), ours: &[Duration], at_most: f64) -> Option<Row> {
    let (name, peer) = peer;
    let ratio = Spread::of_ratios(ours, peer)?;
    Some(Row::of_times(work, (name, Spread::of_times(peer)?), Spread::of_times(ours)?, ratio, at_most))
}

/// A repository with a worktree beside it.
struct Site {
    program: PathBuf,
    main: PathBuf,
    beside: PathBuf,
    done: u32,
}

impl Site {
    fn new(ground: &Ground, name: &str) -> Result<Self, Failure> {
        let folder = ground.folder(name)?;
        let (main, beside) = (folder.join("main"), folder.join("beside"));
        std::fs::create_dir_all(&main)?;
        let site = Self { program: shipped(ground, "jit")?, main, beside, done: 0 };
        site.git(&site.main, &["init", "-q", "-b", "main"])?;
        for number in 0..100 {
            std::fs::write(site.main.join(format!("file-{number}")), number.to_string())?;
        }
        site.jit(&site.main, &["init"])?;
        site.commit(&site.main)?;
        let path = site.beside.to_string_lossy().into_owned();
        site.git(&site.main, &["worktree", "add", "-q", "--detach", &path])?;
        Ok(site)
    }

    fn jit(&self, at: &Path, args: &[&str]) -> Result<(), Failure> {
        succeed(dressed(&mut command(&self.program, at)).args(args))
    }

    fn git(&self, at: &Path, args: &[&str]) -> Result<(), Failure> {
        succeed(dressed(&mut command("git", at)).args(args))
    }

    /// What git answers.
    fn ask(&self, at: &Path, args: &[&str]) -> Result<String, Failure> {
        let mut git = Command::new("git");
        let ended = dressed(git.current_dir(at)).args(args).output()?;
        Ok(String::from_utf8(ended.stdout)?.trim().to_owned())
    }

    fn commit(&self, at: &Path) -> Result<(), Failure> {
        self.git(at, &["add", "-A"])?;
        self.git(at, &["commit", "-q", "-m", "work"])
    }

    fn claim(&self) -> Result<Duration, Failure> {
        self.jit(&self.main, &["create", "--title", "one"])?;
        let took = timed(|| self.jit(&self.beside, &["claim", "next"]))?;
        self.finish_off()?;
        Ok(took)
    }

    fn start(&self) -> Result<Duration, Failure> {
        self.jit(&self.main, &["create", "--title", "one"])?;
        let took = timed(|| self.jit(&self.beside, &["start"]))?;
        self.finish_off()?;
        Ok(took)
    }

    /// Ends what was begun without any work, so that there is as much to look at each time.
    fn finish_off(&self) -> Result<(), Failure> {
        self.jit(&self.beside, &["finish", "--empty", "-m", "nothing"])
    }

    fn finish(&mut self) -> Result<Duration, Failure> {
        self.jit(&self.main, &["create", "--title", "one"])?;
        self.jit(&self.beside, &["start"])?;
        self.work()?;
        timed(|| self.jit(&self.beside, &["finish"]))
    }

    /// The same by hand, without issues.
    fn by_hand(&mut self) -> Result<Duration, Failure> {
        self.git(&self.beside, &["switch", "-q", "-C", "topic", "main"])?;
        self.work()?;
        let (old, topic) =
            (self.ask(&self.main, &["rev-parse", "main"])?, self.ask(&self.beside, &["rev-parse", "HEAD"])?);
        timed(|| {
            let tree = self.ask(&self.beside, &["merge-tree", "--write-tree", &old, &topic])?;
            let tip = self.ask(&self.beside, &["commit-tree", &tree, "-p", &old, "-m", "landed"])?;
            self.git(&self.main, &["update-ref", "refs/heads/main", &tip, &old])?;
            self.git(&self.main, &["read-tree", "-m", "-u", &old, &tip])
        })
    }

    /// A commit of work on the branch of the worktree.
    fn work(&mut self) -> Result<(), Failure> {
        self.done += 1;
        std::fs::write(self.beside.join("work"), self.done.to_string())?;
        self.git(&self.beside, &["add", "work"])?;
        self.git(&self.beside, &["commit", "-q", "-m", "work"])
    }
}

/// A command of somebody who has a name.
pub(crate) fn dressed(command: &mut Command) -> &mut Command {
    command.env("JIT_AGENT_ID", "agent:bench").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for (name, value) in [("NAME", "bench"), ("EMAIL", "bench@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    command
}
