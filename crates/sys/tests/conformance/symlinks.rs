//! Symbolic links are somebody else's idea of where a file is: followed on the way, never at the last step.

use holdfast_sys::{Kind, Open};
use rustix::io::Errno;

use crate::{Place, errno};

crate::on_both! {
    a_link_is_not_opened
    a_link_is_not_created_through
    a_link_is_looked_at_itself
    a_link_to_a_directory_is_no_directory
    a_link_on_the_way_is_followed
    a_link_is_renamed_linked_and_removed_itself
}

fn a_link_is_not_opened(place: &Place) {
    for name in ["to-file", "to-sub", "to-nothing"] {
        for how in [Open::Read, Open::Write, Open::Create { mode: 0o600 }, Open::Append { mode: 0o600 }] {
            assert_eq!(errno(place.open(name, how)), Errno::LOOP, "{name} {how:?}");
        }
    }
}

fn a_link_is_not_created_through(place: &Place) {
    assert_eq!(errno(place.open("to-nothing", Open::New { mode: 0o600 })), Errno::EXIST);
    assert_eq!(errno(place.sys.files.stat(&place.at("nothing"))), Errno::NOENT);
}

fn a_link_is_looked_at_itself(place: &Place) {
    for name in ["to-file", "to-sub", "to-nothing"] {
        assert_eq!(place.sys.files.stat(&place.at(name)).unwrap().kind, Kind::Symlink, "{name}");
    }
}

fn a_link_to_a_directory_is_no_directory(place: &Place) {
    assert_eq!(errno(place.sys.files.list(&place.at("to-sub"))), Errno::NOTDIR);
    assert_eq!(errno(place.sys.files.sync_dir(&place.at("to-sub"))), Errno::NOTDIR);
    assert_eq!(errno(place.sys.files.remove_dir(&place.at("to-sub"))), Errno::NOTDIR);
}

fn a_link_on_the_way_is_followed(place: &Place) {
    assert_eq!(place.read("to-sub/inner"), "");
    assert_eq!(place.read("to-sub/../file"), "content");
    assert_eq!(errno(place.open("to-nothing/x", Open::Read)), Errno::NOENT);
    assert_eq!(errno(place.open("to-file/x", Open::Read)), Errno::NOTDIR);
}

fn a_link_is_renamed_linked_and_removed_itself(place: &Place) {
    let files = &place.sys.files;
    files.link(&place.at("to-file"), &place.at("twin")).unwrap();
    assert_eq!(files.stat(&place.at("twin")).unwrap().kind, Kind::Symlink);
    files.remove_file(&place.at("to-file")).unwrap();
    drop(place.file("from", "moved"));
    files.rename(&place.at("from"), &place.at("twin")).unwrap();
    assert_eq!(place.read("twin"), "moved");
    assert_eq!(place.read("file"), "content");
}
