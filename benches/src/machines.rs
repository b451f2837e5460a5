//! Claims that all clones share: one on a ref of a git server against a bare push of one commit to it, and one in etcd
//! against a bare transaction, as calls and as whole commands; and what many machines get and send.

mod cluster;
mod crowd;
mod day;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::landing::dressed;
use crate::process::{command, shipped, succeed};
use crate::row::Row;
use crate::stats::Spread;
use holdfast_kernel::{
    Acquire, Again, Command as Ask, Fence, Holder, KindRule, LeaseId, Limits, Millis, Mode, Name, Policy,
    Request, Tags, TtlRange,
};
use holdfast_remote::gitref::{Access, GitRef, REF};
use holdfast_remote::local::Local;
use holdfast_remote::{Settings, Shared};
use holdfast_store::{CounterId, Medium as _};
use holdfast_sys::Sys;

const ROUNDS: usize = 31;
const CALL_AT_MOST: f64 = 1.3;
const COMMAND_AT_MOST: f64 = 1.3;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let site = Site::new(ground)?;
    let shared = site.shared()?;
    let mut contenders: [Contender<'_>; 3] = [
        Box::new(|| site.push()),
        Box::new(|| taken(&shared, "one").map(|(took, _)| took)),
        Box::new(|| site.command()),
    ];
    let times = rounds(ROUNDS, &mut contenders)?;
    let [push, claim, whole] = times.as_slice() else { return Err("nothing was measured".into()) };
    let row = |work: &str, ours: &[Duration], most: f64| -> Option<Row> {
        let (peer, ratio) = (Spread::of_times(push)?, Spread::of_ratios(ours, push)?);
        let name = "git push --force-with-lease of one commit";
        Some(Row::of_times(work, (name, peer), Spread::of_times(ours)?, ratio, most))
    };
    let rows = [
        row("claim on a git ref", claim, CALL_AT_MOST),
        row("jit claim acquire on a git ref", whole, COMMAND_AT_MOST),
    ];
    let rows: Option<Vec<Row>> = rows.into_iter().collect();
    let mut rows = rows.ok_or("nothing was measured")?;
    rows.push(crowd::run("on a git ref", &|machine: &str| {
        site.clone_of(machine, "refs/worktree/jit/crowd")
    })?);
    rows.push(day::on_a_git_ref(&site)?);
    rows.extend(cluster::run(ground)?);
    Ok(rows)
}

const COUNTER: CounterId = CounterId::new(LeaseId::new(7));

fn policy() -> Policy {
    let span = Millis::from_secs;
    Policy {
        again: Again::Return,
        rule: KindRule { ttl: TtlRange { min: span(1), max: span(86_400) }, indefinite: false },
        kinds: std::collections::BTreeMap::new(),
        skew: span(30),
        grace: span(30),
        stale_after: span(60),
        limits: Limits::NONE,
    }
}

/// The wish for something, of an agent in a place of its own.
fn wish(what: &str, place: &str) -> Result<Acquire, Failure> {
    let name = |text: &str| Name::new(text).map_err(|why| why.to_string());
    Ok(Acquire {
        id: LeaseId::new(Sys::os().entropy.nonce()?),
        resource: name(what)?.into(),
        holder: Holder { agent: name("agent:bench")?, place: name(place)? },
        mode: Mode::Exclusive,
        request: Request::Finite(Millis::from_secs(600)),
        reason: None,
        tags: Tags::none(),
        dead: Vec::new(),
    })
}

/// Takes something and gives it back; says how long taking it took, and how long both.
fn taken(shared: &Shared, what: &str) -> Result<(Duration, Duration), Failure> {
    let (policy, wish) = (policy(), wish(what, "wt:00000001")?);
    let release = Ask::Release { lease: wish.id, holder: wish.holder.clone() };
    let acquire = Ask::Acquire(wish);
    let took = timed(|| shared.transact(&policy, &acquire).map(drop).map_err(Into::into))?;
    let back = timed(|| shared.transact(&policy, &release).map(drop).map_err(Into::into))?;
    Ok((took, took + back))
}

/// A clone of a bare repository, and another one whose claims are kept there.
struct Site {
    program: PathBuf,
    origin: PathBuf,
    plain: PathBuf,
    tracked: PathBuf,
    memory: PathBuf,
    /// What is claimed by commands.
    issue: String,
}

/// Makes an issue, and says which.
fn issue_of(program: &Path, at: &Path) -> Result<String, Failure> {
    let mut command = command(program, at);
    let made = dressed(command.stdout(Stdio::piped())).args(["-q", "create", "one"]).output()?;
    let issue = String::from_utf8(made.stdout)?.trim().to_owned();
    if issue.is_empty() { Err("no issue could be made".into()) } else { Ok(issue) }
}

impl Site {
    fn new(ground: &Ground) -> Result<Self, Failure> {
        let folder = ground.folder("machines")?;
        let at = |name: &str| folder.join(name);
        let mut site = Self {
            program: shipped(ground, "jit")?,
            origin: at("origin.git"),
            plain: at("plain"),
            tracked: at("tracked"),
            memory: at("memory"),
            issue: String::new(),
        };
        std::fs::create_dir_all(&site.memory)?;
        let origin = site.origin.to_string_lossy().into_owned();
        site.git(&folder, &["init", "-q", "--bare", "-b", "main", &origin])?;
        for clone in [&site.plain, &site.tracked] {
            let path = clone.to_string_lossy().into_owned();
            site.git(&folder, &["init", "-q", "-b", "main", &path])?;
            site.git(clone, &["remote", "add", "origin", &origin])?;
            site.git(clone, &["commit", "-q", "--allow-empty", "-m", "first"])?;
        }
        // What is pushed later says which commit it replaces.
        site.git(&site.plain, &["push", "-q", "origin", "main"])?;
        site.jit(&["init"])?;
        site.jit(&["engine", "init", "git", "--ref", "refs/worktree/jit/commands"])?;
        site.issue = issue_of(&site.program, &site.tracked)?;
        Ok(site)
    }

    fn git(&self, at: &Path, args: &[&str]) -> Result<(), Failure> {
        succeed(dressed(&mut command("git", at)).args(args))
    }

    fn ask(&self, args: &[&str]) -> Result<String, Failure> {
        let mut git = Command::new("git");
        let ended = dressed(git.current_dir(&self.plain)).args(args).output()?;
        Ok(String::from_utf8(ended.stdout)?.trim().to_owned())
    }

    fn jit(&self, args: &[&str]) -> Result<(), Failure> {
        succeed(dressed(&mut command(&self.program, &self.tracked)).args(args))
    }

    /// A machine whose claims are kept at the origin under a name of their own.
    fn clone_of(&self, machine: &str, name: &str) -> Result<Shared, Failure> {
        self.clone_at(machine, name, None)
    }

    /// As [`Site::clone_of`], which reaches the origin by another URL.
    fn clone_at(&self, machine: &str, name: &str, url: Option<String>) -> Result<Shared, Failure> {
        let clone = self.memory.with_file_name(format!("clone-{machine}"));
        let path = clone.to_string_lossy().into_owned();
        self.git(&self.plain, &["clone", "-q", "--bare", &self.origin.to_string_lossy(), &path])?;
        let memory = clone.with_extension("memory");
        std::fs::create_dir_all(&memory)?;
        self.open(&clone, memory, name, url)
    }

    fn shared(&self) -> Result<Shared, Failure> {
        self.open(&self.plain.join(".git"), self.memory.clone(), REF, None)
    }

    fn open(
        &self,
        git_dir: &Path,
        memory: PathBuf,
        name: &str,
        url: Option<String>,
    ) -> Result<Shared, Failure> {
        let sys = Sys::os();
        let access = Access {
            git_dir: git_dir.to_path_buf(),
            home: git_dir.to_path_buf(),
            engine: git_dir.join("engine.git"),
            remote: "origin".into(),
            url,
            name: name.into(),
            config: None,
            ssh_command: None,
            limit: Duration::from_secs(60),
        };
        let register = Box::new(GitRef::open(&sys, &access)?);
        let settings = Settings { tries: 60, ..Settings::default() };
        let shared = Shared::new(sys, register, Local::new(memory, 0o600), settings);
        shared.make(COUNTER, Fence::FIRST)?;
        Ok(shared)
    }

    /// One commit more on a branch, pushed by hand if the branch is where it was: only that is timed.
    fn push(&self) -> Result<Duration, Failure> {
        let before = self.ask(&["rev-parse", "HEAD"])?;
        let commit = self.ask(&["commit-tree", "HEAD^{tree}", "-p", &before, "-m", "one more"])?;
        let (lease, spec) =
            (format!("--force-with-lease=refs/heads/main:{before}"), format!("{commit}:refs/heads/main"));
        let took = timed(|| self.git(&self.plain, &["push", "-q", &lease, "origin", &spec]))?;
        self.git(&self.plain, &["update-ref", "HEAD", &commit])?;
        Ok(took)
    }

    fn command(&self) -> Result<Duration, Failure> {
        let took = timed(|| self.jit(&["claim", "acquire", &self.issue]))?;
        self.jit(&["claim", "release", &self.issue])?;
        Ok(took)
    }
}
