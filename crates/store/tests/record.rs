//! What only the record medium does: its three files, its witness, its formats.
#![expect(clippy::disallowed_methods, reason = "these tests put real files into a medium's way")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};

use common::{acquire, damage, evict, grant, name, names, policy, release, sys, text, wanted};
use holdfast_kernel::{Acquire, Command, Event, Fence, Lease, Table, Tags};
use holdfast_store::record::{Paths, Record, Settings};
use holdfast_store::{Codec, CounterId, Error, Json, Medium, Stored, Unreadable, Witness};
use holdfast_sys::Sys;
use tempfile::TempDir;

fn record(sys: &Sys, dir: &TempDir, settings: Settings) -> Record {
    Record::new(sys.clone(), Paths::new(dir.path(), "main"), name("main"), settings)
}

fn fresh() -> (Sys, TempDir, Paths) {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::new(dir.path(), "main");
    (sys(), dir, paths)
}

#[test]
fn the_lock_file_is_there_while_the_resource_is_held_and_the_others_stay() {
    let (sys, dir, _) = fresh();
    let medium = record(&sys, &dir, Settings::default());
    assert_eq!(names(&sys, dir.path()), Vec::<String>::new());
    let lease = grant(&sys, &medium, "main", "anna");
    assert_eq!(names(&sys, dir.path()), ["main.fence", "main.guard", "main.lock"]);
    for name in names(&sys, dir.path()) {
        let mode = fs::metadata(dir.path().join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    release(&medium, &lease).unwrap();
    assert_eq!(names(&sys, dir.path()), ["main.fence", "main.guard"]);
}

#[test]
fn fences_start_above_the_floor_and_a_floor_can_rise() {
    let (sys, dir, _) = fresh();
    let floor = |number| Settings { floor: Some(Fence::new(number).unwrap()), ..Settings::default() };
    let low = record(&sys, &dir, floor(41));
    assert_eq!(low.view().unwrap().next.get(), 42);
    let first = grant(&sys, &low, "main", "anna");
    assert_eq!(first.fence.get(), 42);
    release(&low, &first).unwrap();
    let high = record(&sys, &dir, floor(1_000));
    let second = grant(&sys, &high, "main", "anna");
    assert_eq!(second.fence.get(), 1_001);
    release(&high, &second).unwrap();
    assert_eq!(grant(&sys, &low, "main", "anna").fence.get(), 1_002, "a lower floor sets nothing back");
}

/// Hears everything, and looks whether the lock file is there already.
#[derive(Default)]
struct Ear {
    deaf: Mutex<bool>,
    heard: Mutex<Vec<(usize, Vec<Event>, bool)>>,
}

struct At {
    ear: Arc<Ear>,
    lock: std::path::PathBuf,
}

impl Witness for At {
    fn record(
        &self,
        before: &Table,
        events: &[Event],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if *self.ear.deaf.lock().unwrap() {
            return Err("nobody listens".into());
        }
        let held = self.lock.exists();
        self.ear.heard.lock().unwrap().push((before.len(), events.to_vec(), held));
        Ok(())
    }
}

#[test]
fn a_witness_hears_of_a_transition_before_it_happens() {
    let (sys, dir, paths) = fresh();
    let ear = Arc::new(Ear::default());
    let witness = At { ear: Arc::clone(&ear), lock: paths.lock };
    let medium = record(&sys, &dir, Settings { witness: Some(Arc::new(witness)), ..Settings::default() });
    let first = grant(&sys, &medium, "main", "anna");
    acquire(&sys, &medium, "main", "berta").unwrap_err();
    sys.clock.sleep(holdfast_kernel::Millis::new(40_000));
    let second = grant(&sys, &medium, "main", "berta");
    release(&medium, &second).unwrap();
    let heard = ear.heard.lock().unwrap();
    let seen: Vec<_> = heard.iter().map(|(before, events, held)| (*before, events.len(), *held)).collect();
    assert_eq!(seen, [(0, 1, false), (1, 2, true), (1, 1, true)]);
    assert_eq!(heard[0].1, [Event::Granted { lease: first.clone() }]);
    assert!(matches!(&heard[1].1[0], Event::Evicted { lease, .. } if *lease == first.id));
}

#[test]
fn what_cannot_be_witnessed_does_not_happen() {
    let (sys, dir, paths) = fresh();
    let ear = Arc::new(Ear::default());
    let witness = At { ear: Arc::clone(&ear), lock: paths.lock.clone() };
    let medium = record(&sys, &dir, Settings { witness: Some(Arc::new(witness)), ..Settings::default() });
    let lease = grant(&sys, &medium, "main", "anna");
    let bytes = fs::read(&paths.lock).unwrap();
    *ear.deaf.lock().unwrap() = true;
    for result in [release(&medium, &lease), evict(&medium, &lease)] {
        assert!(matches!(result, Err(Error::Unwitnessed(_))), "{result:?}");
    }
    assert_eq!(fs::read(&paths.lock).unwrap(), bytes);
    *ear.deaf.lock().unwrap() = false;
    release(&medium, &lease).unwrap();
    *ear.deaf.lock().unwrap() = true;
    let fence = fs::read(&paths.fence).unwrap();
    let result = acquire(&sys, &medium, "main", "berta");
    assert!(matches!(result, Err(Error::Unwitnessed(_))), "{result:?}");
    assert!(!paths.lock.exists());
    assert_eq!(fs::read(&paths.fence).unwrap(), fence);
}

/// The default format with one thing left out.
struct Lossy {
    tags: bool,
    counter: bool,
}

impl Codec for Lossy {
    fn write(&self, lease: &Lease, counter: CounterId) -> Vec<u8> {
        let tags = if self.tags { Tags::none() } else { lease.tags.clone() };
        Json.write(&Lease { tags, ..lease.clone() }, counter)
    }

    fn read(&self, bytes: &[u8]) -> Result<Stored, Unreadable> {
        let stored = Json.read(bytes)?;
        Ok(Stored { counter: stored.counter.filter(|_| !self.counter), ..stored })
    }
}

#[test]
fn a_format_that_loses_part_of_a_lease_is_not_written() {
    let (sys, dir, paths) = fresh();
    let codec = Arc::new(Lossy { tags: true, counter: false });
    let medium = record(&sys, &dir, Settings { codec, ..Settings::default() });
    let tags = Tags::none().with("pid", text("1")).unwrap();
    let tagged = Acquire { tags, ..wanted(&sys, "main", "anna") };
    let result = medium.transact(&policy(), &Command::Acquire(tagged));
    assert!(matches!(result, Err(Error::Unsupported { .. })), "{result:?}");
    assert!(!paths.lock.exists());
    grant(&sys, &medium, "main", "anna");
}

#[test]
fn a_format_without_room_for_the_counter_works() {
    let (sys, dir, _) = fresh();
    let codec = Arc::new(Lossy { tags: false, counter: true });
    let medium = record(&sys, &dir, Settings { codec, ..Settings::default() });
    let lease = grant(&sys, &medium, "main", "anna");
    medium.guarded(&lease.claim(), &mut |held| assert_eq!(held.lease(), &lease)).unwrap();
    release(&medium, &lease).unwrap();
}

/// Both files, each with something else in its place than a file.
fn something_else(put: impl Fn(&Path)) {
    for which in [|paths: &Paths| paths.lock.clone(), |paths: &Paths| paths.fence.clone()] {
        let (sys, dir, paths) = fresh();
        let medium = record(&sys, &dir, Settings::default());
        let lease = grant(&sys, &medium, "main", "anna");
        let path = which(&paths);
        fs::remove_file(&path).unwrap();
        put(&path);
        for result in [acquire(&sys, &medium, "main", "berta"), release(&medium, &lease)] {
            assert_eq!(damage(result).0, path);
        }
        assert_eq!(damage(medium.view()).0, path);
        let aside = medium.set_aside().unwrap();
        assert!(aside.iter().all(|path| path.symlink_metadata().is_ok()), "{aside:?}");
        assert!(path.symlink_metadata().is_err());
        grant(&sys, &medium, "main", "berta");
    }
}

#[test]
fn a_symbolic_link_is_named_and_never_followed() {
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("precious");
    fs::write(&target, "{\"format\":1}").unwrap();
    something_else(|path| symlink(&target, path).unwrap());
    assert_eq!(fs::read_to_string(&target).unwrap(), "{\"format\":1}");
}

#[test]
fn a_directory_is_named_and_kept() {
    something_else(|path| fs::create_dir(path).unwrap());
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let (sys, dir, paths) = fresh();
    let medium = record(&sys, &dir, Settings::default());
    grant(&sys, &medium, "main", "anna");
    for path in [&paths.lock, &paths.fence] {
        let good = fs::read(path).unwrap();
        fs::File::create(path).unwrap().set_len(1 << 40).unwrap();
        let (named, what) = damage(medium.view());
        assert_eq!(&named, path);
        assert!(what.contains("longer than"), "{what}");
        fs::write(path, good).unwrap();
    }
}

#[test]
fn a_missing_fence_file_is_noticed_and_ends_the_counter() {
    let (sys, dir, paths) = fresh();
    let medium = record(&sys, &dir, Settings::default());
    let lease = grant(&sys, &medium, "main", "anna");
    let counter = medium.view().unwrap().counter;
    fs::remove_file(&paths.fence).unwrap();
    let (path, what) = damage(release(&medium, &lease));
    assert_eq!(path, paths.lock);
    assert!(what.contains("counter is missing"), "{what}");
    assert_eq!(medium.set_aside().unwrap().len(), 1);
    grant(&sys, &medium, "main", "berta");
    assert_ne!(medium.view().unwrap().counter, counter);
}

#[test]
fn setting_aside_touches_nothing_that_is_well() {
    let (sys, dir, paths) = fresh();
    let medium = record(&sys, &dir, Settings::default());
    assert_eq!(medium.set_aside().unwrap(), Vec::<std::path::PathBuf>::new());
    let lease = grant(&sys, &medium, "main", "anna");
    assert_eq!(medium.set_aside().unwrap(), Vec::<std::path::PathBuf>::new());
    release(&medium, &lease).unwrap();
    fs::write(&paths.fence, "{\"format\":2}").unwrap();
    assert!(matches!(medium.set_aside(), Err(Error::Newer { version: 2, .. })));
}

#[test]
fn a_lock_file_from_elsewhere_is_not_believed() {
    let (sys, dir, paths) = fresh();
    let medium = record(&sys, &dir, Settings::default());
    let lease = grant(&sys, &medium, "main", "anna");
    let text = fs::read_to_string(&paths.lock).unwrap();
    let counter = medium.view().unwrap().counter.unwrap().to_string();
    for (from, to, why) in [
        ("\"resource\":\"main\"", "\"resource\":\"side\"", "a lease on side"),
        ("\"skew_secs\":2", "\"mode\":\"shared\",\"skew_secs\":2", "a shared lease"),
        (&counter, "00000000000000000000000001", "another counter"),
        (&format!("\"fence\":{}", lease.fence), "\"fence\":4711", "never given out"),
        ("\"ttl_secs\":30", "\"ttl_secs\":0", "a lease without end"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        fs::write(&paths.lock, text.replacen(from, to, 1)).unwrap();
        let (path, what) = damage(acquire(&sys, &medium, "main", "berta"));
        assert_eq!(path, paths.lock);
        assert!(what.contains(why), "{what}");
    }
}

#[test]
fn a_counter_that_is_used_up_or_wrong_is_named() {
    let (sys, dir, paths) = fresh();
    let medium = record(&sys, &dir, Settings::default());
    let lease = grant(&sys, &medium, "main", "anna");
    release(&medium, &lease).unwrap();
    let good = fs::read_to_string(&paths.fence).unwrap();
    for (from, to) in [
        ("\"last\":1", "\"last\":9007199254740991"),
        ("\"last\":1", "\"last\":0"),
        ("\"last\":1", "\"last\":01"),
        ("\"last\":1", "\"last\":1,\"last\":1"),
        ("\"last\":1", "\"last\":1,\"more\":1"),
        ("\"last\":1", "\"last\":\"1\""),
        ("}\n", "}"),
    ] {
        assert!(good.contains(from), "{from} is not in {good}");
        fs::write(&paths.fence, good.replacen(from, to, 1)).unwrap();
        assert_eq!(damage(acquire(&sys, &medium, "main", "anna")).0, paths.fence);
    }
}

#[test]
fn leftovers_block_nobody_and_go_when_asked() {
    let (sys, dir, _) = fresh();
    let medium = record(&sys, &dir, Settings::default());
    let ours = ["main.lock", "main.fence"].map(|file| format!("{file}.{}.tmp", "0f".repeat(16)));
    let others = ["main.lock.tmp".to_owned(), format!("side.lock.{}.tmp", "0f".repeat(16))];
    for name in ours.iter().chain(&others) {
        fs::write(dir.path().join(name), "torn").unwrap();
    }
    let lease = grant(&sys, &medium, "main", "anna");
    let mut found = medium.leftovers().unwrap();
    found.sort();
    let mut expected = ours.each_ref().map(|name| dir.path().join(name));
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(medium.clean().unwrap().len(), 2);
    assert_eq!(medium.leftovers().unwrap(), Vec::<std::path::PathBuf>::new());
    let left = names(&sys, dir.path());
    assert!(others.iter().all(|name| left.contains(name)), "{left:?}");
    release(&medium, &lease).unwrap();
}
