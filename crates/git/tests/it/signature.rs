//! Who writes, beside what git says.

use holdfast_git::objects::Made;
use holdfast_git::signature::{self, Role};
use holdfast_git::{Config, ObjectId, Objects};
use holdfast_sys::os::OsFiles;

use crate::sandbox::Sandbox;

const ROLES: [(Role, &str); 2] =
    [(Role::Author, "GIT_AUTHOR_IDENT"), (Role::Committer, "GIT_COMMITTER_IDENT")];

/// Asks git and us who writes; none where git has to be asked.
fn agree(sandbox: &Sandbox, at: &str) -> Option<usize> {
    let dir = sandbox.root.join(at);
    let (repository, env) = (sandbox.found(&dir), sandbox.env());
    let config = Config::read(&OsFiles, &env, Some(&repository)).unwrap();
    let mut told = 0;
    for (role, variable) in ROLES {
        let mut git = sandbox.command(&dir);
        for name in ["AUTHOR", "COMMITTER"] {
            for what in ["NAME", "EMAIL", "DATE"] {
                let name = format!("GIT_{name}_{what}");
                if sandbox.var(&name).is_none() {
                    git.env_remove(name);
                }
            }
        }
        let said = String::from_utf8(git.args(["var", variable]).output().unwrap().stdout).unwrap();
        let seconds = said.rsplit(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(1_700_000_000);
        let Some(ours) = signature::of(&OsFiles, &env, &config, role, seconds) else { continue };
        assert_eq!(String::from_utf8(ours).unwrap(), said.trim_end(), "{variable}");
        told += 1;
    }
    (told > 0).then_some(told)
}

#[test]
fn names_come_from_where_git_has_them_from() {
    let mut sandbox = Sandbox::new();
    let dir = sandbox.repository("repo");
    sandbox.set("TZ", "UTC");
    assert_eq!(agree(&sandbox, "repo"), None, "nobody says who it is");
    sandbox.git(&dir, &["config", "user.name", "U Ser"]);
    assert_eq!(agree(&sandbox, "repo"), None, "nobody says where");
    sandbox.git(&dir, &["config", "user.email", "u@example.org"]);
    assert_eq!(agree(&sandbox, "repo"), Some(2));
    sandbox.git(&dir, &["config", "committer.name", "C O Mitter"]);
    sandbox.git(&dir, &["config", "author.email", "author@example.org"]);
    assert_eq!(agree(&sandbox, "repo"), Some(2));
    sandbox.set("GIT_AUTHOR_NAME", "Zoë O'Hara");
    assert_eq!(agree(&sandbox, "repo"), Some(2));
    for odd in ["", "  ", "x.", "\"x\"", "a\nb", "a <b> c", ","] {
        sandbox.set("GIT_AUTHOR_NAME", odd);
        assert_eq!(agree(&sandbox, "repo"), Some(1), "{odd:?}");
    }
    sandbox.set("GIT_COMMITTER_DATE", "1700000000 +0100");
    assert_eq!(agree(&sandbox, "repo"), None);
}

/// Summer and winter, halves and quarters of an hour.
#[test]
fn zones_are_those_of_git() {
    let mut sandbox = Sandbox::new();
    let dir = sandbox.repository("repo");
    sandbox.set("GIT_COMMITTER_NAME", "A");
    sandbox.set("GIT_COMMITTER_EMAIL", "a@b");
    let zones = [
        "",
        "UTC",
        "UTC0",
        "Europe/Berlin",
        "America/St_Johns",
        "Asia/Kathmandu",
        "Etc/GMT+5",
        "CET",
        "EST5EDT",
        "Nowhere/AtAll",
        "../../../etc/localtime",
        "<x>-3",
    ];
    let mut told = 0;
    for zone in zones {
        sandbox.set("TZ", zone);
        for seconds in [1_700_000_000_i64, 1_720_000_000, 1_729_990_799, 1_729_990_800, 1_743_296_399] {
            let mut git = sandbox.command(&dir);
            git.env("GIT_COMMITTER_DATE", format!("{seconds} +0000")).env("TZ", zone);
            let date = "--date=format-local:%z";
            git.env("GIT_AUTHOR_DATE", format!("{seconds} +0000"));
            assert!(git.args(["commit", "-q", "--allow-empty", "-m", "x"]).status().unwrap().success());
            let mut git = sandbox.command(&dir);
            let said = git.env("TZ", zone).args(["show", "-s", date, "--format=%cd"]).output().unwrap();
            let said = String::from_utf8(said.stdout).unwrap();
            let (repository, env) = (sandbox.found(&dir), sandbox.env());
            let config = Config::read(&OsFiles, &env, Some(&repository)).unwrap();
            if let Some(ours) = signature::of(&OsFiles, &env, &config, Role::Committer, seconds) {
                let ours = String::from_utf8(ours).unwrap();
                assert_eq!(ours, format!("A <a@b> {seconds} {}", said.trim()), "{zone}");
                told += 1;
            }
        }
    }
    assert!(told >= 15, "only {told} were told");
}

#[test]
fn a_commit_that_is_made_here_is_the_one_that_git_makes() {
    let sandbox = Sandbox::new();
    let dir = sandbox.repository("repo");
    let (repository, env) = (sandbox.found(&dir), sandbox.env());
    let objects = Objects::open(&OsFiles, &repository, &env, &dir).unwrap();
    let id = |name: &str| ObjectId::from_hex(&sandbox.git(&dir, &["rev-parse", name])).unwrap();
    let (tree, head) = (id("HEAD^{tree}"), id("HEAD"));
    sandbox.commit(&dir, "second");
    let second = id("HEAD");
    let by = b"A U Thor <a@example.org> 1700000000 +0000";
    let messages: [&[u8]; 9] = [
        b"",
        b"a line",
        b"a line\n",
        b"two\n\nlines\n\n\n",
        b"\n\nlate",
        "Zoë ∞ 𝒳\n".as_bytes(),
        b"caf\xe9\n",
        "not\u{fffe}one\n".as_bytes(),
        b"a\0b",
    ];
    let mut left = Vec::new();
    for (number, message) in messages.into_iter().enumerate() {
        for parents in [&[][..], &[head], &[head, second], &[head, head]] {
            let nonce = u128::from(u8::try_from(number).unwrap());
            let made = Made { tree: &tree, parents, author: by, committer: by, message };
            let Some(ours) = objects.make_commit(&made, nonce).unwrap() else {
                left.push((number, parents.len()));
                continue;
            };
            let mut git = sandbox.command(&dir);
            git.args(["commit-tree", &tree.to_string(), "-F"]).arg(sandbox.file("message", message));
            git.args(parents.iter().flat_map(|parent| ["-p".to_owned(), parent.to_string()]));
            let said = git.output().unwrap();
            assert_eq!(ObjectId::from_hex(said.stdout.trim_ascii()), Some(ours), "{number}");
            sandbox.git(&dir, &["cat-file", "commit", &ours.to_string()]);
        }
    }
    assert!(left.contains(&(6, 1)) && left.contains(&(7, 1)) && left.contains(&(8, 1)), "{left:?}");
    assert_eq!(left.len(), 3 * 4 + 6, "{left:?}");
    sandbox.git(&dir, &["fsck", "--strict"]);
}
