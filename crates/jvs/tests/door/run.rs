//! A command under the lock: it has it, keeps it, and is stopped when it is lost.

use std::io::BufRead;
use std::process::{Child, Command, Stdio};

use holdfast_trial::{Answer, Screen, has, until};

use crate::bench::{Bench, JVS, Refusal};

#[test]
fn a_command_holds_the_lock_while_it_runs_and_its_exit_code_is_the_answer() {
    let bench = Bench::new();
    let script = format!("echo out; {JVS} snapshot inside >/dev/null && exit 7");
    let ran = bench.jvs(&["lock", "run", "--", "sh", "-c", &script]);
    assert_eq!(ran.code, Some(7), "{ran}");
    assert_eq!(bench.history().len(), 1);
    assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free");
    assert_eq!(std::fs::read_dir(bench.control("sessions")).unwrap().count(), 0);
}

#[test]
fn a_command_that_cannot_be_started_has_the_exit_code_that_shells_give_it() {
    let bench = Bench::new();
    bench.put("no-program", "text");
    for (program, code) in
        [("/nowhere/at/all", 127), ("no-such-program", 127), ("./no-program", 126), (".", 126)]
    {
        let answer = bench.jvs(&["lock", "run", "--", program]).fails(code);
        assert_eq!(answer.json()["error"], "E_CANNOT_RUN", "{answer}");
        assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free");
    }
    assert_eq!(std::fs::read_dir(bench.control("sessions")).unwrap().count(), 0);
}

#[test]
fn a_command_outlives_its_first_lease_because_it_is_renewed() {
    let bench = Bench::impatient();
    let mut command = bench.command(&["lock", "run", "--lease-ms", "3000", "--", "cat"], &bench.main());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let renewals = || {
        let seen = bench.jvs(&["audit"]).ok().json();
        seen["entries"].as_array().unwrap().iter().filter(|entry| entry["event"] == "lock.renewed").count()
    };
    until("it was renewed more than once", || renewals() > 1);
    bench.other("b", &["lock", "acquire"]).refused_as("E_LOCK_CONFLICT");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

/// A command that ends with 7 when it hears a signal, and by itself if it never does.
fn listening(name: &str, then: &str) -> String {
    format!("trap 'exit 7' {name}; {then}; i=0; while [ $((i += 1)) -lt 400 ]; do sleep 0.05; done")
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn signals_are_passed_on_and_the_lock_is_given_back() {
    for name in ["INT", "TERM", "HUP"] {
        let bench = Bench::new();
        let script = listening(name, "echo ready > ready");
        let mut command = bench.command(&["lock", "run", "--", "sh", "-c", &script], &bench.main());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until("the command runs", || bench.main().join("ready").exists());
        signal(&child, name);
        Answer::from(child.wait_with_output().unwrap()).fails(7);
        assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free", "{name}");
    }
}

/// Whoever supervises stands still while the terminal sends the signal: the command has heard it, and would hear it
/// again as soon as the other goes on.
#[test]
fn what_the_terminal_sends_is_heard_once() {
    if !has("setsid") {
        return;
    }
    let (bench, screen) = (Bench::new(), Screen::new(80));
    let script =
        "trap 'echo heard >> heard' INT; trap 'exit 7' TERM; echo > ready; while :; do sleep 0.05; done";
    let mut command = bench.dressed(Command::new("setsid"), &bench.main());
    command.args(["-c", JVS, "lock", "run", "--", "sh", "-c", script]).stdin(screen.line());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the command runs", || bench.main().join("ready").exists());
    signal(&child, "STOP");
    screen.press(b"\x03");
    let heard = || std::fs::read_to_string(bench.main().join("heard")).unwrap_or_default();
    until("the command hears it", || heard() == "heard\n");
    signal(&child, "TERM");
    signal(&child, "CONT");
    Answer::from(child.wait_with_output().unwrap()).fails(7);
    assert_eq!(heard(), "heard\n");
}

/// What is left in the background works on what the lock is for.
#[test]
fn the_lock_lasts_until_all_that_the_command_started_has_ended() {
    let bench = Bench::new();
    let script = "{ while [ ! -e over ]; do sleep 0.05; done; } & echo $! > job";
    let mut command = bench.command(&["lock", "run", "--", "sh", "-c", script], &bench.main());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("nobody is left but the one in the background", || {
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()));
        let job = std::fs::read_to_string(bench.main().join("job")).unwrap_or_default();
        job.ends_with('\n') && children.is_ok_and(|children| children.trim() == job.trim())
    });
    assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "held");
    std::fs::write(bench.main().join("over"), "").unwrap();
    Answer::from(child.wait_with_output().unwrap()).ok();
    assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free");
}

/// The moment after the command was started, made long: whatever jvs asks the system about signals takes a while.
#[test]
fn a_signal_that_comes_while_the_command_starts_is_passed_on_too() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new();
    let script = listening("TERM", "kill -s TERM $PPID");
    let mut command = bench.dressed(Command::new("strace"), &bench.main());
    command.args(["-qq", "-o", "/dev/null", "-e", "inject=rt_sigaction:delay_enter=50ms"]);
    command.args([JVS, "lock", "run", "--", "sh", "-c", &script]);
    let answer = Answer::from(command.output().unwrap()).fails(7);
    assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free", "{answer}");
}

#[test]
fn a_lost_lock_stops_the_command() {
    let bench = Bench::impatient();
    let mut command =
        bench.command(&["lock", "run", "--lease-ms", "1500", "--", "sleep", "1000"], &bench.main());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("it holds the lock", || bench.jvs(&["lock", "status"]).ok().json()["state"] == "held");
    // What cannot be renewed any more is lost.
    let lock = std::fs::read_dir(bench.control("locks")).unwrap().map(|entry| entry.unwrap().path());
    for path in lock.filter(|path| path.extension().is_some_and(|kind| kind == "lock")) {
        std::fs::remove_file(path).unwrap();
    }
    Answer::from(child.wait_with_output().unwrap()).refused_as("E_LOCK_NOT_HELD");
}

#[test]
fn the_session_of_a_running_command_is_its_own() {
    let bench = Bench::new();
    // The shell ends at once, and what it started goes on.
    let script = format!("{JVS} lock run -- sh -c 'echo > ready; cat ../wait' >/dev/null 2>&1 & :");
    assert!(Command::new("mkfifo").arg(bench.root().join("wait")).status().unwrap().success());
    let shell = bench.dressed(Command::new("sh"), &bench.main()).args(["-c", &script]).status().unwrap();
    assert!(shell.success());
    until("the command runs", || bench.main().join("ready").exists());
    assert_eq!(bench.findings(), Vec::<String>::new(), "the session is in use");
    std::fs::write(bench.root().join("wait"), "").unwrap();
    until("the lock is given back", || bench.jvs(&["lock", "status"]).ok().json()["state"] == "free");
}

#[test]
fn a_signal_for_the_command_does_not_keep_its_lock_from_being_given_back() {
    let bench = Bench::new();
    let script = "exec 2>/dev/null; trap 'exit 7' TERM; echo > ready; i=0; while [ $((i += 1)) -lt 400 ]; do sleep 0.05; done";
    let mut command = bench.command(
        &["--wait", "600", "lock", "run", "--lease-ms", "600000", "--", "sh", "-c", script],
        &bench.main(),
    );
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the command runs", || bench.main().join("ready").exists());
    let guard = std::fs::File::options().write(true).open(bench.control("repo.guard")).unwrap();
    guard.lock().unwrap();
    let sent = Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let mut said = String::new();
    std::io::BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("waiting for"), "{said}");
    drop(guard);
    Answer::from(child.wait_with_output().unwrap()).fails(7);
    assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free");
}
