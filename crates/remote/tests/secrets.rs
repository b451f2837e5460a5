//! A login in the URL of a git remote: the server gets it, and the arguments of no process show it.
#![expect(clippy::disallowed_methods, reason = "tests start git and look at processes")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test that cannot go on shall stop"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use holdfast_remote::Register as _;
use holdfast_remote::gitref::{Access, GitRef, REF};
use holdfast_sys::Sys;

/// `ann:s3cret-of-the-test`, as HTTP has it.
const BASIC: &str = "Basic YW5uOnMzY3JldC1vZi10aGUtdGVzdA==";
const SECRET: &str = "s3cret-of-the-test";

/// The processes whose arguments have the secret.
fn showing() -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let arguments = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let texts = arguments.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    texts.filter(|text| text.contains(SECRET)).collect()
}

/// Reads one request; gives what it authenticates with.
fn authorization(stream: &TcpStream) -> Option<String> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let lines: Vec<String> = lines.collect();
    lines.iter().find_map(|line| line.strip_prefix("Authorization: ").map(str::to_owned))
}

/// A server that wants a login and has nothing to give. Says what it was given, and who showed the secret meanwhile.
fn serve(listener: &TcpListener, told: &mpsc::Sender<(String, Vec<String>)>) {
    for stream in listener.incoming().map_while(Result::ok) {
        let answer = match authorization(&stream) {
            None => "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"",
            Some(login) => {
                let _ = told.send((login, showing()));
                "404 Not Found"
            }
        };
        let _ = write!(&stream, "HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
}

fn git(dir: &Path, args: &[&str]) {
    let done = Command::new("git").current_dir(dir).args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_login_reaches_the_server_and_no_argument_of_a_process() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    let (told, heard) = mpsc::channel();
    std::thread::spawn(move || serve(&listener, &told));
    let scratch = tempfile::tempdir().unwrap();
    let login = format!("http://ann:{SECRET}@{host}/");
    // In the URL itself, and by a setting that puts it into the URL.
    for (number, rewritten) in [false, true].into_iter().enumerate() {
        let work = scratch.path().join(format!("work-{number}"));
        git(scratch.path(), &["init", "-q", work.to_str().unwrap()]);
        if rewritten {
            git(&work, &["config", &format!("url.{login}.insteadOf"), &format!("http://{host}/")]);
            git(&work, &["remote", "add", "origin", &format!("http://{host}/x.git")]);
        } else {
            git(&work, &["remote", "add", "origin", &format!("{login}x.git")]);
        }
        let access = Access {
            git_dir: work.join(".git"),
            home: work.clone(),
            engine: work.join(".git/engine.git"),
            remote: "origin".into(),
            url: None,
            name: REF.into(),
            config: None,
            ssh_command: None,
            limit: Duration::from_secs(30),
        };
        let why = GitRef::open(&Sys::os(), &access).unwrap().read().unwrap_err().to_string();
        assert!(!why.contains(SECRET), "{why}");
        let (login, showing) = heard.recv_timeout(Duration::from_secs(30)).expect("a request with a login");
        assert_eq!((login.as_str(), showing), (BASIC, Vec::new()), "rewritten: {rewritten}");
    }
}
