//! What a pool of workers costs beside the work: the processor time of each issue above that of the same work typed by
//! hand, and what a pool takes that has nothing to do.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::ground::{Failure, Ground};
use crate::process::{command, shipped, succeed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, time};

const ROUNDS: usize = 5;
const ISSUES: usize = 20;
const MILLIS_AT_MOST: f64 = 50.0;
const IDLE: Duration = Duration::from_secs(30);
const IDLE_AT_MOST: f64 = 0.001;

/// The work on one issue.
const WORK: &str = "echo x > \"file-$JIT_ISSUE_ID\"";

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let (mut by_hand, mut pooled) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        by_hand.push(Site::new(ground, &format!("hand-{round}"), ISSUES)?.by_hand()?);
        pooled.push(Site::new(ground, &format!("pool-{round}"), ISSUES)?.pooled()?);
    }
    let compare = |with: fn(f64, f64) -> f64| {
        Spread::of(pooled.iter().zip(&by_hand).map(|(pool, hand)| with(*pool, *hand)).collect())
    };
    let own = compare(|pool, hand| (pool - hand) * 1_000.0).map(|spread| spread.divided(ISSUES));
    let each = |seconds: &Vec<f64>| Some(Spread::of(seconds.clone())?.divided(ISSUES).middle);
    let (Some(own), Some(hand), Some(pool)) = (own, each(&by_hand), each(&pooled)) else {
        return Err("nothing was measured".into());
    };
    let idle = Site::new(ground, "idle", 0)?.idle()?;
    Ok(vec![
        Row {
            work: "jit dispatch, processor time of an issue".into(),
            peer: format!("start, the command, finish {}", time(hand)),
            ours: format!("{} (+{:.0} ms)", time(pool), own.middle),
            ratio: compare(|pool, hand| pool / hand),
            aim: Aim::bound(format!("≤ +{MILLIS_AT_MOST} ms"), own.middle <= MILLIS_AT_MOST),
        },
        Row {
            work: "jit dispatch with nothing to do".into(),
            peer: "a core".into(),
            ours: format!("{:.3} %", idle * 100.0),
            ratio: None,
            aim: Aim::bound(format!("≤ {} %", IDLE_AT_MOST * 100.0), idle <= IDLE_AT_MOST),
        },
    ])
}

/// A repository with issues.
struct Site {
    program: PathBuf,
    main: PathBuf,
    beside: PathBuf,
}

impl Site {
    fn new(ground: &Ground, name: &str, issues: usize) -> Result<Self, Failure> {
        let folder = ground.folder(name)?;
        let site = Self {
            program: shipped(ground, "jit")?,
            main: folder.join("main"),
            beside: folder.join("beside"),
        };
        std::fs::create_dir_all(&site.main)?;
        succeed(site.dressed("git", &site.main).args(["init", "-q", "-b", "main"]))?;
        for number in 0..100 {
            std::fs::write(site.main.join(format!("file-{number}")), number.to_string())?;
        }
        succeed(site.dressed(&site.program, &site.main).arg("init"))?;
        for number in 0..issues {
            let title = format!("task {number}");
            succeed(site.dressed(&site.program, &site.main).args(["create", "--title", &title]))?;
        }
        succeed(site.dressed("git", &site.main).args(["add", "-A"]))?;
        succeed(site.dressed("git", &site.main).args(["commit", "-q", "-m", "all"]))?;
        let path = site.beside.to_string_lossy().into_owned();
        succeed(site.dressed("git", &site.main).args(["worktree", "add", "-q", "--detach", &path]))?;
        Ok(site)
    }

    fn dressed(&self, program: impl AsRef<Path>, at: &Path) -> Command {
        let mut command = command(program, at);
        command.env("JIT_CONFIG_HOME", at).env("JIT_AGENT_ID", "agent:measured").env("JIT", &self.program);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@example.org");
        }
        command
    }

    fn by_hand(&self) -> Result<f64, Failure> {
        let one = format!("JIT_ISSUE_ID=$(\"$JIT\" -q start) && sh -c '{WORK}' && \"$JIT\" -q finish -a >&2");
        let script = format!("export JIT_ISSUE_ID; for i in $(seq {ISSUES}); do {one} || exit 1; done");
        self.processor_time(&script, &self.beside)
    }

    fn pooled(&self) -> Result<f64, Failure> {
        let script = format!("\"$JIT\" -q dispatch -n 2 --drain -- sh -c '{WORK}' >&2");
        self.processor_time(&script, &self.main)
    }

    /// The processor time of all that a script starts, in seconds. All issues have to be done afterwards.
    fn processor_time(&self, script: &str, at: &Path) -> Result<f64, Failure> {
        let script = format!("set -e\n{script}\ntimes");
        let mut shell = self.dressed("sh", at);
        let ended = shell.args(["-c", &script]).stdout(Stdio::piped()).output()?;
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        if !ended.status.success() {
            return Err(format!("{script}: {}", String::from_utf8_lossy(&ended.stderr)).into());
        }
        let mut done = self.dressed(&self.program, &self.main);
        let done = done.args(["--json", "list", "--state", "done"]).stdout(Stdio::piped()).output()?;
        let done = String::from_utf8_lossy(&done.stdout).matches("\"state\":\"done\"").count();
        if done != ISSUES {
            return Err(format!("{done} of {ISSUES} issues are done").into());
        }
        // The last line is what all children took: minutes and seconds, of the user and of the system.
        let fields = said.lines().last().unwrap_or_default().split_whitespace();
        fields.map(seconds).sum::<Option<f64>>().ok_or_else(|| format!("no times: {said}").into())
    }

    /// The part of a core that a pool takes while there is nothing to do.
    fn idle(&self) -> Result<f64, Failure> {
        let mut pool = self.dressed(&self.program, &self.main);
        let mut pool = pool.args(["dispatch", "-n", "2", "--", "true"]).stderr(Stdio::null()).spawn()?;
        // What it takes to begin is over by then.
        std::thread::sleep(Duration::from_secs(3));
        let used = used_while(&pool, IDLE);
        pool.kill()?;
        pool.wait()?;
        used
    }
}

fn used_while(pool: &Child, span: Duration) -> Result<f64, Failure> {
    let (start, before) = (Instant::now(), on_processor(pool.id())?);
    std::thread::sleep(span);
    Ok((on_processor(pool.id())? - before) / start.elapsed().as_secs_f64())
}

/// How long all threads of a process have run so far, in seconds.
fn on_processor(pid: u32) -> Result<f64, Failure> {
    let mut nanos = 0.0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let said = std::fs::read_to_string(task?.path().join("schedstat"))?;
        nanos += said.split_whitespace().next().unwrap_or_default().parse::<f64>()?;
    }
    Ok(nanos / 1e9)
}

/// The seconds of `1m2.34s`.
fn seconds(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.trim_end_matches('s').split_once('m')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
}
