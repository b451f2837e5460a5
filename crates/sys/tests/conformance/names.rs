//! Opening, linking, renaming and removing.

use holdfast_sys::{Kind, Open};
use rustix::io::Errno;

use crate::{Place, errno, text};

crate::on_both! {
    a_file_is_opened_as_asked
    a_directory_is_opened_for_reading_only
    a_path_leads_through_directories_only
    a_rename_replaces_a_file
    a_rename_keeps_what_cannot_be_replaced
    a_directory_cannot_move_into_itself
    two_names_of_one_file_are_left_alone
    a_rename_without_replacing_replaces_nothing
    a_link_is_a_second_name
    a_directory_has_one_name
    a_directory_is_made_once
    removing_tells_files_from_directories
    a_removed_file_lives_on_in_its_handles
    a_number_is_not_given_out_while_a_handle_has_it
    names_are_listed_in_order
    the_root_stays
    permissions_are_set_whatever_is_masked
}

fn a_file_is_opened_as_asked(place: &Place) {
    assert_eq!(errno(place.open("nothing", Open::Read)), Errno::NOENT);
    assert_eq!(errno(place.open("nothing", Open::Write)), Errno::NOENT);
    assert_eq!(errno(place.open("file", Open::New { mode: 0o600 })), Errno::EXIST);
    drop(place.open("file", Open::Create { mode: 0o600 }).unwrap());
    drop(place.open("file", Open::Append { mode: 0o600 }).unwrap());
    assert_eq!(place.read("file"), "content");
    for (name, how) in [
        ("a", Open::Create { mode: 0o600 }),
        ("b", Open::New { mode: 0o600 }),
        ("c", Open::Append { mode: 0o600 }),
    ] {
        let made = place.open(name, how).unwrap().stat().unwrap();
        assert_eq!((made.kind, made.len, made.mode), (Kind::File, 0, 0o600), "{how:?}");
    }
}

fn a_directory_is_opened_for_reading_only(place: &Place) {
    let handle = place.open("sub", Open::Read).unwrap();
    assert_eq!(handle.stat().unwrap().kind, Kind::Directory);
    assert_eq!(errno(handle.read_at(&mut [0; 4], 0)), Errno::ISDIR);
    for how in [Open::Write, Open::Create { mode: 0o600 }, Open::Append { mode: 0o600 }] {
        assert_eq!(errno(place.open("sub", how)), Errno::ISDIR, "{how:?}");
    }
    assert_eq!(errno(place.open("sub", Open::New { mode: 0o600 })), Errno::EXIST);
}

fn a_path_leads_through_directories_only(place: &Place) {
    assert_eq!(errno(place.open("file/x", Open::Read)), Errno::NOTDIR);
    assert_eq!(errno(place.open("nothing/x", Open::Create { mode: 0o600 })), Errno::NOENT);
    assert_eq!(errno(place.sys.files.stat(&place.at("file/x"))), Errno::NOTDIR);
    assert_eq!(errno(place.sys.files.list(&place.at("file"))), Errno::NOTDIR);
    assert_eq!(errno(place.sys.files.list(&place.at("nothing"))), Errno::NOENT);
    assert_eq!(errno(place.sys.files.sync_dir(&place.at("file"))), Errno::NOTDIR);
    assert_eq!(place.read("sub/../file"), "content");
    assert_eq!(place.read("./file"), "content");
}

fn a_rename_replaces_a_file(place: &Place) {
    let files = &place.sys.files;
    let moved = place.file("from", "moved").stat().unwrap();
    let replaced = place.open("file", Open::Read).unwrap();
    files.rename(&place.at("from"), &place.at("file")).unwrap();
    assert_eq!(place.read("file"), "moved");
    assert_eq!(files.stat(&place.at("file")).unwrap().identity, moved.identity);
    assert_eq!(errno(files.stat(&place.at("from"))), Errno::NOENT);
    assert_eq!(text(&*replaced), "content");
    files.rename(&place.at("file"), &place.at("sub/file")).unwrap();
    assert_eq!(place.read("sub/file"), "moved");
    assert_eq!(errno(files.rename(&place.at("file"), &place.at("x"))), Errno::NOENT);
    assert_eq!(errno(files.rename(&place.at("sub/file"), &place.at("nothing/x"))), Errno::NOENT);
}

fn a_rename_keeps_what_cannot_be_replaced(place: &Place) {
    let files = &place.sys.files;
    files.create_dir(&place.at("empty"), 0o700).unwrap();
    assert_eq!(errno(files.rename(&place.at("file"), &place.at("sub"))), Errno::ISDIR);
    assert_eq!(errno(files.rename(&place.at("file"), &place.at("empty"))), Errno::ISDIR);
    assert_eq!(errno(files.rename(&place.at("sub"), &place.at("file"))), Errno::NOTDIR);
    assert_eq!(errno(files.rename(&place.at("empty"), &place.at("sub"))), Errno::NOTEMPTY);
    files.rename(&place.at("sub"), &place.at("empty")).unwrap();
    assert_eq!(place.read("empty/inner"), "");
    assert_eq!(errno(files.stat(&place.at("sub"))), Errno::NOENT);
}

fn a_directory_cannot_move_into_itself(place: &Place) {
    let files = &place.sys.files;
    files.create_dir(&place.at("sub/deep"), 0o700).unwrap();
    assert_eq!(errno(files.rename(&place.at("sub"), &place.at("sub/deep/sub"))), Errno::INVAL);
    files.rename(&place.at("sub"), &place.at("sub")).unwrap();
    assert_eq!(place.read("sub/inner"), "");
}

fn two_names_of_one_file_are_left_alone(place: &Place) {
    let files = &place.sys.files;
    files.link(&place.at("file"), &place.at("again")).unwrap();
    files.rename(&place.at("file"), &place.at("again")).unwrap();
    assert_eq!(place.read("file"), "content");
    assert_eq!(place.read("again"), "content");
}

fn a_rename_without_replacing_replaces_nothing(place: &Place) {
    let files = &place.sys.files;
    drop(place.file("from", "moved"));
    assert_eq!(errno(files.rename_new(&place.at("from"), &place.at("file"))), Errno::EXIST);
    assert_eq!(errno(files.rename_new(&place.at("from"), &place.at("to-nothing"))), Errno::EXIST);
    assert_eq!(errno(files.rename_new(&place.at("from"), &place.at("sub"))), Errno::EXIST);
    assert_eq!(errno(files.rename_new(&place.at("from"), &place.at("from"))), Errno::EXIST);
    assert_eq!(errno(files.rename_new(&place.at("nothing"), &place.at("x"))), Errno::NOENT);
    assert_eq!((place.read("from"), place.read("file")), ("moved".to_owned(), "content".to_owned()));
    files.rename_new(&place.at("from"), &place.at("to")).unwrap();
    assert_eq!(place.read("to"), "moved");
    assert_eq!(errno(files.stat(&place.at("from"))), Errno::NOENT);
    files.rename_new(&place.at("sub"), &place.at("other")).unwrap();
    assert_eq!(place.read("other/inner"), "");
}

fn a_link_is_a_second_name(place: &Place) {
    let files = &place.sys.files;
    files.link(&place.at("file"), &place.at("sub/again")).unwrap();
    let (one, two) = (files.stat(&place.at("file")).unwrap(), files.stat(&place.at("sub/again")).unwrap());
    assert_eq!(one.identity, two.identity);
    place.open("sub/again", Open::Write).unwrap().write_all_at(b"C", 0).unwrap();
    assert_eq!(place.read("file"), "Content");
    files.remove_file(&place.at("file")).unwrap();
    assert_eq!(place.read("sub/again"), "Content");
    assert_eq!(errno(files.link(&place.at("sub/again"), &place.at("sub/inner"))), Errno::EXIST);
    assert_eq!(errno(files.link(&place.at("nothing"), &place.at("x"))), Errno::NOENT);
}

fn a_directory_has_one_name(place: &Place) {
    assert_eq!(errno(place.sys.files.link(&place.at("sub"), &place.at("again"))), Errno::PERM);
}

fn a_directory_is_made_once(place: &Place) {
    let files = &place.sys.files;
    files.create_dir(&place.at("made"), 0o700).unwrap();
    let made = files.stat(&place.at("made")).unwrap();
    assert_eq!((made.kind, made.mode), (Kind::Directory, 0o700));
    for name in ["made", "file", "to-sub", "to-nothing"] {
        assert_eq!(errno(files.create_dir(&place.at(name), 0o700)), Errno::EXIST, "{name}");
    }
    assert_eq!(errno(files.create_dir(&place.at("nothing/made"), 0o700)), Errno::NOENT);
    assert!(files.list(&place.at("made")).unwrap().is_empty());
}

fn removing_tells_files_from_directories(place: &Place) {
    let files = &place.sys.files;
    assert_eq!(errno(files.remove_file(&place.at("sub"))), Errno::ISDIR);
    assert_eq!(errno(files.remove_dir(&place.at("file"))), Errno::NOTDIR);
    assert_eq!(errno(files.remove_dir(&place.at("sub"))), Errno::NOTEMPTY);
    assert_eq!(errno(files.remove_file(&place.at("nothing"))), Errno::NOENT);
    assert_eq!(errno(files.remove_dir(&place.at("nothing"))), Errno::NOENT);
    files.remove_file(&place.at("sub/inner")).unwrap();
    files.remove_dir(&place.at("sub")).unwrap();
    files.remove_file(&place.at("file")).unwrap();
    assert_eq!(place.names(), ["to-file", "to-nothing", "to-sub"]);
}

fn a_removed_file_lives_on_in_its_handles(place: &Place) {
    let handle = place.open("file", Open::Write).unwrap();
    place.sys.files.remove_file(&place.at("file")).unwrap();
    handle.write_all_at(b"C", 0).unwrap();
    handle.sync().unwrap();
    assert_eq!(text(&*handle), "Content");
    assert_eq!(errno(place.open("file", Open::Read)), Errno::NOENT);
}

fn a_number_is_not_given_out_while_a_handle_has_it(place: &Place) {
    let handle = place.open("file", Open::Read).unwrap();
    place.sys.files.remove_file(&place.at("file")).unwrap();
    let other = place.file("file", "other").stat().unwrap();
    assert_ne!(other.identity, handle.stat().unwrap().identity);
}

fn names_are_listed_in_order(place: &Place) {
    for name in ["z", "a", "M", ".hidden", "ä"] {
        drop(place.file(name, ""));
    }
    let mut sorted = ["z", "a", "M", ".hidden", "ä", "file", "sub", "to-file", "to-nothing", "to-sub"];
    sorted.sort_unstable();
    assert_eq!(place.names(), sorted);
}

fn the_root_stays(place: &Place) {
    let root = std::path::Path::new("/");
    assert_eq!(place.sys.files.stat(root).unwrap().kind, Kind::Directory);
    assert_eq!(errno(place.sys.files.create_dir(root, 0o700)), Errno::EXIST);
    assert_eq!(errno(place.sys.files.rename(root, &place.at("x"))), Errno::BUSY);
}

fn permissions_are_set_whatever_is_masked(place: &Place) {
    let files = &place.sys.files;
    for (name, mode) in [("file", 0o666), ("sub", 0o2770), ("file", 0o600)] {
        files.admit(&place.at(name), mode, None).unwrap();
        assert_eq!(files.stat(&place.at(name)).unwrap().mode, mode, "{name}");
    }
    assert_eq!(errno(files.admit(&place.at("nothing"), 0o600, None)), Errno::NOENT);
}
