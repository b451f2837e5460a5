//! The register on a git remote, with real repositories: the medium's contract, and what a server may do to it.
#![expect(clippy::disallowed_methods, reason = "tests start git and its daemon")]
#![expect(clippy::disallowed_macros, reason = "what was seen is told")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

#[path = "support/origin.rs"]
mod origin;
mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use holdfast_kernel::{Command as Ask, Fence, Holder, LeaseId, Millis, Refusal, Text};
use holdfast_remote::gitref::{Access, GitRef, REF};
use holdfast_remote::local::Local;
use holdfast_remote::shared::Latest;
use holdfast_remote::{Along, Note, Register, Settings, Shared};
use holdfast_store::conformance::{self, Planted, Subject};
use holdfast_store::{Error, JournaledMedium as _, Medium, Trouble};
use holdfast_sys::Sys;
use holdfast_trial::daemon::Daemon;
use origin::{access, bare, beside, git, long, made, open_at, settings, take};
use support::{COUNTER, policy, trouble};

fn open_files(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    let origin = beside(dir, ".git");
    if !origin.exists() {
        assert!(bare(&origin, "files"));
    }
    Box::new(made(sys, dir, origin.to_str().unwrap()))
}

fn open_reftable(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    let origin = beside(dir, ".git");
    if !origin.exists() {
        assert!(bare(&origin, "reftable"));
    }
    Box::new(made(sys, dir, origin.to_str().unwrap()))
}

/// Contents of a clone's memory that are refused by name: a few, since each costs several calls of git.
fn hostile(dir: &Path) -> Vec<Planted> {
    support::hostile(dir).into_iter().filter(|(_, bytes)| bytes.len() < 12).take(6).collect()
}

/// The file that says, above the directories of a suite, where the daemon is that serves what is below.
const SERVED: &str = "served.url";

fn open_served(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    let origin = beside(dir, ".git");
    let base = dir.ancestors().find(|above| above.join(SERVED).exists()).unwrap();
    if !origin.exists() {
        assert!(bare(&origin, "reftable") || bare(&origin, "files"));
    }
    let url = std::fs::read_to_string(base.join(SERVED)).unwrap();
    Box::new(made(sys, dir, &format!("{url}{}", origin.strip_prefix(base).unwrap().display())))
}

const FILES: Subject = Subject { open: open_files, resources: &["one", "two"], shared: true, hostile };
const REFTABLE: Subject = Subject { open: open_reftable, ..FILES };
const DAEMON: Subject = Subject { open: open_served, ..FILES };

#[test]
fn it_keeps_to_the_contract_on_a_bare_repository() {
    let scratch = tempfile::tempdir().unwrap();
    conformance::on_real_files(&FILES, scratch.path());
}

#[test]
fn it_keeps_to_the_contract_on_a_bare_repository_with_a_reftable() {
    let scratch = tempfile::tempdir().unwrap();
    if !bare(&scratch.path().join("probe.git"), "reftable") {
        println!("skipped: this git makes no repository in the format reftable");
        return;
    }
    conformance::on_real_files(&REFTABLE, scratch.path());
}

#[test]
fn it_keeps_to_the_contract_by_a_daemon() {
    let scratch = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(scratch.path()).expect("git daemon");
    std::fs::write(scratch.path().join(SERVED), daemon.url("")).unwrap();
    conformance::on_real_files(&DAEMON, scratch.path());
}

/// Two clones of one origin.
struct Two {
    scratch: tempfile::TempDir,
    origin: PathBuf,
    ann: Shared,
    bob: Shared,
}

impl Two {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let origin = scratch.path().join("origin.git");
        assert!(bare(&origin, "files"));
        let [ann, bob] = ["ann", "bob"].map(|who| {
            let dir = scratch.path().join(who);
            std::fs::create_dir(&dir).unwrap();
            made(&Sys::os(), &dir, origin.to_str().unwrap())
        });
        Self { scratch, origin, ann, bob }
    }

    fn tip(&self) -> String {
        git(&self.origin, &["rev-parse", REF])
    }
}

#[test]
fn two_clones_do_not_get_the_same_thing_and_the_history_has_both() {
    let two = Two::new();
    let anns = take(&two.ann, "one", "ann").unwrap();
    let refusal = take(&two.bob, "one", "bob");
    assert!(matches!(refusal, Err(Error::Refused(Refusal::Held { .. }))), "{refusal:?}");
    // A grant may rest on an old head: the swap finds out, and decides again.
    let bobs = take(&two.bob, "two", "bob").unwrap();
    let anns_other = take(&two.ann, "three", "ann").unwrap();
    assert!(anns.fence < bobs.fence && bobs.fence < anns_other.fence);
    let mut seen = Vec::new();
    let checked = two.bob.history(&mut |record| seen.push(record.lease.resource.to_string())).unwrap();
    assert_eq!((checked.records, seen), (3, vec!["one".to_owned(), "two".into(), "three".into()]));
}

#[test]
fn what_a_clone_knows_and_how_old_it_is_can_be_asked() {
    let two = Two::new();
    take(&two.ann, "one", "ann").unwrap();
    let known = two.bob.known(true).unwrap();
    assert_eq!(known.view.table.len(), 1);
    assert!(known.age < Millis::from_secs(60) && known.unresolved.is_none());
    assert_eq!(known.watched.len(), 1, "ann's lease is another clone's");
}

#[test]
fn a_ref_that_was_set_back_or_deleted_stops_everything() {
    let two = Two::new();
    let before = two.tip();
    take(&two.ann, "one", "ann").unwrap();
    let after = two.tip();
    git(&two.origin, &["update-ref", REF, &before]);
    assert_eq!(trouble(take(&two.ann, "two", "ann")), Trouble::Forked);
    assert_eq!(trouble(two.ann.known(true)), Trouble::Forked);
    // Whoever had not seen the lost step cannot know of it, and goes on; the one who had still stops.
    take(&two.bob, "one", "bob").unwrap();
    take(&two.bob, "two", "bob").unwrap();
    assert_eq!(trouble(take(&two.ann, "three", "ann")), Trouble::Forked);
    git(&two.origin, &["update-ref", REF, &after]);
    assert_eq!(trouble(take(&two.bob, "three", "bob")), Trouble::Forked);
    take(&two.ann, "two", "ann").unwrap();
    git(&two.origin, &["update-ref", "-d", REF]);
    assert_eq!(trouble(take(&two.ann, "three", "ann")), Trouble::Forked);
}

#[test]
fn nothing_is_made_because_it_is_missing_and_another_counter_is_not_taken() {
    let scratch = tempfile::tempdir().unwrap();
    let origin = scratch.path().join("origin.git");
    assert!(bare(&origin, "files"));
    let (dir, sys) = (scratch.path().join("ann"), Sys::os());
    std::fs::create_dir(&dir).unwrap();
    let shared = open_at(&sys, &dir, origin.to_str().unwrap(), settings());
    assert_eq!(trouble(take(&shared, "one", "ann")), Trouble::Missing);
    assert_eq!(git(&origin, &["for-each-ref"]), "");
    shared.make(COUNTER, Fence::FIRST).unwrap();
    assert!(!shared.make(COUNTER, Fence::FIRST).unwrap(), "it is there already");
    let other = holdfast_store::CounterId::new(LeaseId::new(8));
    assert_eq!(trouble(shared.make(other, Fence::FIRST)), Trouble::Missing);
    let strict = Settings { counter: Some(other), ..settings() };
    let strict = open_at(&sys, &dir, origin.to_str().unwrap(), strict);
    assert_eq!(trouble(strict.known(true)), Trouble::Missing);
    let floor = Settings { floor: Some(Fence::new(99).unwrap()), ..settings() };
    let floor = open_at(&sys, &dir, origin.to_str().unwrap(), floor);
    assert_eq!(trouble(floor.known(true)), Trouble::Forked);
}

#[test]
fn a_server_that_refuses_is_quoted_and_one_that_is_gone_is_unavailable() {
    let two = Two::new();
    take(&two.ann, "one", "ann").unwrap();
    git(&two.origin, &["config", "receive.hideRefs", "refs/worktree"]);
    assert_eq!(trouble(take(&two.ann, "two", "ann")), Trouble::Refused);
    git(&two.origin, &["config", "--unset", "receive.hideRefs"]);
    let hook = two.origin.join("hooks/update");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho 'no pushes today' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let Err(Error::Shared { trouble: Trouble::Refused, what }) = take(&two.ann, "two", "ann") else {
        panic!("a hook refused the push")
    };
    assert!(what.contains("no pushes today"), "{what}");
    std::fs::remove_file(&hook).unwrap();
    take(&two.ann, "in between", "ann").unwrap();
    let aside = two.scratch.path().join("aside.git");
    std::fs::rename(&two.origin, &aside).unwrap();
    assert_eq!(trouble(two.ann.known(true)), Trouble::Unavailable);
    // A push that cannot be made may have been: that is what the next command finds out.
    assert_eq!(trouble(take(&two.ann, "two", "ann")), Trouble::Unresolved);
    std::fs::rename(&aside, &two.origin).unwrap();
    take(&two.ann, "two", "ann").unwrap();
    assert_eq!(two.ann.known(true).unwrap().view.table.len(), 3);
}

/// Objects cost both sides time, and a long head would travel whole with every step.
#[test]
fn a_step_is_one_object_unless_the_head_is_long() {
    let two = Two::new();
    // A server that looks at everything that it is sent.
    git(&two.origin, &["config", "receive.fsckObjects", "true"]);
    let objects = || {
        let all = git(&two.origin, &["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"]);
        all.lines().map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let files = || git(&two.origin, &["ls-tree", "--name-only", REF]);
    take(&two.ann, "one", "ann").unwrap();
    let before = objects().len();
    take(&two.ann, "two", "ann").unwrap();
    assert_eq!((objects().len(), &*files()), (before + 1, ""));
    for number in 0..12 {
        take(&two.ann, &format!("one-of-many-{number}"), "ann").unwrap();
    }
    assert_eq!(files(), "head.json");
    let before = objects().len();
    take(&two.bob, "three", "bob").unwrap();
    assert_eq!(objects().len(), before + 3, "the commit, its tree and the head");
    assert_eq!(two.ann.known(true).unwrap().view.table.len(), 15);
    assert_eq!(two.ann.history(&mut |_| ()).unwrap().records, 15);
    git(&two.origin, &["fsck", "--strict"]);
}

/// Git reads histories from the youngest commit on, and stops where all that is left is older than what it looks for. A step
/// that is not younger than the one before, or older than the branches, has it read all of them, at both ends of a push.
#[test]
fn every_step_is_younger_than_the_one_before_and_than_the_branches() {
    let two = Two::new();
    let first = two.commit("ann", None, "first");
    let work = beside(&two.scratch.path().join("ann"), ".work");
    git(&work, &["push", "-q", "origin", &format!("{first}:refs/heads/main")]);
    // Several in one second, of two machines.
    for number in 0..6 {
        take(&two.ann, &format!("a-{number}"), "ann").unwrap();
        take(&two.bob, &format!("b-{number}"), "bob").unwrap();
    }
    let dates = |of: &str| -> Vec<i64> {
        git(&two.origin, &["log", "--format=%ct", of]).lines().map(|date| date.parse().unwrap()).collect()
    };
    let steps = dates(REF);
    assert!(steps.len() > 12 && steps.is_sorted_by(|later, earlier| later > earlier), "{steps:?}");
    assert!(steps[0] >= dates("main")[0], "{steps:?}");
}

#[test]
fn a_history_that_is_cut_goes_on_and_is_still_known_to_whoever_saw_it_before() {
    let two = Two::new();
    let cutting = |who: &str| {
        let dir = two.scratch.path().join(who);
        let access = access(&beside(&dir, ".work"), two.origin.to_str().unwrap());
        let register = GitRef::open(&Sys::os(), &access).unwrap().cut_every(3);
        Shared::new(Sys::os(), Box::new(register), Local::new(dir, 0o600), settings())
    };
    let (ann, bob) = (cutting("ann"), cutting("bob"));
    take(&bob, "zero", "bob").unwrap();
    for resource in ["one", "two", "three", "four", "five"] {
        take(&ann, resource, "ann").unwrap();
    }
    assert_eq!(
        git(&two.origin, &["for-each-ref", "--format=%(refname)", "refs/jit/archive"]),
        "refs/jit/archive/3\nrefs/jit/archive/6"
    );
    assert_eq!(git(&two.origin, &["rev-list", "--count", REF]), "1");
    // Bob last saw a step that lies two cuts back.
    assert_eq!(bob.known(true).unwrap().view.table.len(), 6);
    assert!(matches!(take(&bob, "one", "bob"), Err(Error::Refused(Refusal::Held { .. }))));
    take(&bob, "six", "bob").unwrap();
    assert_eq!(two.ann.history(&mut |_| ()).unwrap().records, 1, "what is before the cut is in the archive");
}

#[test]
fn a_copied_clone_gets_a_new_id_and_stops_once() {
    let two = Two::new();
    take(&two.ann, "one", "ann").unwrap();
    let (from, to) = (two.scratch.path().join("ann"), two.scratch.path().join("copy"));
    std::fs::create_dir(&to).unwrap();
    for file in std::fs::read_dir(&from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
    let copy = made(&Sys::os(), &to, two.origin.to_str().unwrap());
    take(&two.ann, "two", "ann").unwrap();
    assert_eq!(trouble(take(&copy, "three", "copy")), Trouble::Copied);
    take(&copy, "three", "copy").unwrap();
    take(&two.ann, "four", "ann").unwrap();
    assert_ne!(copy.known(true).unwrap().clone, two.ann.known(true).unwrap().clone);
}

#[test]
fn several_push_urls_are_refused_and_credentials_are_not_shown() {
    let scratch = tempfile::tempdir().unwrap();
    let work = scratch.path().join("work");
    let mut access = access(&work, "http://ann:s3cret@127.0.0.1:1/x.git");
    access.limit = Duration::from_secs(20);
    let register = GitRef::open(&Sys::os(), &access).unwrap();
    assert!(!Register::name(&register).contains("s3cret"), "{}", Register::name(&register));
    let why = register.read().unwrap_err().to_string();
    assert!(!why.contains("s3cret"), "{why}");
    git(&work, &["remote", "set-url", "--add", "--push", "origin", "/a"]);
    git(&work, &["remote", "set-url", "--add", "--push", "origin", "/b"]);
    let why = GitRef::open(&Sys::os(), &access).err().expect("two URLs").to_string();
    assert!(why.contains("several push URLs"), "{why}");
}

impl Two {
    /// A commit that a clone has and the origin does not.
    fn commit(&self, who: &str, parent: Option<&str>, message: &str) -> String {
        let work = beside(&self.scratch.path().join(who), ".work");
        let tree = git(&work, &["mktree"]);
        let mut args = vec!["-c", "user.name=t", "-c", "user.email=t@example.org", "commit-tree", &tree];
        args.extend(parent.iter().flat_map(|parent| ["-p", *parent]));
        args.extend(["-m", message]);
        git(&work, &args)
    }

    fn main(&self) -> String {
        git(&self.origin, &["for-each-ref", "--format=%(objectname)", "refs/heads/main"])
    }
}

fn along(expected: Option<&str>, to: &str) -> Along {
    Along { name: "refs/heads/main".into(), expected: expected.map(ToOwned::to_owned), to: to.into() }
}

#[test]
fn a_branch_moves_with_the_claims_or_not_at_all() {
    let two = Two::new();
    let lease = take(&two.ann, "one", "ann").unwrap();
    let first = two.commit("ann", None, "first");
    two.ann.publish(&[lease.claim()], &along(None, &first), true).unwrap();
    assert_eq!(two.main(), first);
    assert_eq!(two.bob.known(true).unwrap().head.tip.as_deref(), Some(first.as_str()));
    // Others have claimed in between: the step is made anew, and what travels was handed over before.
    take(&two.bob, "two", "bob").unwrap();
    let second = two.commit("ann", Some(&first), "second");
    two.ann.publish(&[lease.claim()], &along(Some(&first), &second), true).unwrap();
    assert_eq!(two.main(), second);
    assert_eq!(git(&two.origin, &["for-each-ref", "refs/jit/staged"]), "");
    // The branch is elsewhere than expected: neither moves, and the claims go on.
    let (third, tip) = (two.commit("ann", Some(&second), "third"), two.tip());
    let late = two.ann.publish(&[lease.claim()], &along(Some(&first), &third), true);
    assert_eq!((trouble(late), two.main(), two.tip()), (Trouble::Behind, second.clone(), tip));
    // Displaced, though this clone has not seen it.
    let by = Holder { agent: support::name("bob"), place: support::name("bob") };
    let evict = Ask::Evict { lease: lease.id, by, reason: Text::new("it sleeps").unwrap() };
    two.bob.transact(&policy(), &evict).unwrap();
    take(&two.bob, "one", "bob").unwrap();
    let refused = two.ann.publish(&[lease.claim()], &along(Some(&second), &third), true);
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    assert_eq!(two.main(), second);
    two.ann.history(&mut |_| ()).unwrap();
}

#[test]
fn a_server_that_moved_the_branch_alone_gets_the_step_too() {
    let two = Two::new();
    let lease = take(&two.ann, "one", "ann").unwrap();
    let first = two.commit("ann", None, "first");
    let work = beside(&two.scratch.path().join("ann"), ".work");
    git(&work, &["push", "-q", "origin", &format!("{first}:refs/heads/main")]);
    two.ann.publish(&[lease.claim()], &along(None, &first), true).unwrap();
    assert_eq!(two.bob.known(true).unwrap().head.tip.as_deref(), Some(first.as_str()));
}

/// What reaches a server by ssh in these tests: it kills the server's git at a rename, if a file says at which.
const SSH: &str = r#"#!/bin/sh
for last; do :; done
at=${0%/*}/kill-at
case $last in
git-receive-pack*)
  if [ -s "$at" ]; then
    n=$(cat "$at"); : > "$at"
    exec strace -f -qq -o /dev/null -e trace=rename -e inject=rename:signal=KILL:when="$n" sh -c "$last"
  fi ;;
esac
exec sh -c "$last"
"#;

/// The server's git dies at every rename that it makes, one after the other: the branch and the claims are mended by
/// the next attempt, whatever was left.
#[test]
fn a_server_that_dies_at_any_rename_is_made_up_for() {
    if !holdfast_trial::has("strace") {
        println!("strace is not installed: the server is not killed");
        return;
    }
    let two = Two::new();
    let bin = two.scratch.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let ssh = bin.join("ssh");
    std::fs::write(&ssh, SSH).unwrap();
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let url = format!("ssh://host{}", two.origin.display());
    let dir = two.scratch.path().join("cal");
    std::fs::create_dir(&dir).unwrap();
    let open = || {
        let access = Access {
            ssh_command: Some(ssh.to_str().unwrap().to_owned()),
            ..access(&beside(&dir, ".work"), &url)
        };
        let register = GitRef::open(&Sys::os(), &access).unwrap();
        Shared::new(Sys::os(), Box::new(register), Local::new(dir.clone(), 0o600), settings())
    };
    let lease = take(&open(), "one", "cal").unwrap();
    let (mut killed, mut alone, mut left) = (0, 0, 0);
    // Git moves a branch that is there first, and one that is new last.
    for name in ["refs/heads/main", "refs/heads/new"] {
        let mut before = None;
        for at in 1..=if long() { 12 } else { 6 } {
            let commit = two.commit("cal", before.as_deref(), &format!("work {at}"));
            let name = if name.ends_with("new") { format!("{name}-{at}") } else { name.to_owned() };
            let expected = before.filter(|_| name == "refs/heads/main");
            let along = Along { name, expected, to: commit.clone() };
            let branch = || git(&two.origin, &["for-each-ref", "--format=%(objectname)", &along.name]);
            let tip = two.tip();
            std::fs::write(bin.join("kill-at"), at.to_string()).unwrap();
            let said = open().publish(&[lease.claim()], &along, true);
            killed += u32::from(said.is_err());
            alone += u32::from(branch() == commit && two.tip() == tip);
            left += u32::from(branch() != commit && two.tip() != tip);
            if said.is_ok() {
                assert_eq!(branch(), commit, "killed at rename {at}, told yes");
            }
            // What a dead git leaves behind is removed by whoever keeps the server.
            for name in [&along.name, REF, "refs/jit/kept/claims", "packed-refs"] {
                let _ = std::fs::remove_file(two.origin.join(format!("{name}.lock")));
            }
            open().publish(&[lease.claim()], &along, true).unwrap();
            assert_eq!(branch(), commit, "killed at rename {at}: {said:?}");
            let known = two.bob.known(true).unwrap();
            assert_eq!(known.head.tip.as_deref(), Some(commit.as_str()), "killed at rename {at}: {said:?}");
            two.bob.history(&mut |_| ()).unwrap();
            before = Some(commit);
        }
    }
    println!(
        "{killed} publishes failed at first, {alone} times the branch had moved alone, {left} times the claims"
    );
}

/// In a worktree of its own git does not see what others have below `refs/worktree`.
#[test]
fn what_the_register_is_on_is_not_collected_in_any_worktree_of_the_server() {
    let two = Two::new();
    let first = two.commit("ann", None, "first");
    let work = beside(&two.scratch.path().join("ann"), ".work");
    git(&work, &["push", "-q", "origin", &format!("{first}:refs/heads/main")]);
    let linked = two.scratch.path().join("linked");
    git(&two.origin, &["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    take(&two.ann, "one", "ann").unwrap();
    git(&linked, &["gc", "-q", "--prune=now"]);
    git(&two.origin, &["fsck", "--connectivity-only"]);
    assert!(matches!(take(&two.bob, "one", "bob"), Err(Error::Refused(Refusal::Held { .. }))));
    take(&two.bob, "two", "bob").unwrap();
}

#[test]
fn a_fork_in_the_place_of_the_server_is_not_taken_for_it() {
    let two = Two::new();
    take(&two.ann, "one", "ann").unwrap();
    let fork = two.scratch.path().join("fork.git");
    git(two.scratch.path(), &["clone", "-q", "--bare", two.origin.to_str().unwrap(), fork.to_str().unwrap()]);
    for who in ["ann", "new"] {
        let dir = two.scratch.path().join(who);
        std::fs::create_dir_all(&dir).unwrap();
        drop(access(&beside(&dir, ".work"), two.origin.to_str().unwrap()));
        let work = beside(&dir, ".work");
        git(&work, &["remote", "set-url", "--push", "origin", fork.to_str().unwrap()]);
    }
    // Whoever has seen the claims stops, and nobody makes any there.
    let open = |who: &str| open_at(&Sys::os(), &two.scratch.path().join(who), "unused", settings());
    assert_eq!(trouble(take(&open("ann"), "two", "ann")), Trouble::Forked);
    assert_eq!(trouble(take(&open("new"), "two", "new")), Trouble::Missing);
    assert_eq!(git(&fork, &["for-each-ref", "refs/jit", "refs/worktree"]), "");
}

#[test]
fn nothing_is_granted_to_a_clone_that_does_not_have_what_was_landed_last() {
    let two = Two::new();
    let landed = two.commit("ann", None, "first");
    two.ann.note(&[Note::Landed { commit: landed.clone() }], &|_| Ok(())).unwrap();
    let dir = two.scratch.path().join("bob");
    let bob = open_at(&Sys::os(), &dir, two.origin.to_str().unwrap(), settings()).granting_if(|_| false);
    assert_eq!(trouble(take(&bob, "one", "bob")), Trouble::Behind);
    let bob = open_at(&Sys::os(), &dir, two.origin.to_str().unwrap(), settings())
        .granting_if(move |latest| latest == Latest::Landed(&landed));
    let lease = take(&bob, "one", "bob").unwrap();
    // A branch that was pushed is something else that it has to have.
    let to = two.commit("ann", None, "work");
    two.ann.publish(&[], &Along { name: "refs/heads/work".into(), expected: None, to }, false).unwrap();
    assert_eq!(trouble(take(&bob, "two", "bob")), Trouble::Behind);
    // What takes nothing needs nothing.
    let bob = bob.granting_if(|_| false);
    bob.transact(&policy(), &Ask::Release { lease: lease.id, holder: lease.holder }).unwrap();
    let objects = two.ann.note(&[Note::Sealed], &|view| {
        if view.table.is_empty() { Err(Trouble::Full.because("nothing to seal")) } else { Ok(()) }
    });
    assert_eq!(trouble(objects), Trouble::Full);
}

#[test]
fn a_clone_that_joins_anew_is_another_one_and_still_sees_the_claims() {
    let two = Two::new();
    let lease = take(&two.ann, "one", "ann").unwrap();
    let before = two.ann.clone_id().unwrap();
    let after = two.ann.join().unwrap();
    assert_ne!(before, after);
    assert_eq!(two.ann.clone_id().unwrap(), after);
    assert_eq!(two.ann.known(true).unwrap().view.table.len(), 1);
    two.ann.transact(&policy(), &Ask::Release { lease: lease.id, holder: lease.holder }).unwrap();
    take(&two.bob, "one", "bob").unwrap();
}

#[test]
fn a_clone_that_made_the_register_is_not_taken_for_a_copy() {
    let scratch = tempfile::tempdir().unwrap();
    let (origin, dir) = (scratch.path().join("origin.git"), scratch.path().join("ann"));
    assert!(bare(&origin, "files"));
    std::fs::create_dir(&dir).unwrap();
    let ann = open_at(&Sys::os(), &dir, origin.to_str().unwrap(), settings());
    assert!(ann.make(COUNTER, Fence::FIRST).unwrap());
    assert!(ann.make(COUNTER, Fence::FIRST).is_ok());
    take(&ann, "one", "ann").unwrap();
}
