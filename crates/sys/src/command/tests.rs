//! The supervisor with real commands: how they end, what is passed on, what is kept of their output.

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use holdfast_kernel::Millis;

use crate::Sys;

use super::{Ended, Failure, Group, How, Leftovers, OnSignal, Stopped, Supervisor, command};

const HOW: How = How {
    group: Group::Own,
    on_signal: OnSignal::PassOn,
    leftovers: Leftovers::Kill,
    limit: None,
    grace: Millis::new(500),
    kept: Some(1_000),
};

/// Signals, and children in one's own group, are the whole process's: tests that share one take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shell(script: &str) -> Command {
    command(&["sh".into(), "-c".into(), script.into()]).unwrap()
}

fn run(script: &str, how: How) -> Ended {
    Supervisor::listen().unwrap().run(&Sys::os(), shell(script), how).unwrap()
}

/// Whether a process is gone or only waits to be reaped.
fn is_dead(pid: &str) -> bool {
    Sys::os().processes.find(pid.parse().unwrap()).is_err()
}

fn until_dead(pids: &str) {
    for _ in 0..6_000 {
        if pids.lines().all(is_dead) {
            return;
        }
        Sys::os().clock.sleep(Millis::new(10));
    }
    panic!("{pids} live on");
}

#[test]
fn the_code_is_what_a_shell_says() {
    let _turn = alone();
    for (code, script) in
        [(0, "exit 0"), (7, "exit 7"), (255, "exit 255"), (137, "kill -9 $$"), (143, "kill $$")]
    {
        assert_eq!(run(script, HOW).code(), code, "{script}");
    }
    let mut supervisor = Supervisor::listen().unwrap();
    for (code, program) in [(127, "no-such-command"), (126, "/dev/null")] {
        let failure = supervisor.run(&Sys::os(), command(&[program.into()]).unwrap(), HOW).unwrap_err();
        assert_eq!(failure.code(), Some(code), "{failure}");
    }
    assert!(command(&[]).is_none());
}

#[test]
fn of_both_outputs_the_end_is_kept() {
    let _turn = alone();
    assert_eq!(run("echo out; echo err >&2", HOW).output, "out\nerr\n");
    let much = run("yes | head -c 100000; echo the end", HOW).output;
    assert!(much.len() <= 1_003 && much.starts_with('…') && much.ends_with("the end\n"), "{much}");
}

#[test]
fn what_takes_too_long_is_asked_and_then_killed_with_all_that_it_started() {
    let _turn = alone();
    // A machine under load may not even begin within the time.
    let script = "trap '' TERM; echo $$; sleep 1000 & echo $!; while :; do sleep 1000; done";
    let said = (0..8).map(|n| run(script, How { limit: Some(Millis::new(250_u64 << n)), ..HOW }));
    let said = said.into_iter().find(|said| said.output.lines().count() == 2).unwrap();
    assert_eq!((said.code(), said.stopped), (137, Some(Stopped::TimedOut)));
    until_dead(&said.output);
}

#[test]
fn what_takes_too_long_has_time_to_end_by_itself() {
    let _turn = alone();
    let script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done";
    let how = |n| How { limit: Some(Millis::new(250_u64 << n)), grace: Millis::from_secs(600), ..HOW };
    let said = (0..8).map(|n| run(script, how(n))).find(|said| said.output.starts_with("ready\n"));
    // Some shells say of what they waited for that it was terminated too.
    let said = said.unwrap();
    assert_eq!((said.code(), said.stopped), (9, Some(Stopped::TimedOut)));
}

#[test]
fn what_is_left_in_the_background_is_killed_or_waited_for() {
    let _turn = alone();
    let said = run("sleep 1000 & echo $!", HOW);
    assert_eq!((said.code(), said.stopped), (0, None));
    until_dead(&said.output);
    for group in [Group::Own, Group::Caller] {
        let script = "{ sleep 0.3; echo late; } & echo early; exit 3";
        let said = run(script, How { leftovers: Leftovers::Wait, group, ..HOW });
        assert_eq!((said.code(), said.output.as_str()), (3, "early\nlate\n"), "{group:?}");
    }
}

#[test]
fn somebody_else_can_stop_it_and_what_it_left() {
    let _turn = alone();
    for group in [Group::Own, Group::Caller] {
        for script in ["echo $$; exec sleep 1000", "sleep 1000 & echo $!"] {
            let mut supervisor = Supervisor::listen().unwrap();
            let stopper = supervisor.stopper().unwrap();
            let how = How { leftovers: Leftovers::Wait, group, ..HOW };
            stopper.stop();
            let said = supervisor.run(&Sys::os(), shell(script), how).unwrap();
            assert_eq!(said.stopped, Some(Stopped::Asked), "{group:?} {script}");
            until_dead(&said.output);
        }
    }
}

#[test]
fn a_signal_before_the_command_starts_nothing() {
    let _turn = alone();
    let mut supervisor = Supervisor::listen().unwrap();
    let sent = run("trap '' HUP; kill -s HUP $PPID", How { group: Group::Caller, ..HOW });
    assert_eq!(sent.code(), 0);
    let failure = supervisor.run(&Sys::os(), shell("echo started"), HOW);
    assert!(matches!(failure, Err(Failure::Interrupted(1))), "{failure:?}");
}
