//! What a power loss leaves of files.

use std::collections::BTreeSet;
use std::path::Path;

use holdfast_sys::Open;
use holdfast_sys::sim::{Choice, Config, End, Fate, Faults, Odds, Process, Random, Remnant, World};

use crate::{ALWAYS, By, EIO, Switches, calm, create, run, save};

const SEEDS: u64 = 300;

/// What is left of `/f` after a power loss, for many seeds.
fn remnants(before: &[u8], act: fn(&dyn holdfast_sys::Handle)) -> Vec<Vec<u8>> {
    let after = |seed| {
        let mut world = calm(seed);
        world.write_file("/f", before).unwrap();
        run(&mut world, move |sys| act(&*create(&sys, "/f")));
        world.lose_power();
        world.read_file("/f").unwrap()
    };
    (0..SEEDS).map(after).collect()
}

#[test]
fn what_was_synced_is_never_lost() {
    for seed in 0..SEEDS {
        let mut world = calm(seed);
        run(&mut world, |sys| {
            save(&sys, "/kept", &[7; 2_000]);
            create(&sys, "/kept").write_all_at(&[8; 600], 1_024).unwrap();
            create(&sys, "/other").write_all_at(&[9; 600], 0).unwrap();
        });
        assert_eq!(world.durable_file("/kept").unwrap(), [7; 2_000]);
        world.lose_power();
        let kept = world.read_file("/kept").unwrap();
        assert_eq!(kept.len(), 2_000, "seed {seed}");
        assert!(kept[..1_024].iter().chain(&kept[1_624..]).all(|byte| *byte == 7), "seed {seed}");
    }
}

#[test]
fn an_overwrite_is_lost_or_kept_by_the_sector() {
    let seen: BTreeSet<Vec<u8>> = remnants(&[1; 1_536], |file| file.write_all_at(&[2; 1_536], 0).unwrap())
        .into_iter()
        .map(|content| {
            content.chunks(512).for_each(|sector| assert!(sector.iter().all(|byte| *byte == sector[0])));
            assert_eq!(content.len(), 1_536);
            content.chunks(512).map(|sector| sector[0]).collect()
        })
        .collect();
    assert_eq!(seen.len(), 8, "every combination of three sectors: {seen:?}");
}

#[test]
fn an_append_is_torn_in_every_legal_way_and_in_no_other() {
    let remnants = remnants(&[1; 700], |file| file.write_all_at(&[2; 1_500], 700).unwrap());
    let (mut nothing, mut all, mut shorter, mut holes) = (0, 0, 0, 0);
    for content in &remnants {
        assert!(content.len() >= 700 && content.len() <= 2_200);
        let (old, new) = content.split_at(700);
        assert!(old.iter().all(|byte| *byte == 1), "what was durable stays");
        assert!(new.iter().all(|byte| *byte == 2 || *byte == 0), "what was lost is zeros");
        nothing += u32::from(new.is_empty());
        all += u32::from(new.len() == 1_500 && new.iter().all(|byte| *byte == 2));
        shorter += u32::from(!new.is_empty() && new.len() < 1_500);
        holes += u32::from(new.contains(&0) && new.contains(&2));
    }
    for count in [nothing, all, shorter, holes] {
        assert!(count > 0, "nothing {nothing}, all {all}, shorter {shorter}, holes {holes}");
    }
}

#[test]
fn of_two_appends_the_second_may_be_there_without_the_first() {
    let remnants = remnants(b"", |file| {
        file.write_all_at(&[1; 512], 0).unwrap();
        file.write_all_at(&[2; 512], 512).unwrap();
    });
    let second_only = |content: &Vec<u8>| content.len() == 1_024 && content[0] == 0 && content[1_023] == 2;
    assert!(remnants.iter().any(second_only));
    assert!(remnants.iter().any(|content| content.len() == 512));
}

#[test]
fn a_cut_is_lost_or_kept() {
    let remnants = remnants(&[1; 100], |file| file.truncate(40).unwrap());
    let lens: BTreeSet<usize> = remnants.iter().map(Vec::len).collect();
    assert_eq!(lens, BTreeSet::from([40, 100]));
    assert!(remnants.iter().all(|content| content[..40] == [1; 40]), "what was not cut off stays");
}

#[test]
fn what_is_cut_off_and_synced_does_not_come_back() {
    let remnants = remnants(&[1; 1_000], |file| {
        file.truncate(10).unwrap();
        file.truncate(1_000).unwrap();
        file.sync().unwrap();
    });
    for content in remnants {
        assert_eq!(content.len(), 1_000);
        assert!(content[10..].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn a_failed_sync_drops_what_it_could_not_write_and_says_so_only_once() {
    let switches = Switches::default();
    let config = Config { faults: Faults { eio: Odds::new(ALWAYS, 1), ..Faults::NONE }, ..Config::default() };
    let mut world = World::new(config, switches.clone());
    run(&mut world, move |sys| {
        save(&sys, "/f", b"old ");
        let file = create(&sys, "/f");
        file.write_all_at(b"new!", 0).unwrap();
        switches.set(&[EIO, Choice::Survive(Remnant::Sector)]);
        assert_eq!(file.sync().unwrap_err().source.raw_os_error(), Some(5));
        switches.set(&[]);
        assert_eq!(file.read_from(0, 9).unwrap(), b"new!", "everybody still sees it");
        file.sync().unwrap();
        create(&sys, "/f").sync().unwrap();
    });
    assert_eq!(world.durable_file("/f").unwrap(), b"old ", "the second sync had nothing to write");
    world.lose_power();
    assert_eq!(world.read_file("/f").unwrap(), b"old ", "even though nothing was lost this time");
}

#[test]
fn what_a_failed_sync_dropped_is_durable_once_it_is_written_again() {
    let switches = Switches::default();
    let config = Config { faults: Faults { eio: Odds::new(ALWAYS, 1), ..Faults::NONE }, ..Config::default() };
    let mut world = World::new(config, switches.clone());
    run(&mut world, move |sys| {
        let file = create(&sys, "/f");
        file.write_all_at(&[1; 1_000], 0).unwrap();
        switches.set(&[EIO, Choice::Survive(Remnant::Sector), Choice::Survive(Remnant::Length)]);
        assert!(file.sync().is_err());
        switches.set(&[]);
        file.write_all_at(&[1; 10], 600).unwrap();
        file.sync().unwrap();
        sys.files.sync_dir(Path::new("/")).unwrap();
    });
    let durable = world.durable_file("/f").unwrap();
    assert_eq!(durable.len(), 1_000);
    assert!(durable[..512].iter().all(|byte| *byte == 0), "this sector was not written again");
    assert!(durable[512..].iter().all(|byte| *byte == 1), "this one was");
}

#[test]
fn a_length_that_a_failed_sync_dropped_comes_back_only_with_a_write_that_needs_it() {
    let switches = Switches::default();
    let config = Config { faults: Faults { eio: Odds::new(ALWAYS, 1), ..Faults::NONE }, ..Config::default() };
    let mut world = World::new(config, switches.clone());
    world.write_file("/f", &[1; 512]).unwrap();
    run(&mut world, move |sys| {
        let file = create(&sys, "/f");
        file.write_all_at(&[2; 600], 512).unwrap();
        switches.set(&[EIO, Choice::Survive(Remnant::Length)]);
        assert!(file.sync().is_err());
        switches.set(&[]);
        file.write_all_at(&[3; 1], 0).unwrap();
        file.sync().unwrap();
    });
    let durable = world.durable_file("/f").unwrap();
    assert_eq!((durable.len(), durable[0]), (512, 3));
    assert_eq!(world.read_file("/f").unwrap().len(), 1_112);
}

#[test]
fn a_failed_sync_may_have_written_anything() {
    let seen: BTreeSet<Vec<u8>> = (0..SEEDS)
        .map(|seed| {
            let faults = Faults { eio: Odds::new(300_000, 1), ..Faults::NONE };
            let mut world = World::new(Config { faults, ..Config::default() }, Random::new(seed));
            world.write_file("/f", &[1; 1_024]).unwrap();
            run(&mut world, |sys| {
                let Ok(file) = sys.files.open(Path::new("/f"), Open::Write) else { return };
                if file.write_all_at(&[2; 1_024], 0).is_ok() && file.sync().is_err() {
                    assert_eq!(file.read_from(0, 2_000).unwrap(), [2; 1_024]);
                    file.sync().unwrap();
                }
            });
            world.durable_file("/f").unwrap().chunks(512).map(|sector| sector[0]).collect()
        })
        .collect();
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn the_power_goes_anywhere_and_takes_everybody_with_it() {
    let mut calls = BTreeSet::new();
    for at in 0..8_u64 {
        let faults = Faults { power_loss: Odds::new(0, 1), ..Faults::NONE };
        let choices = By(move |what, _, moment: &holdfast_sys::sim::Moment<'_>| {
            usize::from(what == Choice::PowerLoss && moment.calls() == at)
        });
        let mut world = World::new(Config { faults, ..Config::default() }, choices);
        let body = |sys: holdfast_sys::Sys| save(&sys, "/f", b"1");
        let epoch = world.run(vec![Process::new("a", 0, body), Process::new("b", 0, body)]);
        assert_eq!(epoch.end, End::PowerLoss);
        assert!(epoch.fates.contains(&Fate::Cut) && !epoch.fates.contains(&Fate::Killed));
        calls.insert(world.observer().calls());
        run(&mut world, |sys| save(&sys, "/f", b"2"));
    }
    assert_eq!(calls, (0..8).collect(), "each loss came at another call");
}

#[test]
fn a_boot_is_another_one_after_the_power_went() {
    let mut world = calm(1);
    let stamps = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    for round in 0..3 {
        let seen = stamps.clone();
        run(&mut world, move |sys| seen.lock().unwrap().push(sys.clock.now().unwrap()));
        match round {
            0 => world.lose_power(),
            _ => world.advance(1_000),
        }
    }
    let stamps = stamps.lock().unwrap().clone();
    let [first, second, third] = stamps.iter().map(|stamp| stamp.boot().unwrap()).collect::<Vec<_>>()[..]
    else {
        panic!("three rounds")
    };
    assert_ne!(first.id, second.id);
    assert!(second.ms < first.ms, "the boot-time clock begins anew");
    assert_eq!(second.id, third.id, "without a power loss the boot goes on");
    assert!(third.ms >= second.ms + 1_000);
}

#[test]
fn an_orderly_reboot_loses_nothing() {
    let mut world = World::new(Config { lose_ppm: ALWAYS, ..Config::default() }, Random::new(1));
    run(&mut world, |sys| create(&sys, "/f").write_all_at(b"here", 0).unwrap());
    world.reboot();
    world.lose_power();
    assert_eq!(world.read_file("/f").unwrap(), b"here");
}
