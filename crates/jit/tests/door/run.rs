//! Commands under a claim, with real processes: however they end, whatever they leave behind and whoever is killed, the
//! issue lands once or is offered again, and nothing is left.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use holdfast_sys::{Sys, os};
use holdfast_trial::{Answer, Dice, until};
use serde_json::Value;

use crate::bench::Bench;

/// A repository with a worktree for an agent. Every process of a test has the bench's path in its environment.
pub(crate) struct Ground {
    pub(crate) bench: Bench,
    pub(crate) there: PathBuf,
}

pub(crate) const MARK: &str = "TRIAL_MARK";

impl Ground {
    pub(crate) fn new() -> Self {
        Self::on(Bench::new())
    }

    pub(crate) fn on(bench: Bench) -> Self {
        bench.git(&["add", "-A"], &bench.repo());
        bench.git(&["commit", "-qm", "track issues"], &bench.repo());
        let there = bench.worktree("there");
        Self { bench, there }
    }

    pub(crate) fn mark(&self) -> String {
        self.bench.root().to_string_lossy().into_owned()
    }

    pub(crate) fn command(&self, agent: &str, args: &[&str], at: &Path) -> Command {
        let mut command = self.bench.command(agent, args, at);
        command.env(MARK, self.mark()).stdin(Stdio::null());
        command
    }

    pub(crate) fn spawn(&self, args: &[&str], at: &Path) -> Child {
        let mut command = self.command("agent:b", args, at);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap()
    }

    fn run(&self, args: &[&str], script: &str) -> Answer {
        let args = [&["--json", "run"], args, &["--", "sh", "-c", script]].concat();
        Answer::from(self.command("agent:b", &args, &self.there).output().unwrap())
    }

    /// What became of a run.
    pub(crate) fn ran(&self, args: &[&str], script: &str) -> Value {
        let answer = self.run(args, script);
        serde_json::from_str::<Value>(&answer.stdout).unwrap_or_else(|_| panic!("{answer}"))["run"].clone()
    }

    /// The processes of this test that are still there.
    pub(crate) fn alive(&self) -> Vec<u32> {
        os::marked(MARK, &self.mark())
    }

    /// Kills everything at once, so that nobody can end anybody.
    pub(crate) fn kill_all(&self) {
        let send = |signal| {
            // The youngest first: a group that nobody is left above is woken up, and would tidy up.
            for pid in self.alive().into_iter().rev() {
                let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
                let _ = rustix::process::kill_process(pid, signal);
            }
        };
        // Whoever stands still sees nobody die.
        send(rustix::process::Signal::STOP);
        until("everything is gone", || {
            send(rustix::process::Signal::KILL);
            self.alive().is_empty()
        });
    }

    /// Nothing is left: no process, no note of a run, no claim.
    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(self.alive(), [0; 0], "processes are left");
        let runs = std::fs::read_dir(self.bench.control("runs"));
        let left: Vec<_> = runs.into_iter().flatten().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "notes of runs are left: {left:?}");
    }

    pub(crate) fn landed(&self) -> Vec<String> {
        let text = self.log(&["--format=%s"]);
        text.lines().filter(|line| !["first", "track issues"].contains(line)).map(ToOwned::to_owned).collect()
    }

    /// What landed, with what each commit says and changes; and what became of the claims.
    pub(crate) fn history(&self) -> String {
        let claims = self.bench.jit(&["claim", "history"]).ok().stdout;
        format!("{}\n{claims}", self.log(&["--patch", "--format=%h %ad %s%n%b", "--date=iso", "-4"]))
    }

    fn log(&self, args: &[&str]) -> String {
        let mut log = self.bench.dressed(Command::new("git"));
        let said = log.arg("log").args(args).arg("main").current_dir(self.bench.repo()).output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    }

    pub(crate) fn is_offered(&self, id: &str) -> bool {
        let ready = self.bench.run("agent:c", &["--json", "ready"]).ok().json();
        ready["issues"].as_array().unwrap().iter().any(|issue| issue["id"] == id)
    }
}

#[test]
fn what_a_command_did_lands_and_it_knows_what_it_works_on() {
    let ground = Ground::new();
    let id = ground.bench.issue("Write it");
    let ran = ground.ran(
        &["--log"],
        "env > file; cp \"$JIT_BRIEFING\" briefing; stat -c %a \"$JIT_BRIEFING\" > mode; echo said; echo cried >&2",
    );
    assert_eq!((&ran["outcome"], &ran["id"]), (&"landed".into(), &id.as_str().into()), "{ran}");
    assert_eq!(ground.landed(), ["Write it"]);
    let read = |name: &str| std::fs::read_to_string(ground.bench.repo().join(name)).unwrap();
    let env = read("file");
    for line in [
        format!("JIT_ISSUE_ID={id}"),
        "JIT_ISSUE_TITLE=Write it".to_owned(),
        "JIT_AGENT_ID=agent:b".to_owned(),
        format!("JIT_FENCE={}", ran["fence"]),
    ] {
        assert!(env.lines().any(|set| set == line), "{line} is not in {env}");
    }
    assert!(env.contains("\nJIT_KEEPER_PID=") && env.contains("\nJIT_RUN="), "{env}");
    assert!(read("briefing").contains("Write it"));
    assert_eq!(read("mode"), "600\n");
    let log = PathBuf::from(ran["log"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "said\ncried\n");
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(ground.bench.leases().is_empty());
    ground.assert_nothing_left();
}

#[test]
fn a_command_that_fails_or_does_nothing_gives_the_issue_back() {
    let ground = Ground::new();
    let id = ground.bench.issue("Hard");
    let ran = ground.ran(&["--log"], "echo half > half; exit 3");
    assert_eq!(
        (&ran["outcome"], &ran["exit_code"], &ran["failed_attempts"]),
        (&"dropped".into(), &3.into(), &1.into())
    );
    assert!(ground.there.join("half").exists() && ground.is_offered(&id), "{ran}");
    let shown = ground.bench.jit(&["show", &id]).ok().stdout;
    assert!(
        shown.contains("ended with 3") && shown.contains("half") && shown.contains("dispatch logs"),
        "{shown}"
    );
    std::fs::remove_file(ground.there.join("half")).unwrap();
    let ran = ground.ran(&["--attempts", "2"], "exit 0");
    assert_eq!((&ran["outcome"], &ran["failed_attempts"]), (&"dropped".into(), &2.into()), "{ran}");
    assert_eq!(ran["needs_attention"], true, "{ran}");
    let shown = ground.bench.jit(&["--json", "show", &id]).ok().json();
    assert_eq!(shown["issue"]["labels"], serde_json::json!(["needs:attention"]), "{shown}");
    let nothing = ground.run(&[], "true");
    assert_eq!(nothing.code, Some(3), "it is offered to nobody by itself: {nothing}");
    let ran = ground.ran(&[&id], "echo done > whole");
    assert_eq!(ran["outcome"], "landed", "whoever names it gets it: {ran}");
    assert!(ground.landed() == ["Hard"]);
    ground.assert_nothing_left();
}

#[test]
fn a_command_reads_its_briefing_where_that_is_asked_for() {
    let ground = Ground::new();
    let id = ground.bench.issue("Write it down");
    let ran = ground.ran(&["--stdin", "--log"], "cat > heard && cmp heard \"$JIT_BRIEFING\"");
    assert_eq!(ran["outcome"], "landed", "{ran}");
    let heard = std::fs::read_to_string(ground.there.join("heard")).unwrap();
    assert!(heard.contains("Write it down"), "{heard}");
    // One that does not read it is not waited for, and without the option there is nothing to read.
    ground.bench.issue("Leave it");
    assert_eq!(ground.ran(&["--stdin", "--log"], "echo x > unread")["outcome"], "landed");
    ground.bench.issue("Nothing");
    assert_eq!(ground.ran(&["--log"], "cat > nothing; test ! -s nothing")["outcome"], "landed");
    assert!(!ground.is_offered(&id));
    ground.assert_nothing_left();
}

#[test]
fn what_is_not_to_be_finished_is_given_back_with_its_commits_on_its_branch() {
    let ground = Ground::new();
    let id = ground.bench.issue("Half of it");
    let script = "echo half > half && git add half && git commit -qm half";
    let ran = ground.ran(&["--no-finish"], script);
    assert_eq!((&ran["outcome"], &ran["failed_attempts"]), (&"dropped".into(), &0.into()), "{ran}");
    assert!(ground.landed().is_empty() && ground.is_offered(&id), "{ran}");
    let branch = ran["branch"].as_str().unwrap();
    ground.bench.git(&["cat-file", "-e", &format!("{branch}:half")], &ground.bench.repo());
    assert!(ground.bench.leases().is_empty());
    ground.assert_nothing_left();
}

/// Whoever cannot tell how often it failed must not begin to count anew: it would be offered for ever.
#[test]
fn an_issue_whose_failures_cannot_be_counted_needs_attention() {
    let ground = Ground::new();
    let id = ground.bench.issue("Hard");
    let note = ground.bench.control(&format!("attempts/{id}.json"));
    std::fs::create_dir_all(note.parent().unwrap()).unwrap();
    std::fs::write(&note, "{\"failed\": 2, \"fen").unwrap();
    let answer = ground.run(&["--attempts", "9"], "exit 3");
    let ran = &answer.json()["run"];
    assert_eq!(ran["needs_attention"], true, "{answer}");
    assert!(answer.stderr.contains("nobody can tell how often"), "{answer}");
    assert!(ground.bench.leases().is_empty());
    assert_eq!(ground.run(&[], "true").code, Some(3), "no run takes it by itself");
    assert!(!note.exists(), "whoever takes the label away gives it all attempts again");
}

#[test]
fn whatever_a_command_leaves_behind_is_ended_with_it() {
    let ground = Ground::new();
    // Each tries to stay: in a session of its own, as an orphan of an orphan, deaf to every plain signal, without an
    // environment, with its output closed.
    // Other tests have loops of their own.
    let mark = format!("tays-{}", std::process::id());
    let stay = format!("trap '' TERM HUP INT; : s{mark}; while :; do sleep 1; done");
    let left = [
        format!("setsid sh -c \"{stay}\" &"),
        format!("(setsid sh -c \"{stay}\" & exec true) &"),
        format!("setsid sh -c '(setsid sh -c \"{stay}\" &) ' &"),
        format!("setsid env -i sh -c \"{stay}\" &"),
        format!("sh -c \"exec >&- 2>&- <&-; {stay}\" &"),
    ];
    for (number, script) in left.iter().enumerate() {
        ground.bench.issue(&format!("number {number}"));
        let pids = ground.bench.root().join(format!("pids-{number}"));
        let script = format!(
            "{script} sleep 0.1; ps -e -o pid=,args= | grep '[s]{mark}' | awk '{{print $1}}' > {}; echo {number} > file{number}",
            pids.display()
        );
        let ran = ground.ran(&["--log"], &script);
        assert_eq!(ran["outcome"], "landed", "{script}: {ran}");
        let pids = std::fs::read_to_string(&pids).unwrap();
        for pid in pids.split_whitespace() {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let mine = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            assert!(
                stat.is_empty() || !mine.contains(&mark) || stat.contains(") Z "),
                "{script}: {pid} lives on"
            );
        }
    }
    ground.assert_nothing_left();
}

#[test]
fn a_claim_lasts_as_long_as_the_command_and_no_longer() {
    let ground = Ground::new();
    let id = ground.bench.issue("Long");
    let script = "sleep 11; echo x > file";
    let child =
        ground.spawn(&["--json", "run", "--ttl", "5", "--log", "--", "sh", "-c", script], &ground.there);
    until("it is claimed", || !ground.bench.leases().is_empty());
    let refused = ground.bench.run("agent:c", &["claim", "acquire", &id]);
    assert_eq!(refused.code, Some(4), "{refused}");
    let ended = Answer::from(child.wait_with_output().unwrap());
    assert_eq!(ended.ok().json()["run"]["outcome"], "landed", "twice as long as the claim");
    ground.assert_nothing_left();
}

#[test]
fn whoever_loses_the_claim_is_ended_and_writes_nothing_any_more() {
    let ground = Ground::new();
    let id = ground.bench.issue("Contested");
    let script = "trap '' TERM; while :; do echo x >> file; sleep 0.05; done";
    let child = ground.spawn(&["--json", "run", "--log", "--", "sh", "-c", script], &ground.there);
    until("it works", || ground.there.join("file").exists());
    ground.bench.jit(&["claim", "force-evict", &id, "--reason", "for the test"]).ok();
    let answer = Answer::from(child.wait_with_output().unwrap());
    let ran = serde_json::from_str::<Value>(&answer.stdout).unwrap();
    assert_eq!((answer.code, &ran["run"]["outcome"]), (Some(5), &"lost".into()), "{answer}");
    assert!(ran["run"]["reason"].as_str().unwrap().contains("for the test"), "{ran}");
    ground.assert_nothing_left();
    assert!(ground.is_offered(&id) && ground.landed().is_empty());
    assert!(ground.there.join("file").exists(), "what was written stays");
}

#[test]
fn a_signal_stops_the_command_and_gives_the_issue_back() {
    let ground = Ground::new();
    let id = ground.bench.issue("Stopped");
    let script = "echo x > file; sleep 1000 & sleep 1000";
    let child = ground.spawn(&["run", "--log", "--", "sh", "-c", script], &ground.there);
    until("it works", || ground.there.join("file").exists());
    os::ask_to_end(child.id());
    let answer = Answer::from(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(128 + 15), "{answer}");
    ground.assert_nothing_left();
    assert!(ground.is_offered(&id) && ground.bench.leases().is_empty());
}

#[test]
fn one_run_at_a_time_in_a_worktree() {
    let ground = Ground::new();
    ground.bench.issue("one");
    ground.bench.issue("two");
    let child = ground.spawn(&["run", "--log", "--", "sh", "-c", "echo > file; sleep 1000"], &ground.there);
    until("it works", || ground.there.join("file").exists());
    let second = ground.run(&[], "true");
    assert_eq!(
        (second.code, second.json()["error"]["code"].as_str()),
        (Some(4), Some("RUN_UNDER_WAY")),
        "{second}"
    );
    os::ask_to_end(child.id());
    child.wait_with_output().unwrap();
    ground.assert_nothing_left();
}

#[test]
fn a_worktree_of_its_own_goes_with_the_run_unless_something_would_be_lost() {
    let ground = Ground::new();
    ground.bench.issue("one");
    let homes = ground.bench.root().join("repo.worktrees");
    let ran = ground.ran(&["--worktree", "--log"], "echo x > one");
    assert_eq!(ran["outcome"], "landed", "{ran}");
    assert!(!homes.exists(), "an empty directory is left");
    let branches = ground
        .bench
        .dressed(Command::new("git"))
        .args(["branch", "--list", "jit/*"])
        .current_dir(&ground.there)
        .output();
    assert_eq!(branches.unwrap().stdout, b"", "the branch of what has landed is left");
    ground.bench.issue("two");
    let ran = ground.ran(&["--worktree", "--log"], "echo half > half; exit 1");
    assert_eq!(ran["outcome"], "dropped", "{ran}");
    let kept = PathBuf::from(ran["worktree"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(kept.join("half")).unwrap(), "half\n");
    ground.assert_nothing_left();
}

/// Every run that is killed, by itself or with its guardian, leaves no process behind, and its issue lands once.
#[test]
fn a_run_that_is_killed_leaves_nothing_and_its_issue_lands_once() {
    let deaths = if std::env::var_os("HOLDFAST_LONG").is_some() { 200 } else { 12 };
    let ground = Ground::new();
    let issues: Vec<String> = (0..4).map(|number| ground.bench.issue(&format!("task {number}"))).collect();
    let script = "sh -c 'setsid sleep 1000 & setsid sh -c \"sleep 1000 & sleep 1000\" & sleep 0.05'; \
                  echo $JIT_ISSUE_ID > file-$JIT_ISSUE_ID";
    let mut dice = Dice::new(17, Duration::from_millis(400));
    let (mut died, mut more) = (0, 0);
    let start = Instant::now();
    while died < deaths {
        assert!(start.elapsed() < Duration::from_secs(840), "{died} deaths only");
        let child = ground.spawn(&["run", "--log", "--", "sh", "-c", script], &ground.there);
        let (output, was_killed) = dice.kill(child);
        died += usize::from(was_killed);
        until("everything of it is gone", || ground.alive().is_empty());
        let left = Answer::from(output);
        if left.code == Some(3) {
            more += 1;
            ground.bench.issue(&format!("another {more}"));
        }
    }
    // Whatever is left is done by somebody who is not killed.
    let mut last = ground.run(&["--log"], script);
    for _ in 0..20 {
        if last.code != Some(3) {
            last = ground.run(&["--log"], script);
        }
    }
    assert_eq!(last.code, Some(3), "something is left: {last}");
    let mut landed = ground.landed();
    let all = landed.len();
    landed.sort();
    landed.dedup();
    assert_eq!(landed.len(), all, "something landed twice: {landed:?}");
    for id in &issues {
        let shown = ground.bench.jit(&["--json", "show", id]).ok().json();
        assert_eq!(
            (&shown["issue"]["state"], &shown["standing"]["kind"]),
            (&"done".into(), &"landed".into()),
            "{shown}"
        );
    }
    assert!(ground.bench.leases().is_empty());
    ground.assert_nothing_left();
    println!("killed {died} times; {all} issues landed");
}

/// Only the guardian is killed: `jit run` ends what it guarded, by the mark in its environment.
#[test]
fn a_guardian_that_is_killed_takes_the_command_along() {
    let ground = Ground::new();
    let id = ground.bench.issue("Unguarded");
    let script = "echo $JIT_KEEPER_PID > keeper; setsid sleep 1000 & sleep 1000";
    let child = ground.spawn(&["--json", "run", "--log", "--", "sh", "-c", script], &ground.there);
    let keeper = ground.there.join("keeper");
    let pid = || std::fs::read_to_string(&keeper).ok()?.trim().parse::<i32>().ok();
    until("the command runs", || pid().is_some());
    let guardian = rustix::process::Pid::from_raw(pid().unwrap()).unwrap();
    rustix::process::kill_process(guardian, rustix::process::Signal::KILL).unwrap();
    let answer = Answer::from(child.wait_with_output().unwrap());
    let ran = serde_json::from_str::<Value>(&answer.stdout).unwrap_or_else(|_| panic!("{answer}"));
    assert_eq!(ran["run"]["outcome"], "dropped", "{ran}");
    until("nothing is alive", || ground.alive().is_empty());
    assert!(ground.is_offered(&id));
    // The note of the run is swept by the next one.
    ground.bench.git(&["clean", "-fdq"], &ground.there);
    assert_eq!(ground.ran(&["--log"], "echo > file")["outcome"], "landed");
    ground.assert_nothing_left();
}

/// Both are killed, so nobody ends the command: whoever comes next does, before it begins.
#[test]
fn what_a_killed_guardian_left_is_ended_by_the_next_run() {
    let ground = Ground::new();
    ground.bench.issue("one");
    let script = "echo $JIT_KEEPER_PID > keeper; while :; do echo x >> late; sleep 0.05; done";
    let mut child = ground.spawn(&["run", "--log", "--", "sh", "-c", script], &ground.there);
    let pid = || std::fs::read_to_string(ground.there.join("keeper")).ok()?.trim().parse::<i32>().ok();
    until("the command runs", || pid().is_some() && ground.there.join("late").exists());
    let stop = |pid: i32, signal| {
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    };
    let run = i32::try_from(child.id()).unwrap();
    // Neither sees the other die.
    stop(run, rustix::process::Signal::STOP);
    stop(pid().unwrap(), rustix::process::Signal::KILL);
    stop(run, rustix::process::Signal::KILL);
    child.wait().unwrap();
    let guardian = u32::try_from(pid().unwrap()).unwrap();
    until("the guardian is gone", || Sys::os().processes.find(guardian).is_err());
    assert!(!ground.alive().is_empty(), "nothing is left to be ended");
    let ran = ground.ran(&["--log"], "rm -f late keeper; sleep 0.2; test ! -e late && echo > file");
    assert_eq!(ran["outcome"], "landed", "{ran}");
    ground.assert_nothing_left();
}

/// Everything stands still for longer than the claim lasts: somebody else takes it, and whoever wakes up is ended.
#[test]
fn whoever_sleeps_beyond_the_claim_wakes_up_to_its_end() {
    let ground = Ground::new();
    let id = ground.bench.issue("Sleepy");
    ground.bench.config("[coordination]\nkeeper_grace_secs = 3600\n");
    let script = "echo $JIT_KEEPER_PID > keeper; while :; do sleep 0.05; done";
    let child =
        ground.spawn(&["--json", "run", "--ttl", "1", "--log", "--", "sh", "-c", script], &ground.there);
    until("the command runs", || ground.there.join("keeper").exists());
    let still = |still: bool| {
        for pid in ground.alive() {
            let _ = os::pause(pid, still);
        }
    };
    still(true);
    until("somebody else gets it", || {
        ground.bench.run("agent:c", &["claim", "acquire", &id, "--ttl", "600"]).code == Some(0)
    });
    still(false);
    let answer = Answer::from(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(5), "{answer}");
    let ran = serde_json::from_str::<Value>(&answer.stdout).unwrap();
    assert_eq!(ran["run"]["outcome"], "lost", "{ran}");
    ground.assert_nothing_left();
}

/// The command of whoever slept beyond its claim ends before its guardian has looked at the claim: somebody else has
/// landed the issue, and that is not its doing.
#[test]
fn whoever_sleeps_while_another_lands_has_lost() {
    let ground = Ground::new();
    ground.bench.issue("Sleepy");
    let elsewhere = ground.bench.worktree("elsewhere");
    let script = "echo $JIT_KEEPER_PID > \"$HOME/keeper\"; until [ -e \"$HOME/go\" ]; do sleep 0.02; done";
    let child =
        ground.spawn(&["--json", "run", "--ttl", "1", "--log", "--", "sh", "-c", script], &ground.there);
    let keeper = ground.bench.root().join("keeper");
    let pid = || std::fs::read_to_string(&keeper).ok()?.trim().parse::<u32>().ok();
    until("the command runs", || pid().is_some());
    // Only those who could look at the claim sleep.
    let still = |still| [pid().unwrap(), child.id()].iter().for_each(|pid| drop(os::pause(*pid, still)));
    still(true);
    until("somebody else lands it", || {
        let args = ["run", "--log", "--", "sh", "-c", "echo > file"];
        ground.command("agent:c", &args, &elsewhere).output().unwrap().status.success()
    });
    std::fs::write(ground.bench.root().join("go"), "").unwrap();
    still(false);
    let answer = Answer::from(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(5), "{answer}");
    assert_eq!(ground.landed(), ["Sleepy"]);
    ground.assert_nothing_left();
}

#[test]
fn a_command_that_gave_its_issue_back_has_ten_seconds() {
    let ground = Ground::new();
    let id = ground.bench.issue("Dropped");
    let script = format!("{} drop --reason enough; while :; do sleep 0.02; done", crate::bench::JIT);
    let start = Instant::now();
    let ran = ground.ran(&["--log"], &script);
    assert_eq!(ran["outcome"], "released", "{ran}");
    assert!(start.elapsed() >= Duration::from_secs(10), "it was ended at once");
    assert!(ground.is_offered(&id));
    ground.assert_nothing_left();
}

#[test]
fn much_output_is_kept_in_bounds() {
    let ground = Ground::new();
    ground.bench.issue("Loud");
    let settings = ground.bench.root().join("config");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("config.toml"), "[run]\nlog_max_bytes = 24000000\n").unwrap();
    let size = if std::env::var_os("HOLDFAST_LONG").is_some() { "1073741824" } else { "33554432" };
    let script = format!("echo begins; yes abcdefghij | head -c {size}; echo; echo ends; echo > file");
    let ran = ground.ran(&["--log"], &script);
    assert_eq!(ran["outcome"], "landed", "{ran}");
    let log = PathBuf::from(ran["log"].as_str().unwrap());
    let (first, last) = (log.with_extension("log.1"), log);
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert!(text(&first).starts_with("begins\n") && text(&last).ends_with("ends\n"));
    assert!(text(&first).len() + text(&last).len() <= 24_000_000);
    let shown = ground.bench.jit(&["dispatch", "logs", ran["id"].as_str().unwrap()]).ok().stdout;
    assert!(shown.starts_with("begins\n") && shown.contains("left out") && shown.ends_with("ends\n"));
}

#[test]
fn a_worktree_that_is_removed_under_the_command_gives_the_issue_back() {
    let ground = Ground::new();
    let id = ground.bench.issue("Homeless");
    let script = format!(
        "git -C {} worktree remove --force {}; exit 0",
        ground.bench.repo().display(),
        ground.there.display()
    );
    let answer = ground.run(&["--log"], &script);
    assert_ne!(answer.code, Some(0), "{answer}");
    ground.bench.run("agent:c", &["claim", "acquire", &id]).ok();
    ground.assert_nothing_left();
    assert!(ground.landed().is_empty());
}
