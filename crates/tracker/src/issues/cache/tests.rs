//! What is written down of issues is what is told of them, and nothing but a whole cache is believed.

use holdfast_sys::{Identity, Kind, Stat, Times};
use proptest::prelude::*;

use super::{Cache, Extent, Maker, Names, Origin, Signature, Signatures, entry};
use crate::ids::IssueId;
use crate::issues::raw::{Part, Raw};
use crate::issues::standing::Standing;

const HOME: Origin = Origin { home: Identity { device: 7, inode: 9 }, boot: Some(3) };
const ID: &str = "01K742SG0000067JZ1WHCK43EQ";

fn looks(changed: i64) -> Signatures {
    let stat = |kind, inode| Stat {
        kind,
        identity: Identity { device: 7, inode },
        len: 5,
        mode: 0o644,
        owner: 0,
        modified_ms: 1,
        times: Some(Times { modified: (1, 2), changed: (changed, 4) }),
    };
    let of = |kind, inode| Signature::of(&stat(kind, inode), kind).unwrap();
    Signatures {
        directory: of(Kind::Directory, 1),
        files: [Some(of(Kind::File, 2)), None, Some(of(Kind::File, 3))],
    }
}

fn part(text: &str) -> Part {
    Part { there: true, bytes: text.into(), problem: None }
}

fn raw() -> Raw {
    let issue = format!(
        r#"{{"id":"{ID}","title":"a \"b\" é","state":"done","priority":"high","parent":"p","gates":["g","h"],
            "description":"left out","created_at":"a","updated_at":"b","fence":7,"fence_log":"L"}}"#
    );
    let deps = format!(r#"{{"id":"1","op":"add","value":"{ID}","at":"x"}}"#);
    Raw { issue: part(&issue), labels: Part::default(), deps: part(&deps) }
}

fn file() -> Vec<u8> {
    let id = IssueId::parse(ID).unwrap();
    let mut maker = Maker::new();
    maker.add(vec![(id, entry(&looks(3), &raw(), id).unwrap())]);
    maker.file(HOME, None).unwrap()
}

#[test]
fn it_tells_what_was_written_down() {
    let cache = Cache::read(file(), HOME).unwrap();
    let id = IssueId::parse(ID).unwrap();
    let found = cache.find(id, &mut 0).unwrap();
    let files = [0, 1, 2].map(|file| found.looks.file(file));
    assert_eq!((found.looks.directory(), files), (Some(looks(3).directory), looks(3).files));
    assert_eq!(Some(found.tree), raw().tree());
    for (labels, deps) in [(true, true), (false, true), (true, false), (false, false)] {
        let mut told = found.told(Extent { labels, deps }).unwrap();
        told.stand(Standing::Landed);
        let issue = told.glance().clone();
        assert_eq!((issue.title, issue.parent, issue.fence), ("a \"b\" é", Some("p"), Some(7)));
        let told = if deps { vec![ID] } else { vec![] };
        assert_eq!((issue.gates, issue.labels, issue.deps), (vec!["g", "h"], vec![], told));
    }
    assert!(cache.find(IssueId::parse("01K742SG0000067JZ1WHCK43ER").unwrap(), &mut 0).is_none());
    // What was kept from one cache to the next is the same.
    let mut maker = Maker::new();
    maker.keep(&found);
    assert_eq!(maker.file(HOME, None).unwrap(), file());
}

/// A cache of a directory that has two issues more, before and behind the one that is known.
fn named() -> (Vec<IssueId>, Vec<u8>) {
    let ids = ["01K742SG0000067JZ1WHCK43EP", ID, "01K742SG0000067JZ1WHCK43ES"];
    let ids: Vec<IssueId> = ids.iter().filter_map(|id| IssueId::parse(id)).collect();
    let known = entry(&looks(3), &raw(), ids[1]).unwrap();
    let gone = IssueId::parse("01K742SG0000067JZ1WHCK43ER").unwrap();
    let mut maker = Maker::new();
    maker.add(vec![(gone, known.clone()), (ids[1], known)]);
    (ids.clone(), maker.file(HOME, Some(Names { looks: looks(3).directory, ids })).unwrap())
}

#[test]
fn the_names_of_a_directory_that_looks_as_it_did_are_known() {
    let (ids, file) = named();
    let cache = Cache::read(file, HOME).unwrap();
    assert_eq!(cache.names(looks(3).directory), Some(ids.clone()));
    assert_eq!(cache.names(looks(4).directory), None);
    assert_eq!(
        ids.iter().map(|id| cache.find(*id, &mut 0).is_some()).collect::<Vec<_>>(),
        [false, true, false]
    );
    // What is no longer there is forgotten.
    assert!(cache.find(IssueId::parse("01K742SG0000067JZ1WHCK43ER").unwrap(), &mut 0).is_none());
    assert_eq!(Cache::read(self::file(), HOME).unwrap().names(looks(3).directory), None);
}

#[test]
fn what_another_directory_had_is_not_believed() {
    for home in [Identity { inode: 10, ..HOME.home }, Identity { device: 8, ..HOME.home }] {
        assert!(Cache::read(file(), Origin { home, ..HOME }).is_none());
    }
}

#[test]
fn what_was_written_down_before_the_machine_was_started_is_not_believed() {
    assert!(Cache::read(file(), HOME).is_some());
    for boot in [Some(4), Some(0), None] {
        assert!(Cache::read(file(), Origin { boot, ..HOME }).is_none());
    }
}

#[test]
fn what_was_changed_since_is_not_written_down() {
    assert!(looks(3).are_older_than((3, 5)));
    assert!(!looks(3).are_older_than((3, 4)));
    assert!(!looks(9).are_older_than((3, 4)));
}

#[test]
fn what_cannot_be_read_is_not_written_down() {
    let id = IssueId::parse(ID).unwrap();
    let is_kept = |change: fn(&mut Raw)| {
        let mut raw = raw();
        change(&mut raw);
        entry(&looks(3), &raw, id).is_some()
    };
    assert!(is_kept(|_| {}));
    assert!(!is_kept(|raw| raw.issue = part("{}")));
    assert!(!is_kept(|raw| raw.deps = part("<<<<<<<")));
    assert!(!is_kept(|raw| raw.deps.spoil("no".into())));
    // A file came or went while it was read.
    assert!(!is_kept(|raw| raw.labels = part("")));
    assert!(!is_kept(|raw| raw.deps = Part::default()));
    let other = IssueId::parse("01K742SG0000067JZ1WHCK43ER").unwrap();
    assert!(entry(&looks(3), &raw(), other).is_none());
}

proptest! {
    /// A file that is torn, or that anything was changed in, is no cache.
    #[test]
    fn what_is_not_whole_is_not_believed(at in any::<prop::sample::Index>(), by in 1u8.., cut in any::<bool>()) {
        let mut bytes = file();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= by;
        }
        prop_assert!(Cache::read(bytes, HOME).is_none());
    }

    /// Whatever stands behind a right hash is read without harm.
    #[test]
    fn hostile_bytes_do_no_harm(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
    ) {
        let (_, mut bytes) = named();
        let start = super::MAGIC.len() + super::HASH;
        for (at, to) in changes {
            let at = start + at.index(bytes.len() - start);
            bytes[at] = to;
        }
        let hash = *blake3::hash(&bytes[start..]).as_bytes();
        bytes[super::MAGIC.len()..start].copy_from_slice(&hash);
        if let Some(cache) = Cache::read(bytes, HOME) {
            let names = cache.names(looks(3).directory).unwrap_or_default();
            prop_assert!(names.is_sorted());
            for id in [ID, "01K742SG0000067JZ1WHCK43ER", "00000000000000000000000000"] {
                if let Some(found) = cache.find(IssueId::parse(id).unwrap(), &mut 0) {
                    for (labels, deps) in [(true, true), (false, true), (true, false), (false, false)] {
                        let _ = found.told(Extent { labels, deps });
                    }
                    Maker::new().keep(&found);
                }
            }
        }
    }
}
