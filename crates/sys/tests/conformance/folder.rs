//! Small files read from one directory: whole or up to a limit, and never through a link.

use std::io;

use crate::Place;

crate::on_both! {
    files_are_read_whole_or_up_to_one_byte_past_the_limit
    what_is_not_there_is_no_failure
    links_and_directories_are_in_the_way
    only_a_directory_is_a_folder
}

fn files_are_read_whole_or_up_to_one_byte_past_the_limit(place: &Place) {
    let folder = place.sys.files.folder(&place.dir).unwrap();
    let mut into = b"from before".to_vec();
    for (path, limit, content) in
        [("file", 7, "content"), ("file", 6, "content"), ("file", 3, "cont"), ("sub/inner", 9, "")]
    {
        assert!(folder.read(path, &mut into, limit).unwrap(), "{path}");
        assert_eq!(into, content.as_bytes(), "{path} {limit}");
    }
}

fn what_is_not_there_is_no_failure(place: &Place) {
    let folder = place.sys.files.folder(&place.dir).unwrap();
    let mut into = b"from before".to_vec();
    for path in ["nothing", "sub/nothing", "nothing/inner"] {
        assert!(!folder.read(path, &mut into, 9).unwrap(), "{path}");
        assert!(into.is_empty());
    }
}

fn links_and_directories_are_in_the_way(place: &Place) {
    let folder = place.sys.files.folder(&place.dir).unwrap();
    let mut into = Vec::new();
    for path in ["to-file", "to-sub/inner", "to-nothing", "sub", "file/inner"] {
        let refused = folder.read(path, &mut into, 9).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{path}: {refused}");
    }
}

fn only_a_directory_is_a_folder(place: &Place) {
    for name in ["file", "to-sub"] {
        let refused = place.sys.files.folder(&place.at(name)).err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::NotADirectory, "{name}");
    }
    let missing = place.sys.files.folder(&place.at("nothing")).err().unwrap();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
}
