//! Reading and writing.

use std::io;

use holdfast_sys::{Kind, Open};
use rustix::io::Errno;

use crate::{Place, errno, text};

crate::on_both! {
    what_is_written_is_read
    a_hole_reads_as_zeros
    the_end_of_a_file_reads_as_nothing
    a_cut_is_for_good
    a_file_grows_by_zeros
    appending_goes_to_the_end_wherever_it_is
    a_handle_for_appending_cannot_read_nor_choose_where
    only_a_handle_for_appending_appends
    a_handle_for_reading_cannot_change_anything
    writing_nothing_is_no_progress
    offsets_and_lengths_beyond_all_bounds_are_refused
    syncing_works_on_every_handle
    a_handle_knows_its_file
}

fn what_is_written_is_read(place: &Place) {
    let handle = place.open("new", Open::New { mode: 0o600 }).unwrap();
    assert_eq!(handle.write_at(b"abcdef", 0).unwrap(), 6);
    assert_eq!(handle.write_at(b"XY", 2).unwrap(), 2);
    assert_eq!(text(&*handle), "abXYef");
    assert_eq!(place.read("new"), "abXYef");
    let mut some = [0; 3];
    assert_eq!(handle.read_at(&mut some, 1).unwrap(), 3);
    assert_eq!(&some, b"bXY");
}

fn a_hole_reads_as_zeros(place: &Place) {
    let handle = place.file("new", "ab");
    handle.write_all_at(b"z", 1_000).unwrap();
    assert_eq!(handle.stat().unwrap().len, 1_001);
    let all = handle.read_from(0, 2_000).unwrap();
    assert_eq!(&all[..2], b"ab");
    assert!(all[2..1_000].iter().all(|byte| *byte == 0));
    assert_eq!(all[1_000], b'z');
}

fn the_end_of_a_file_reads_as_nothing(place: &Place) {
    let handle = place.open("file", Open::Read).unwrap();
    let mut some = [9; 4];
    assert_eq!(handle.read_at(&mut some, 7).unwrap(), 0);
    assert_eq!(handle.read_at(&mut some, 7_000).unwrap(), 0);
    assert_eq!(handle.read_at(&mut some, 5).unwrap(), 2);
    assert_eq!(&some[..2], b"nt");
    assert_eq!(handle.read_at(&mut [], 0).unwrap(), 0);
    assert_eq!(handle.read_from(3, 2).unwrap(), b"te");
}

fn a_cut_is_for_good(place: &Place) {
    let handle = place.file("new", "abcdef");
    handle.truncate(2).unwrap();
    assert_eq!(text(&*handle), "ab");
    handle.truncate(4).unwrap();
    assert_eq!(text(&*handle), "ab\0\0");
}

fn a_file_grows_by_zeros(place: &Place) {
    let handle = place.file("new", "ab");
    handle.truncate(5).unwrap();
    assert_eq!(text(&*handle), "ab\0\0\0");
}

fn appending_goes_to_the_end_wherever_it_is(place: &Place) {
    let first = place.open("log", Open::Append { mode: 0o600 }).unwrap();
    let second = place.open("log", Open::Append { mode: 0o600 }).unwrap();
    assert_eq!(first.append(b"one ").unwrap(), 4);
    assert_eq!(second.append(b"two ").unwrap(), 4);
    assert_eq!(first.append(b"three").unwrap(), 5);
    assert_eq!(place.read("log"), "one two three");
    second.truncate(3).unwrap();
    first.append(b"!").unwrap();
    assert_eq!(place.read("log"), "one!");
}

fn a_handle_for_appending_cannot_read_nor_choose_where(place: &Place) {
    let handle = place.open("file", Open::Append { mode: 0o600 }).unwrap();
    assert_eq!(errno(handle.read_at(&mut [0; 4], 0)), Errno::BADF);
    assert_eq!(handle.write_at(b"!", 0).unwrap(), 1);
    assert_eq!(place.read("file"), "content!");
}

fn only_a_handle_for_appending_appends(place: &Place) {
    for how in [Open::Read, Open::Write, Open::Create { mode: 0o600 }] {
        assert_eq!(errno(place.open("file", how).unwrap().append(b"x")), Errno::BADF, "{how:?}");
    }
    assert_eq!(place.read("file"), "content");
}

fn a_handle_for_reading_cannot_change_anything(place: &Place) {
    let handle = place.open("file", Open::Read).unwrap();
    assert_eq!(errno(handle.write_at(b"x", 0)), Errno::BADF);
    assert_eq!(errno(handle.truncate(0)), Errno::INVAL);
    assert_eq!(text(&*handle), "content");
}

fn writing_nothing_is_no_progress(place: &Place) {
    let handle = place.open("file", Open::Write).unwrap();
    assert_eq!(handle.write_at(b"", 0).unwrap_err().kind(), io::ErrorKind::WriteZero);
    assert!(handle.write_all_at(b"", 0).is_ok());
}

fn offsets_and_lengths_beyond_all_bounds_are_refused(place: &Place) {
    let handle = place.open("file", Open::Write).unwrap();
    assert_eq!(errno(handle.read_at(&mut [0; 4], u64::MAX)), Errno::INVAL);
    assert_eq!(errno(handle.write_at(b"x", u64::MAX)), Errno::INVAL);
    assert_eq!(handle.truncate(u64::MAX).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    assert_eq!(errno(handle.truncate(1 << 62)), Errno::FBIG);
    assert_eq!(place.read("file"), "content");
}

fn syncing_works_on_every_handle(place: &Place) {
    for how in [Open::Read, Open::Write, Open::Append { mode: 0o600 }] {
        place.open("file", how).unwrap().sync().unwrap();
    }
    place.open("sub", Open::Read).unwrap().sync().unwrap();
    place.sys.files.sync_dir(&place.dir).unwrap();
}

fn a_handle_knows_its_file(place: &Place) {
    let handle = place.open("new", Open::New { mode: 0o640 }).unwrap();
    handle.write_all_at(b"abc", 0).unwrap();
    let stat = handle.stat().unwrap();
    assert_eq!((stat.kind, stat.len, stat.mode), (Kind::File, 3, 0o640));
    assert_eq!(stat.owner, place.sys.files.stat(&place.dir).unwrap().owner);
    assert_eq!(stat, place.sys.files.stat(&place.at("new")).unwrap());
    let now = i64::try_from(place.sys.clock.now().unwrap().wall_ms()).unwrap();
    assert!((now - stat.modified_ms).abs() < 60_000, "{} is not {now}", stat.modified_ms);
}
