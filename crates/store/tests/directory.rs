//! What only the directory medium does: it shares its locks with scripts that know nothing but `mkdir`,
//! and lives in a root that anybody may have put things into.
#![expect(clippy::disallowed_methods, reason = "these tests put real files into a medium's way")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use common::{acquire, damage, evict, grant, holder, name, names, policy, release, sys};
use holdfast_kernel::{Answer, Claim, Command, Fence, Lease, Millis, Refusal};
use holdfast_store::conformance::{Call, Watched};
use holdfast_store::directory::{DAMAGED, Directory, GHOST, Settings};
use holdfast_store::{Error, Medium, Patience};
use holdfast_sys::{Guard, LockMode, Sys};
use tempfile::TempDir;

const GHOST_AFTER: Millis = Millis::new(5_000);
const GHOST_SKEW: Millis = Millis::new(1_000);

fn fresh() -> (Sys, TempDir, Directory) {
    let (sys, root) = (sys(), tempfile::tempdir().unwrap());
    let settings = Settings { ghost_after: GHOST_AFTER, ghost_skew: GHOST_SKEW, ..Settings::default() };
    let medium = Directory::new(sys.clone(), root.path(), settings);
    (sys, root, medium)
}

/// What is in the table for a lock.
fn seen(medium: &Directory, resource: &str) -> Lease {
    medium.view().unwrap().table.on(&name(resource).into()).next().unwrap().clone()
}

#[test]
fn the_names_are_those_of_all_locks_also_where_the_owner_is_missing_or_cannot_be_read() {
    let (sys, root, medium) = fresh();
    assert_eq!(medium.names().unwrap(), []);
    let lease = grant(&sys, &medium, "sprint/held", "anna");
    fs::create_dir(root.path().join("sprint/made")).unwrap();
    fs::create_dir_all(root.path().join("other/unreadable/owner.json")).unwrap();
    let all = ["other/unreadable", "sprint/held", "sprint/made"].map(|lock| name(lock).into());
    assert_eq!(medium.names().unwrap(), all);
    release(&medium, &lease).unwrap();
    assert_eq!(medium.names().unwrap(), [all[0].clone(), all[2].clone()]);
}

/// Lets the locks without an owner grow old enough to be taken over.
fn grow_old(sys: &Sys) {
    // The file system's clock has gone on meanwhile, the test's has not.
    sys.clock.sleep(GHOST_AFTER.plus(GHOST_SKEW).plus(Millis::new(60_000)));
}

#[test]
fn a_lock_is_a_directory_with_an_owner_and_nobody_else_may_look() {
    let (sys, root, medium) = fresh();
    let lease = grant(&sys, &medium, "sprint/7", "anna");
    let lock = root.path().join("sprint/7");
    assert_eq!(names(&sys, &lock), ["owner.json"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&root.path().join("sprint")), mode(&lock)), (0o700, 0o700));
    for file in [lock.join("owner.json"), root.path().join(".guard"), root.path().join(".fence")] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(fs::create_dir(&lock).unwrap_err().kind(), ErrorKind::AlreadyExists);
    release(&medium, &lease).unwrap();
    assert_eq!(names(&sys, &root.path().join("sprint")), Vec::<String>::new());
    fs::create_dir(&lock).unwrap();
}

#[test]
fn a_lock_made_by_mkdir_keeps_others_out_until_it_is_old() {
    let (sys, root, medium) = fresh();
    let lock = root.path().join("sprint/7");
    fs::create_dir_all(&lock).unwrap();
    let ghost = seen(&medium, "sprint/7");
    assert!(ghost.tags.get(GHOST).is_some());
    assert_eq!(seen(&medium, "sprint/7"), ghost, "looking again shows the same");
    let refused = acquire(&sys, &medium, "sprint/7", "anna");
    assert!(matches!(refused, Err(Error::Refused(Refusal::Held { .. }))), "{refused:?}");
    grow_old(&sys);
    let lease = grant(&sys, &medium, "sprint/7", "anna");
    assert!(lease.fence > ghost.fence);
    assert_eq!(seen(&medium, "sprint/7"), lease);
    assert_eq!(names(&sys, &root.path().join("sprint")), ["7"]);
}

#[test]
fn a_sweep_recovers_old_locks_without_an_owner_and_no_others() {
    let (sys, root, medium) = fresh();
    fs::create_dir_all(root.path().join("sprint/old")).unwrap();
    fs::create_dir_all(root.path().join("sprint/marked")).unwrap();
    fs::write(root.path().join("sprint/marked/.fallback"), "").unwrap();
    let marked = seen(&medium, "sprint/marked");
    assert!(marked.tags.get(GHOST).unwrap().as_str().contains("marker"));
    assert_eq!(medium.transact(&policy(), &Command::Sweep).unwrap(), Answer::Swept(Vec::new()));
    grow_old(&sys);
    grant(&sys, &medium, "sprint/young", "anna");
    let Answer::Swept(swept) = medium.transact(&policy(), &Command::Sweep).unwrap() else { panic!() };
    assert_eq!(swept.len(), 2);
    assert_eq!(names(&sys, &root.path().join("sprint")), ["young"]);
}

#[test]
fn nobody_is_the_holder_of_a_lock_without_an_owner() {
    let (_, root, medium) = fresh();
    fs::create_dir_all(root.path().join("sprint/7")).unwrap();
    let ghost = seen(&medium, "sprint/7");
    let renewal = Command::Renew { lease: ghost.id, holder: ghost.holder.clone(), ttl: None };
    for result in [release(&medium, &ghost), medium.transact(&policy(), &renewal)] {
        assert!(matches!(result, Err(Error::Refused(Refusal::NotHolder { .. }))), "{result:?}");
    }
    let result = medium.guarded(&ghost.claim(), &mut |_| panic!("nobody holds a ghost"));
    assert!(matches!(result, Err(Error::Refused(Refusal::FencedOut { .. }))), "{result:?}");
    evict(&medium, &ghost).unwrap();
    assert!(medium.view().unwrap().table.is_empty());
}

#[test]
fn an_eviction_is_for_the_lock_that_was_looked_at_and_no_other() {
    let (_, root, medium) = fresh();
    let lock = root.path().join("sprint/7");
    fs::create_dir_all(&lock).unwrap();
    let ghost = seen(&medium, "sprint/7");
    fs::write(lock.join(".fallback"), "").unwrap();
    let later = fs::metadata(&lock).unwrap().modified().unwrap() + Duration::from_secs(1);
    fs::File::open(&lock).unwrap().set_modified(later).unwrap();
    let result = evict(&medium, &ghost);
    assert!(matches!(result, Err(Error::Refused(Refusal::NotFound { .. }))), "{result:?}");
    assert!(lock.exists());
}

/// A lock that cannot be read, and one beside it that can.
fn unreadable(spoil: impl Fn(&Path)) {
    let (sys, root, medium) = fresh();
    let broken = grant(&sys, &medium, "sprint/broken", "anna");
    let fine = grant(&sys, &medium, "sprint/fine", "anna");
    let lock = root.path().join("sprint/broken");
    spoil(&lock);
    let placeholder = seen(&medium, "sprint/broken");
    assert!(placeholder.tags.get(DAMAGED).is_some());
    let renewal = Command::Renew { lease: placeholder.id, holder: placeholder.holder.clone(), ttl: None };
    for result in [
        acquire(&sys, &medium, "sprint/broken", "berta"),
        release(&medium, &placeholder),
        medium.transact(&policy(), &renewal),
        medium.transact(&policy(), &Command::Check(broken.claim())),
        medium
            .guarded(&broken.claim(), &mut |_| panic!("it cannot be read"))
            .map(|()| Answer::Swept(Vec::new())),
    ] {
        assert!(damage(result).0.starts_with(&lock));
    }
    // Time does not help: only somebody who has looked can tell.
    grow_old(&sys);
    assert_eq!(medium.transact(&policy(), &Command::Sweep).unwrap(), Answer::Swept(vec![fine.clone()]));
    assert!(lock.symlink_metadata().is_ok());
    assert_eq!(seen(&medium, "sprint/broken").id, placeholder.id);
    evict(&medium, &placeholder).unwrap();
    assert!(lock.symlink_metadata().is_err());
    assert!(grant(&sys, &medium, "sprint/broken", "berta").fence > fine.fence);
}

#[test]
fn a_damaged_owner_is_named_and_removed_only_when_asked() {
    unreadable(|lock| fs::write(lock.join("owner.json"), "{\"pid\":").unwrap());
}

#[test]
fn an_owner_that_is_a_symbolic_link_is_not_followed() {
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("precious");
    fs::write(&target, "precious").unwrap();
    unreadable(|lock| {
        fs::remove_file(lock.join("owner.json")).unwrap();
        symlink(&target, lock.join("owner.json")).unwrap();
    });
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
}

#[test]
fn an_owner_that_is_a_directory_full_of_things_is_damage() {
    unreadable(|lock| {
        fs::remove_file(lock.join("owner.json")).unwrap();
        fs::create_dir_all(lock.join("owner.json/a/b/c")).unwrap();
    });
}

#[test]
fn a_lock_that_is_a_file_or_a_symbolic_link_is_damage() {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("precious"), "precious").unwrap();
    unreadable(|lock| {
        fs::remove_dir_all(lock).unwrap();
        fs::write(lock, "").unwrap();
    });
    unreadable(|lock| {
        fs::remove_dir_all(lock).unwrap();
        symlink(elsewhere.path(), lock).unwrap();
    });
    assert_eq!(fs::read_to_string(elsewhere.path().join("precious")).unwrap(), "precious");
}

#[test]
fn a_copied_lock_is_not_believed() {
    let (sys, root, medium) = fresh();
    let lease = grant(&sys, &medium, "sprint/1", "anna");
    fs::create_dir(root.path().join("sprint/2")).unwrap();
    fs::copy(root.path().join("sprint/1/owner.json"), root.path().join("sprint/2/owner.json")).unwrap();
    let (path, what) = damage(acquire(&sys, &medium, "sprint/2", "berta"));
    assert_eq!(path, root.path().join("sprint/2/owner.json"));
    assert!(what.contains("owner of sprint/1"), "{what}");
    let doctored = fs::read_to_string(&path).unwrap().replace("sprint/1", "sprint/2");
    fs::write(&path, doctored).unwrap();
    let view = medium.view().unwrap();
    assert_eq!(view.table.len(), 2);
    let believed: Vec<_> = view.table.iter().filter(|lease| lease.tags.get(DAMAGED).is_none()).collect();
    assert_eq!(believed.len(), 1, "only one of two with the same id can be right");
    assert_eq!(believed[0].id, lease.id);
}

#[test]
fn a_hostile_root_hides_no_lock_and_leads_nowhere() {
    let (sys, root, medium) = fresh();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir_all(elsewhere.path().join("x")).unwrap();
    let lease = grant(&sys, &medium, "sprint/7", "anna");
    let inside = |name: &[u8]| root.path().join(OsStr::from_bytes(name));
    fs::write(inside(b"a-file"), "").unwrap();
    fs::create_dir(inside(b"\xff\xfe")).unwrap();
    fs::create_dir(inside(b"sprint/\xff")).unwrap();
    fs::create_dir(inside(b"sprint/with space")).unwrap();
    fs::create_dir_all(inside(b"sprint/.breaking-me/deep/er")).unwrap();
    symlink(elsewhere.path(), inside(b"link")).unwrap();
    symlink(elsewhere.path(), inside(b"sprint/.breaking-link")).unwrap();
    symlink(inside(b"loop"), inside(b"loop")).unwrap();
    assert_eq!(medium.view().unwrap().table.iter().collect::<Vec<_>>(), [&lease]);
    for resource in ["a-file/x", "link/x", "loop/x"] {
        let (path, _) = damage(acquire(&sys, &medium, resource, "anna"));
        assert_eq!(Some(path.as_path()), root.path().join(resource).parent());
    }
    let through_the_link = Claim { resource: name("link/x").into(), ..lease.claim() };
    let result = medium.guarded(&through_the_link, &mut |_| panic!("not ours"));
    let Err(Error::Refused(Refusal::FencedOut { current, .. })) = result else { panic!("{result:?}") };
    assert_eq!(current, [], "what is behind a link is no lock");
    assert_eq!(names(&sys, elsewhere.path()), ["x"]);
    let mut cleaned = medium.clean().unwrap();
    cleaned.sort();
    assert_eq!(cleaned, [inside(b"sprint/.breaking-link"), inside(b"sprint/.breaking-me")]);
    assert_eq!(names(&sys, elsewhere.path()), ["x"]);
    release(&medium, &lease).unwrap();
}

#[test]
fn names_that_are_no_locks_are_refused_and_touch_nothing() {
    let (sys, root, medium) = fresh();
    for resource in ["sprint", "../x", "x/..", ".guard/x", ".fence/x", "x/.breaking-1", "a/b/c"] {
        let result = acquire(&sys, &medium, resource, "anna");
        assert!(matches!(result, Err(Error::Unsupported { .. })), "{resource}: {result:?}");
    }
    assert_eq!(names(&sys, root.path()), Vec::<String>::new());
}

#[test]
fn leftovers_block_nobody_and_go_when_asked() {
    let (sys, root, medium) = fresh();
    let lease = grant(&sys, &medium, "sprint/7", "anna");
    let nonce = "0f".repeat(16);
    let left: Vec<PathBuf> = [
        format!(".fence.{nonce}.tmp"),
        format!("sprint/.breaking-{nonce}"),
        format!("sprint/.making-{nonce}"),
        format!("sprint/7/owner.json.{nonce}.tmp"),
    ]
    .map(|name| root.path().join(name))
    .into();
    fs::write(&left[0], "torn").unwrap();
    fs::create_dir(&left[1]).unwrap();
    fs::write(left[1].join("owner.json"), "torn").unwrap();
    fs::create_dir(&left[2]).unwrap();
    fs::write(&left[3], "torn").unwrap();
    assert_eq!(medium.view().unwrap().table.iter().collect::<Vec<_>>(), [&lease]);
    assert_eq!(medium.leftovers().unwrap(), left);
    assert_eq!(medium.clean().unwrap(), left);
    assert_eq!(medium.leftovers().unwrap(), Vec::<PathBuf>::new());
    release(&medium, &lease).unwrap();
}

#[test]
fn cleaning_does_not_make_a_lock_without_an_owner_look_young() {
    let (_, root, medium) = fresh();
    let pin = root.path().join(format!("sprint/7/owner.json.{}.tmp", "0f".repeat(16)));
    fs::create_dir_all(root.path().join("sprint/7")).unwrap();
    fs::write(&pin, "").unwrap();
    let before = seen(&medium, "sprint/7");
    assert_eq!(medium.clean().unwrap(), Vec::<PathBuf>::new());
    assert_eq!(seen(&medium, "sprint/7"), before);
    assert!(pin.exists());
}

#[test]
fn a_damaged_counter_stops_everything_until_it_is_set_aside() {
    let (sys, root, medium) = fresh();
    let lease = grant(&sys, &medium, "sprint/7", "anna");
    let fence = root.path().join(".fence");
    fs::write(&fence, "{}").unwrap();
    assert_eq!(damage(medium.view()).0, fence);
    assert!(medium.set_aside().unwrap().is_some_and(|path| path.exists()));
    assert_eq!(medium.set_aside().unwrap(), None);
    let (path, _) = damage(acquire(&sys, &medium, "sprint/7", "berta"));
    assert_eq!(path, root.path().join("sprint/7/owner.json"));
    evict(&medium, &seen(&medium, "sprint/7")).unwrap();
    let anew = grant(&sys, &medium, "sprint/7", "berta");
    let old = Claim { holder: holder("anna"), ..lease.claim() };
    medium.guarded(&old, &mut |_| panic!("another counter")).unwrap_err();
    medium.guarded(&anew.claim(), &mut |_| ()).unwrap();
}

#[test]
fn grants_are_above_the_floor() {
    let (sys, root, _) = fresh();
    let settings = Settings { floor: Some(Fence::new(41).unwrap()), ..Settings::default() };
    let medium = Directory::new(sys.clone(), root.path(), settings);
    assert_eq!(grant(&sys, &medium, "sprint/7", "anna").fence.get(), 42);
}

/// The same machine, but calls on its files are noted, and some are refused.
fn watched(sys: &Sys) -> (Sys, Arc<Watched>) {
    let files = Arc::new(Watched::new(Arc::clone(&sys.files)));
    (Sys { files: Arc::clone(&files) as Arc<_>, ..sys.clone() }, files)
}

#[test]
fn a_handle_vouches_for_what_another_one_wrote_only_once_it_is_durable() {
    let (sys, root, medium) = fresh();
    let lease = grant(&sys, &medium, "sprint/7", "anna");
    let (lock, family) = (root.path().join("sprint/7"), root.path().join("sprint"));
    let upwards = [lock, family, root.path().to_path_buf()].map(|dir| (Call::SyncDir, dir));
    let (sys, files) = watched(&sys);
    let flushed = |ask: &dyn Fn(&Directory)| {
        let other = Directory::new(sys.clone(), root.path(), Settings::default());
        let ask = || {
            files.calls();
            ask(&other);
            files.calls().into_iter().filter(|(call, _)| *call == Call::SyncDir).collect::<Vec<_>>()
        };
        let first = ask();
        assert_eq!(ask(), [], "it knows by now");
        first
    };
    let held = |other: &Directory| {
        let answer = acquire(&sys, other, "sprint/7", "anna").unwrap();
        assert_eq!(answer, Answer::AlreadyHeld(lease.clone()));
    };
    assert_eq!(flushed(&held), upwards);
    let valid = |other: &Directory| {
        let answer = other.transact(&policy(), &Command::Check(lease.claim())).unwrap();
        assert!(matches!(answer, Answer::Valid(_)), "{answer:?}");
    };
    assert_eq!(flushed(&valid), upwards);
    assert_eq!(flushed(&|other| other.guarded(&lease.claim(), &mut |_| ()).unwrap()), upwards);
}

#[test]
fn a_lock_that_may_not_be_read_hides_no_other_and_a_failing_disk_hides_none() {
    let (sys, root, medium) = fresh();
    let secret = grant(&sys, &medium, "sprint/secret", "anna");
    let open = grant(&sys, &medium, "sprint/open", "anna");
    for (how, is_about_one) in [(ErrorKind::PermissionDenied, true), (ErrorKind::Other, false)] {
        let (sys, files) = watched(&sys);
        files.refuse(Call::Open, &root.path().join("sprint/secret/owner.json"), how);
        let medium = Directory::new(sys, root.path(), Settings::default());
        let view = medium.view();
        assert_eq!(view.is_ok(), is_about_one, "{how:?}: {view:?}");
        let Ok(view) = view else { continue };
        assert_eq!(view.table.get(open.id), Some(&open));
        assert_eq!(view.table.get(secret.id), None);
        assert!(seen(&medium, "sprint/secret").tags.get(DAMAGED).is_some());
    }
}

/// Gives up at once, and says that it was asked.
struct GivesUp(Mutex<mpsc::Sender<PathBuf>>);

impl Patience for GivesUp {
    fn rest(&self, _: &Sys, guard: &Path) -> holdfast_sys::Result<()> {
        self.0.lock().unwrap().send(guard.to_path_buf()).unwrap();
        Err(holdfast_sys::Error::new("wait for", guard, ErrorKind::TimedOut))
    }
}

#[test]
fn whoever_may_not_wait_for_ever_is_asked_and_gives_up() {
    let (sys, root, medium) = fresh();
    let lease = grant(&sys, &medium, "sprint/7", "anna");
    let (asked, was_asked) = mpsc::channel();
    let patience: Arc<dyn Patience> = Arc::new(GivesUp(Mutex::new(asked)));
    let settings = Settings { patience: Some(patience), ..Settings::default() };
    let hasty = Directory::new(sys.clone(), root.path(), settings);
    let path = root.path().join(".guard");
    let mut guard = Guard::open(&sys, &path, 0o600).unwrap();
    for ask in [
        (|hasty, lease| release(hasty, lease).map(drop)) as fn(&Directory, &Lease) -> _,
        |hasty, lease| hasty.guarded(&lease.claim(), &mut |_| ()),
        |hasty, _| hasty.view().map(drop),
        |hasty, _| hasty.leftovers().map(drop),
    ] {
        let inside = guard.try_enter(&sys, LockMode::Exclusive).unwrap().unwrap();
        let failed = std::thread::scope(|scope| {
            let asking = scope.spawn(|| ask(&hasty, &lease));
            // Whoever asks nobody waits for the section, which is given up here.
            let named = was_asked.recv_timeout(Duration::from_secs(60));
            drop(inside);
            assert_eq!(named.as_deref(), Ok(path.as_path()));
            asking.join().unwrap()
        });
        assert!(
            matches!(&failed, Err(Error::Sys(error)) if error.kind() == ErrorKind::TimedOut),
            "{failed:?}"
        );
    }
    assert_eq!(seen(&medium, "sprint/7"), lease);
}

#[test]
fn cleaning_rests_after_a_full_portion_and_only_then() {
    for (count, rests) in [(15, 0), (16, 5), (17, 5), (32, 10)] {
        let (sys, root, medium) = fresh();
        for number in 0..count {
            fs::create_dir_all(root.path().join(format!("sprint/.making-{number:032x}"))).unwrap();
        }
        let before = sys.clock.now().unwrap();
        assert_eq!(medium.clean().unwrap().len(), count);
        let rested = sys.clock.now().unwrap().since(&before).forward();
        assert_eq!(rested, Millis::new(rests), "{count} leftovers");
    }
}
