//! What a medium does with its files: other handles see them at once, looking writes nothing, and what
//! cannot be read is named and kept.

use holdfast_kernel::{Acquire, Answer, Command, Fence, Refusal};

use super::stage::{Stage, holder, only, policy, refused, releasing, renewing, view};
use crate::Error;

pub(super) fn two_handles(stage: &Stage) {
    let (one, two) = (stage.open(), stage.open());
    // Both have looked before anything happened.
    assert!(view(&*one).table.is_empty() && view(&*two).table.is_empty());
    let lease = stage.grant(&*one, "anna");
    assert_eq!(only(&view(&*two)), lease);
    assert!(matches!(refused(stage.acquire(&*two, "berta")), Refusal::Held { .. }));
    stage.pass(holdfast_kernel::Millis::new(5));
    let Ok(Answer::Renewed(renewed)) = two.transact(&policy(), &renewing(&lease)) else {
        panic!("a holder renews through any handle")
    };
    assert_eq!(only(&view(&*one)), renewed);
    two.transact(&policy(), &releasing(&lease)).expect("a release");
    assert!(view(&*one).table.is_empty());
    let theirs = stage.grant(&*one, "berta");
    assert!(matches!(
        refused(two.guarded(&lease.claim(), &mut |_| panic!("fenced out"))),
        Refusal::FencedOut { .. }
    ));
    assert_eq!(only(&view(&*two)), theirs);
}

pub(super) fn reopened(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    let before = view(&*medium);
    drop(medium);
    let after = view(&*stage.open());
    assert_eq!((&after.table, after.counter, after.next), (&before.table, before.counter, before.next));
    stage.open().transact(&policy(), &releasing(&lease)).expect("a release");
    let after = view(&*stage.open());
    assert!(after.table.is_empty());
    assert_eq!(after.counter, before.counter);
    assert!(after.next >= before.next);
}

pub(super) fn looking_writes_nothing(stage: &Stage) {
    let look = || {
        let before = stage.bytes();
        view(&*stage.open());
        view(&*stage.open());
        assert_eq!(stage.bytes(), before);
    };
    look();
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    look();
    let before = stage.bytes();
    medium.guarded(&lease.claim(), &mut |_| ()).expect("a guarded write");
    assert_eq!(stage.bytes(), before);
    medium.transact(&policy(), &releasing(&lease)).expect("a release");
    look();
}

pub(super) fn refusals_write_nothing(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    let before = stage.bytes();
    let mallory = holder("mallory");
    let unknown = stage.id();
    for command in [
        Command::Acquire(stage.wanted("mallory")),
        Command::Acquire(Acquire { id: lease.id, ..stage.wanted("mallory") }),
        Command::Renew { lease: lease.id, holder: mallory.clone(), ttl: None },
        Command::Renew { lease: unknown, holder: mallory.clone(), ttl: None },
        Command::Beat { lease: lease.id, holder: lease.holder.clone() },
        Command::Release { lease: lease.id, holder: mallory.clone() },
        Command::Release { lease: unknown, holder: mallory },
    ] {
        refused(medium.transact(&policy(), &command));
        assert_eq!(stage.bytes(), before, "{command:?}");
    }
    let mut wrong = lease.claim();
    wrong.fence = Fence::LAST;
    refused(medium.guarded(&wrong, &mut |_| panic!("fenced out")));
    assert_eq!(stage.bytes(), before);
}

/// Bytes that no medium can have written as the whole of a file that it needs.
#[must_use]
pub fn garbage() -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = [
        "",
        "\n",
        "null\n",
        "[]\n",
        "{}\n",
        "\"\"\n",
        "0\n",
        "{\"format\":1}\n",
        "{\"format\":1e999}\n",
        "{\"format\":-1}\n",
        "{\"format\":99999999999999999999999}\n",
        "{\"format\":999}\n",
        "\u{feff}{}\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    contents.extend([b"\xff\xfe\0".to_vec(), vec![0; 4_096], vec![b'['; 60_000], vec![b'x'; 100_000]]);
    contents
}

pub(super) fn hostile(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    let before = view(&*medium);
    let good = stage.bytes();
    for (path, bytes) in (stage.subject.hostile)(&stage.dir) {
        let shown = String::from_utf8_lossy(bytes.get(..40).unwrap_or(&bytes)).into_owned();
        stage.put(&path, &bytes);
        let planted = stage.bytes();
        for handle in [&medium, &stage.open()] {
            named(stage.acquire(&**handle, "berta"), &path, &shown);
            let write = handle.guarded(&lease.claim(), &mut |_| panic!("a lease that cannot be read"));
            named(write, &path, &shown);
            // A medium of many resources cannot tell which lock a hidden lease was on.
            handle.transact(&policy(), &releasing(&lease)).expect_err("it cannot be read");
        }
        assert_eq!(stage.bytes(), planted, "{shown:?} in {} was not left as it was", path.display());
        let content = good.get(&path).and_then(Option::as_ref).expect("a file of the medium");
        stage.put(&path, content);
    }
    let after = view(&*stage.open());
    assert_eq!((after.table, after.counter, after.next), (before.table, before.counter, before.next));
    medium.transact(&policy(), &releasing(&lease)).expect("a release once all is well again");
}

/// The error names the file that is wrong.
fn named<T: std::fmt::Debug>(result: crate::Result<T>, file: &std::path::Path, shown: &str) {
    let Err(Error::Damaged { path, .. } | Error::Newer { path, .. }) = &result else {
        panic!("{shown:?} in {} was taken for {result:?}", file.display())
    };
    assert_eq!(path, file, "{shown:?}");
}
