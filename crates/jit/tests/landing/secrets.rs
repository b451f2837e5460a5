//! A remote whose URL has a password in it: it reaches the server, and nothing that anybody else can read.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use holdfast_trial::Answer;

use crate::ground::Ground;

const SECRET: &str = "s3cret-of-the-trial";

/// What git runs for URLs that begin with `trial://`: it connects to the repository that the environment names.
const HELPER: &str = r#"#!/bin/sh
while read -r word service; do
  case $word in
  capabilities) printf 'connect\n\n' ;;
  connect) printf '\n'; exec git "${service#git-}" "$TRIAL_ORIGIN" ;;
  esac
done
"#;

const HOOK: &str = "#!/bin/sh\necho \"$@\" >> \"$TRIAL_HEARD\"\n";

fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// The files below a directory that have a secret in them.
pub(crate) fn telling(directory: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(telling(&path, secret));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).contains(secret) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// `ann:` and the secret, as HTTP has it.
const BASIC: &str = "Basic YW5uOnMzY3JldC1vZi10aGUtdHJpYWw=";

/// The processes whose arguments have the secret.
fn showing() -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let arguments = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let texts = arguments.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    texts.filter(|text| text.contains(SECRET)).collect()
}

/// A server that wants a login and has nothing to give. Says what it was given, and who showed the secret meanwhile.
fn serve(listener: &TcpListener, told: &mpsc::Sender<(String, Vec<String>)>) {
    for stream in listener.incoming().map_while(Result::ok) {
        let lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let login = lines.iter().find_map(|line| line.strip_prefix("Authorization: "));
        let answer = match login {
            None => "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"",
            Some(login) => {
                let _ = told.send((login.to_owned(), showing()));
                "404 Not Found"
            }
        };
        let _ = write!(&stream, "HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
}

#[test]
fn a_branch_is_fetched_with_a_login_that_no_argument_of_a_process_shows() {
    let ground = Ground::with_origin();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    let (told, heard) = mpsc::channel();
    std::thread::spawn(move || serve(&listener, &told));
    let id = ground.issue("draw", &[]);
    let clean = format!("http://{host}/x.git");
    for (url, rewritten) in [(format!("http://ann:{SECRET}@{host}/x.git"), false), (clean.clone(), true)] {
        if rewritten {
            let key = format!("url.http://ann:{SECRET}@{host}/.insteadOf");
            ground.main(&["config", &key, &format!("http://{host}/")]);
        }
        ground.main(&["remote", "set-url", "origin", &url]);
        for args in [&["sync"][..], &["push"]] {
            let answer = ground.bench.jit(args);
            assert!(!answer.to_string().contains(SECRET), "jit {args:?}: {answer}");
            let first = heard.recv_timeout(Duration::from_secs(60)).expect("a request with a login");
            for (login, shown) in std::iter::once(first).chain(heard.try_iter()) {
                assert_eq!(
                    (login.as_str(), shown),
                    (BASIC, Vec::new()),
                    "jit {args:?}, rewritten: {rewritten}"
                );
            }
        }
    }
    let told: Vec<String> = telling(&ground.bench.repo(), SECRET);
    let config = ground.bench.repo().join(".git/config").display().to_string();
    assert_eq!(told, vec![config], "{id}");
}

#[test]
fn a_password_in_a_url_is_told_to_nobody() {
    let ground = Ground::with_origin();
    let (root, repo) = (ground.bench.root(), ground.bench.repo());
    let heard = root.join("heard");
    script(&root.join("bin/git-remote-trial"), HELPER);
    let dressed = |mut command: Command| {
        let path = format!("{}:{}", root.join("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).env("TRIAL_ORIGIN", ground.origin()).env("TRIAL_HEARD", &heard);
        Answer::from(command.output().unwrap())
    };
    let jit = |args: &[&str]| {
        let answer = dressed(ground.bench.command("agent:a", args, &repo));
        assert!(!answer.to_string().contains(SECRET), "jit {args:?}: {answer}");
        answer
    };
    ground.main(&["remote", "set-url", "origin", &format!("trial://me:{SECRET}@host/x")]);
    jit(&["engine", "init", "git"]).ok();
    let id = ground.issue("draw", &[]);
    script(&repo.join(".git/hooks/pre-push"), HOOK);
    jit(&["push"]).ok();
    jit(&["start", &id]).ok();
    std::fs::write(repo.join("drawing"), "a line\n").unwrap();
    for args in
        [["engine", "status", "--fresh"], ["engine", "status", "--json"], ["engine", "check", "--json"]]
    {
        jit(&args).ok();
    }
    std::fs::remove_file(&heard).unwrap();
    jit(&["finish", "-a", "-m", "draw"]).ok();
    // The hook of git that jit asks before it pushes is told where to, and not with which password.
    assert_eq!(std::fs::read_to_string(&heard).unwrap().lines().last(), Some("origin trial://host/x"));
    // A server that is gone is named in the error.
    std::fs::rename(ground.origin(), root.join("away.git")).unwrap();
    assert_eq!(jit(&["claim", "next"]).code, Some(10));
    assert_eq!(jit(&["engine", "check"]).code, Some(7));
    let config = repo.join(".git/config").display().to_string();
    let told: Vec<String> = telling(&repo, SECRET).into_iter().filter(|path| *path != config).collect();
    assert_eq!(told, Vec::<String>::new());
}

/// A login that git can only be given as an argument is not used at all.
#[test]
fn a_login_that_would_stand_in_the_arguments_of_git_is_refused() {
    let ground = Ground::with_origin();
    let config = ground.bench.repo().join(".git/config");
    let before = std::fs::read(&config).unwrap();
    let url = |url: &[u8]| {
        let set = [&b"[remote \"other\"]\n"[..], b"[remote \"origin\"]\n\turl = ", url, b"\n"].concat();
        ground.main(&["remote", "remove", "origin"]);
        let rest = std::fs::read(&config).unwrap();
        std::fs::write(&config, [rest, set].concat()).unwrap();
        let answers = [&["push"][..], &["sync"]].map(|args| ground.bench.jit(args));
        std::fs::write(&config, &before).unwrap();
        answers
    };
    // What is not UTF-8, and a password with a line break.
    for login in [
        &b"http://ann:s3cret-of-the-trial@127.0.0.1:1/\xff.git"[..],
        b"http://ann:s3cret-of-the-trial%0a@127.0.0.1:1/x",
    ] {
        for answer in url(login) {
            let said = answer.to_string();
            assert!(answer.code == Some(10) && said.contains("arguments of git"), "{said}");
            assert!(!said.contains(SECRET), "{said}");
        }
    }
    // A path that is not UTF-8 has no login.
    let mut path = ground.origin().into_os_string().into_encoded_bytes();
    path.truncate(path.len() - "origin.git".len());
    let odd = [&path[..], b"\xff.git"].concat();
    let at: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(odd.clone());
    std::fs::rename(ground.origin(), &at).unwrap();
    for answer in url(&odd) {
        answer.ok();
    }
}
