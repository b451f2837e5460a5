//! What a power loss leaves of names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdfast_sys::Sys;
use holdfast_sys::sim::{Config, NameOrder, Random, World};

use crate::{create, run, save};

const SEEDS: u64 = 300;

const ORDERS: [NameOrder; 2] = [NameOrder::PerDirectory, NameOrder::PerName];

/// Which sets of paths are left after a power loss.
fn survivors(names: NameOrder, act: fn(&Sys)) -> BTreeSet<Vec<String>> {
    let after = |seed| {
        let mut world = World::new(Config { names, ..Config::default() }, Random::new(seed));
        world.create_dir_all("/a").unwrap();
        world.create_dir_all("/b").unwrap();
        run(&mut world, move |sys| act(&sys));
        world.lose_power();
        world.paths().iter().map(|path| path.display().to_string()).collect()
    };
    (0..SEEDS).map(after).collect()
}

fn sets(sets: &[&[&str]]) -> BTreeSet<Vec<String>> {
    sets.iter().map(|set| set.iter().map(|&path| path.to_owned()).collect()).collect()
}

fn rename(sys: &Sys, from: &str, to: &str) {
    sys.files.rename(Path::new(from), Path::new(to)).unwrap();
}

#[test]
fn syncing_a_file_says_nothing_about_its_name() {
    for order in ORDERS {
        let seen = survivors(order, |sys| create(sys, "/a/f").sync().unwrap());
        assert_eq!(seen, sets(&[&[], &["/a/f"]]), "{order:?}");
    }
}

#[test]
fn syncing_a_directory_keeps_its_names_but_not_those_of_others() {
    for order in ORDERS {
        let seen = survivors(order, |sys| {
            drop(create(sys, "/a/f"));
            drop(create(sys, "/b/g"));
            sys.files.sync_dir(Path::new("/a")).unwrap();
        });
        assert_eq!(seen, sets(&[&["/a/f"], &["/a/f", "/b/g"]]), "{order:?}");
    }
}

#[test]
fn a_rename_is_lost_or_kept_but_never_half() {
    for order in ORDERS {
        let within = survivors(order, |sys| {
            save(sys, "/a/f", b"1");
            rename(sys, "/a/f", "/a/g");
        });
        assert_eq!(within, sets(&[&["/a/f"], &["/a/g"]]), "{order:?}");
        let across = survivors(order, |sys| {
            save(sys, "/a/f", b"1");
            rename(sys, "/a/f", "/b/f");
        });
        assert_eq!(across, sets(&[&["/a/f"], &["/b/f"]]), "{order:?}");
    }
}

#[test]
fn a_rename_over_a_file_leaves_one_of_the_two_whole() {
    let mut seen = BTreeSet::new();
    for seed in 0..SEEDS {
        let mut world = World::new(Config::default(), Random::new(seed));
        run(&mut world, |sys| {
            save(&sys, "/f", b"old");
            save(&sys, "/tmp", b"new");
            rename(&sys, "/tmp", "/f");
        });
        world.lose_power();
        let there = world.read_file("/f").unwrap();
        assert_eq!(world.read_file("/tmp").is_some(), there == b"old", "seed {seed}");
        seen.insert(there);
    }
    assert_eq!(seen, BTreeSet::from([b"old".to_vec(), b"new".to_vec()]));
}

#[test]
fn syncing_one_side_of_a_move_makes_both_sides_durable() {
    for order in ORDERS {
        for side in ["/a", "/b"] {
            let act: fn(&Sys) = match side {
                "/a" => |sys| {
                    drop(create(sys, "/a/f"));
                    rename(sys, "/a/f", "/b/f");
                    sys.files.sync_dir(Path::new("/a")).unwrap();
                },
                _ => |sys| {
                    drop(create(sys, "/a/f"));
                    rename(sys, "/a/f", "/b/f");
                    sys.files.sync_dir(Path::new("/b")).unwrap();
                },
            };
            assert_eq!(survivors(order, act), sets(&[&["/b/f"]]), "{order:?} {side}");
        }
    }
}

#[test]
fn a_directory_loses_names_from_the_end() {
    let act: fn(&Sys) = |sys| ["/a/1", "/a/2", "/a/3"].into_iter().for_each(|path| drop(create(sys, path)));
    let ordered = survivors(NameOrder::PerDirectory, act);
    assert_eq!(ordered, sets(&[&[], &["/a/1"], &["/a/1", "/a/2"], &["/a/1", "/a/2", "/a/3"]]));
    assert_eq!(survivors(NameOrder::PerName, act).len(), 8, "or every combination");
}

#[test]
fn two_directories_lose_names_independently() {
    let seen = survivors(NameOrder::PerDirectory, |sys| {
        drop(create(sys, "/a/1"));
        drop(create(sys, "/b/2"));
    });
    assert_eq!(seen, sets(&[&[], &["/a/1"], &["/b/2"], &["/a/1", "/b/2"]]));
}

#[test]
fn one_name_keeps_its_history_in_order() {
    for order in ORDERS {
        let seen = survivors(order, |sys| {
            save(sys, "/a/f", b"1");
            sys.files.remove_file(Path::new("/a/f")).unwrap();
            sys.files.create_dir(Path::new("/a/f"), 0o700).unwrap();
            drop(create(sys, "/a/f/inner"));
        });
        assert_eq!(seen, sets(&[&[], &["/a/f"], &["/a/f/inner"]]), "{order:?}");
    }
}

#[test]
fn a_removal_is_lost_or_kept() {
    for order in ORDERS {
        let seen = survivors(order, |sys| {
            save(sys, "/a/f", b"1");
            sys.files.remove_file(Path::new("/a/f")).unwrap();
        });
        assert_eq!(seen, sets(&[&[], &["/a/f"]]), "{order:?}");
    }
}

#[test]
fn a_link_that_is_durable_outlives_the_name_that_is_not() {
    for order in ORDERS {
        let seen = survivors(order, |sys| {
            create(sys, "/a/f").sync().unwrap();
            sys.files.link(Path::new("/a/f"), Path::new("/b/g")).unwrap();
            sys.files.sync_dir(Path::new("/b")).unwrap();
        });
        assert_eq!(seen, sets(&[&["/b/g"], &["/a/f", "/b/g"]]), "{order:?}");
    }
}

#[test]
fn a_lost_directory_takes_what_is_in_it_along() {
    let seen = survivors(NameOrder::PerDirectory, |sys| {
        sys.files.create_dir(Path::new("/a/d"), 0o700).unwrap();
        save(sys, "/a/d/f", b"1");
    });
    assert_eq!(seen, sets(&[&[], &["/a/d/f"]]));
}

#[test]
fn an_inode_number_is_given_out_again_at_once() {
    run(&mut World::new(Config::default(), Random::new(0)), |sys| {
        let first = create(&sys, "/f").stat().unwrap().identity;
        sys.files.remove_file(Path::new("/f")).unwrap();
        assert_eq!(create(&sys, "/g").stat().unwrap().identity, first);
    });
}

#[test]
fn no_two_things_come_back_with_one_inode_number() {
    let mut both = [0, 0];
    for (seed, order) in (0..SEEDS).flat_map(|seed| ORDERS.map(|order| (seed, order))) {
        let mut world = World::new(Config { names: order, ..Config::default() }, Random::new(seed));
        world.create_dir_all("/a").unwrap();
        world.create_dir_all("/b").unwrap();
        run(&mut world, |sys| {
            save(&sys, "/a/f", b"1");
            sys.files.remove_file(Path::new("/a/f")).unwrap();
            drop(create(&sys, "/b/g"));
            sys.files.link(Path::new("/b/g"), Path::new("/h")).unwrap();
        });
        world.lose_power();
        let paths: Vec<PathBuf> = world.paths();
        let old = paths.iter().any(|path| path == Path::new("/a/f"));
        let new = paths.iter().any(|path| path != Path::new("/a/f"));
        assert!(!(old && new), "seed {seed}: {paths:?}");
        both = [both[0] + u32::from(old), both[1] + u32::from(new)];
    }
    assert!(both.iter().all(|count| *count > 0), "{both:?}");
}
