//! What only the real machine can show: other processes, and locks between threads.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;

use holdfast_sys::{Guard, Liveness, LockMode, Open, Sys};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// A child that lives until its input ends.
fn child() -> Child {
    Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

/// Waits until a child has ended, and leaves it a zombie.
fn wait_for_the_end(child: &Child) {
    let id = WaitId::Pid(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap());
    waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
}

#[test]
fn a_child_is_alive_then_a_zombie_then_gone_and_dead_from_the_zombie_on() {
    let processes = Sys::os().processes;
    let mut child = child();
    let known = processes.find(child.id()).unwrap();
    assert_eq!(processes.liveness(&known), Liveness::Alive);
    drop(child.stdin.take());
    wait_for_the_end(&child);
    assert_eq!(processes.liveness(&known), Liveness::Dead, "a zombie writes nothing any more");
    assert_eq!(processes.find(child.id()).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    child.wait().unwrap();
    assert_eq!(processes.liveness(&known), Liveness::Dead);
}

#[test]
fn a_waiter_gets_the_lock_when_it_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("guard");
    let sys = Sys::os();
    let mut guard = Guard::open(&sys, &path, 0o600).unwrap();
    let section = guard.enter(&sys, LockMode::Exclusive).unwrap();
    let (entered, wait) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let sys = Sys::os();
            let mut guard = Guard::open(&sys, &path, 0o600).unwrap();
            let _section = guard.enter(&sys, LockMode::Exclusive).unwrap();
            entered.send(()).unwrap();
        });
        assert!(wait.try_recv().is_err(), "the section is taken");
        drop(section);
        wait.recv().unwrap();
    });
}

#[test]
fn a_pipe_in_the_place_of_a_file_does_not_stop_its_opener() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let handle = Sys::os().files.open(&path, Open::Read).unwrap();
    assert_eq!(handle.stat().unwrap().kind, holdfast_sys::Kind::Other);
}
