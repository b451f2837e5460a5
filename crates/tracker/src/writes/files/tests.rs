//! What is left of an issue that was about to be made when the power went.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_sys::sim::{
    Choice, Choices, Config, End, Faults, Moment, NameOrder, Odds, Process, Random, World,
};

use super::{Content, DEPS, LABELS, Place};
use crate::ids::IssueId;

const ID: &str = "01K0000000000000000000000A";
const MARK: &str = ".created.new-mark";

/// The power goes at one call; by chance something survives that was not flushed.
struct Outage {
    countdown: u64,
    chance: Random,
}

impl Choices for Outage {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        match what {
            Choice::Survive(_) => self.chance.choose(what, options, at),
            Choice::PowerLoss if self.countdown == 0 => 1,
            Choice::PowerLoss => {
                self.countdown -= 1;
                0
            }
            _ => 0,
        }
    }
}

/// What is left after the power went.
struct Left {
    paths: Vec<PathBuf>,
    /// Whether the issue was said to be there.
    told: bool,
    /// Whether the power went only once everything was done.
    ended: bool,
}

fn left(names: NameOrder, nth: u64, seed: u64) -> Left {
    let faults = Faults { power_loss: Odds::new(0, 1), ..Faults::NONE };
    let config = Config { faults, names, lose_ppm: 100_000, ..Config::default() };
    let mut world = World::new(config, Outage { countdown: nth, chance: Random::new(seed) });
    world.create_dir_all("/data/issues").unwrap();
    let told = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&told);
    let epoch = world.run(vec![Process::new("maker", 0, move |sys| {
        let content = Content {
            issue: Some(b"issue".to_vec()),
            labels: b"labels".to_vec(),
            deps: b"deps".to_vec(),
            ..Content::default()
        };
        let place = Place::new(&sys, Path::new("/data"), IssueId::parse(ID).unwrap());
        tell.store(place.create(&content, Some(MARK)).unwrap(), Ordering::SeqCst);
    })]);
    let ended = epoch.end == End::Done;
    if ended {
        world.lose_power();
    }
    let home = Path::new("/data/issues").join(ID);
    let paths: Vec<PathBuf> = world.paths().into_iter().filter(|path| path.starts_with(&home)).collect();
    for (name, content) in [("issue.json", "issue"), (LABELS, "labels"), (DEPS, "deps"), (MARK, "")] {
        let path = home.join(name);
        if paths.contains(&path) {
            assert_eq!(world.read_file(&path).unwrap(), content.as_bytes(), "{names:?} {nth} {seed}");
        }
    }
    Left { paths, told: told.load(Ordering::SeqCst), ended }
}

/// One flush is for all names of a fresh issue, whatever order the names of a directory survive in.
#[test]
fn a_fresh_issue_outlives_the_power_whole_or_not_at_all() {
    let home = Path::new("/data/issues").join(ID);
    let whole: Vec<PathBuf> = [MARK, DEPS, "issue.json", LABELS].iter().map(|name| home.join(name)).collect();
    for names in [NameOrder::PerDirectory, NameOrder::PerName] {
        let (mut kept, mut lost) = (0, 0);
        for seed in 0..100 {
            for nth in 0.. {
                let Left { paths, told, ended } = left(names, nth, seed);
                assert!(paths.is_empty() || paths == whole, "{names:?}, seed {seed}: {paths:?}");
                assert!(!told || paths == whole, "{names:?}, seed {seed}: it was made and is gone");
                *(if paths.is_empty() { &mut lost } else { &mut kept }) += usize::from(!told);
                assert_eq!(told, ended);
                if ended {
                    break;
                }
            }
        }
        assert!(kept > 0 && lost > 0, "{names:?}: {kept} kept, {lost} lost");
    }
}
