//! A root that somebody prepared: refused or handled, never followed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use crate::site::Site;

const SOMEBODY: u32 = 65_534;

/// Whether this user can make files another's. Others cannot be attacked this way, and cannot test it.
fn is_superuser(site: &Site) -> bool {
    fs::metadata(site.around.path()).unwrap().uid() == 0
}

fn refused(site: &Site, why: &str) {
    for words in
        [&["acquire", "a", "x"][..], &["release", "a", "x"], &["list"], &["clean", "--older-than", "0"]]
    {
        let said = site.lock(2, words);
        assert!(said.err.contains(why), "{words:?}: {said:?}");
    }
}

#[test]
fn a_root_that_is_a_symbolic_link_is_refused_and_not_followed() {
    let site = Site::new();
    fs::create_dir(site.path("elsewhere")).unwrap();
    symlink(site.path("elsewhere"), site.root()).unwrap();
    refused(&site, "symbolic link");
    // However it is spelled.
    for root in ["locks/", "locks/.", "./locks//"] {
        let said = site.ic(&["--root", root, "lock", "acquire", "a", "x"]);
        assert_eq!(said.code, 2, "{root}: {said:?}");
    }
    assert_eq!(fs::read_dir(site.path("elsewhere")).unwrap().count(), 0);
    // Nor is one that leads nowhere.
    fs::remove_dir(site.path("elsewhere")).unwrap();
    refused(&site, "symbolic link");
}

#[test]
fn a_root_of_another_user_is_refused() {
    let site = Site::new();
    if !is_superuser(&site) {
        return println!("only the superuser can make a directory another user's");
    }
    fs::create_dir(site.root()).unwrap();
    chown(site.root(), Some(SOMEBODY), None).unwrap();
    refused(&site, "belongs to user 65534");
    assert_eq!(fs::read_dir(site.root()).unwrap().count(), 0);
}

#[test]
fn a_root_below_a_directory_of_another_user_is_refused() {
    let site = Site::new();
    if !is_superuser(&site) {
        return println!("only the superuser can make a directory another user's");
    }
    chown(site.around.path(), Some(SOMEBODY), None).unwrap();
    refused(&site, "could replace what is in it");
    assert!(!site.root().exists());
    chown(site.around.path(), Some(0), None).unwrap();
}

#[test]
fn the_whole_way_to_a_root_is_looked_at() {
    let site = Site::new();
    if !is_superuser(&site) {
        return println!("only the superuser can make a directory another user's");
    }
    let refused = |root: &std::path::Path, why: &str| {
        let said = site.ic(&["--root", root.to_str().unwrap(), "lock", "acquire", "a", "x"]);
        assert!(said.code == 2 && said.err.contains(why), "{root:?}: {said:?}");
        assert!(!root.exists());
    };
    fs::create_dir_all(site.path("theirs/mine")).unwrap();
    chown(site.path("theirs"), Some(SOMEBODY), None).unwrap();
    refused(&site.path("theirs/mine/locks"), "could replace what is in it");
    // Also where a link leads through it.
    symlink(site.path("theirs/mine"), site.path("link")).unwrap();
    refused(&site.path("link/locks"), "could replace what is in it");
    symlink("link", site.path("again")).unwrap();
    refused(&site.path("again/deep/locks"), "could replace what is in it");
    symlink("circle", site.path("circle")).unwrap();
    refused(&site.path("circle/locks"), "too many links");
    fs::create_dir_all(site.path("open/mine")).unwrap();
    fs::set_permissions(site.path("open"), fs::Permissions::from_mode(0o777)).unwrap();
    refused(&site.path("open/mine/locks"), "anybody may replace what is in it");
    // As in /tmp, where only the owner of something can replace it.
    fs::set_permissions(site.path("open"), fs::Permissions::from_mode(0o1777)).unwrap();
    let root = site.path("open/mine/locks");
    assert_eq!(site.ic(&["--root", root.to_str().unwrap(), "lock", "acquire", "a", "x"]).code, 0);
    chown(site.path("theirs"), Some(0), None).unwrap();
}

#[test]
fn a_root_that_others_may_write_to_or_that_is_a_file_is_refused() {
    let site = Site::new();
    fs::create_dir(site.root()).unwrap();
    fs::set_permissions(site.root(), fs::Permissions::from_mode(0o777)).unwrap();
    refused(&site, "others may write to it");
    fs::remove_dir(site.root()).unwrap();
    fs::write(site.root(), "").unwrap();
    refused(&site, "not a directory");
}

#[test]
fn dangling_leftovers_and_links_are_in_nobodys_way_and_lead_nowhere() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    fs::create_dir(site.path("elsewhere")).unwrap();
    fs::write(site.path("elsewhere/precious"), "precious").unwrap();
    let inside = |name: &str| site.root().join(name);
    fs::create_dir_all(inside("a/.breaking-1/deep/er")).unwrap();
    fs::write(inside("a/.breaking-2"), "").unwrap();
    symlink("nowhere", inside("a/.breaking-3")).unwrap();
    symlink(site.path("elsewhere"), inside("a/.breaking-4")).unwrap();
    symlink(site.path("elsewhere"), inside("a/y")).unwrap();
    symlink(site.path("elsewhere"), inside("b")).unwrap();
    fs::write(inside("c"), "").unwrap();
    site.lock(1, &["acquire", "a", "x", "--timeout", "0"]);
    site.lock(0, &["acquire", "a", "z", "--owner", "me"]);
    for lock in [["a", "y"], ["b", "x"], ["c", "x"]] {
        site.lock(2, &["acquire", lock[0], lock[1], "--timeout", "0"]);
    }
    site.lock(0, &["clean", "--older-than", "0"]);
    assert_eq!(site.list(), ["a/x", "a/z"], "the link that pretended to be a lock is gone");
    let mut left: Vec<_> =
        fs::read_dir(inside("a")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["x", "z"]);
    assert_eq!(fs::read_to_string(site.path("elsewhere/precious")).unwrap(), "precious");
    assert_eq!(fs::read_dir(site.path("elsewhere")).unwrap().count(), 1);
}

#[test]
fn what_pretends_to_be_the_record_of_order_is_not_followed() {
    let site = Site::new();
    fs::create_dir(site.path("elsewhere")).unwrap();
    fs::create_dir_all(site.root().join(".order/held")).unwrap();
    symlink(site.path("elsewhere/guard"), site.root().join(".order/guard")).unwrap();
    let said = site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    assert!(said.err.contains("its order was not recorded"), "{said:?}");
    site.lock(0, &["release", "a", "x", "--owner", "me"]);
    assert_eq!(fs::read_dir(site.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn ten_thousand_locks_hide_none_and_go_at_once() {
    let site = Site::new();
    for number in 0..10_000 {
        fs::create_dir_all(site.root().join(format!("n{}/s{number}", number % 7))).unwrap();
    }
    site.lock(0, &["acquire", "n1", "mine", "--owner", "me"]);
    assert_eq!(site.list().len(), 10_001);
    site.lock(0, &["release", "n1", "mine", "--owner", "me"]);
    site.lock(0, &["acquire", "n1", "mine", "--owner", "me"]);
    let said = site.lock(0, &["clean", "--older-than", "0", "--json"]);
    assert!(said.out.contains("\"count\":10000"));
    assert_eq!(site.list(), ["n1/mine"]);
}

#[test]
fn what_one_lock_costs_does_not_depend_on_how_many_there_are() {
    let site = Site::new();
    let calls = |locks: usize| {
        for number in 0..locks {
            fs::create_dir_all(site.root().join(format!("n/s{number}"))).unwrap();
        }
        let mut strace = site.program("strace");
        strace
            .args(["-f", "-c", "-U", "calls", crate::site::IC, "lock", "run", "n", "mine", "--", "true"])
            .output()
    };
    // The tool may be missing, or not be allowed to look at others; the benchmark shows the same.
    let (Ok(few), Ok(many)) = (calls(1), calls(2_000)) else { return println!("strace is not there") };
    if !few.status.success() {
        return println!("strace may not be used here");
    }
    let count = |said: &[u8]| -> u64 {
        let text = String::from_utf8_lossy(said);
        text.lines().find_map(|line| line.trim().strip_suffix(" total")?.trim().parse().ok()).unwrap()
    };
    assert!(count(&few.stderr) > 50, "{few:?}");
    assert!(
        count(&many.stderr) < count(&few.stderr) + 100,
        "{} and {}",
        count(&few.stderr),
        count(&many.stderr)
    );
}
