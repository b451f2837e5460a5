//! What is remembered of the issues that commits have changes no answer, and git is not asked twice for it.
#![expect(clippy::disallowed_methods, reason = "tests start git and look at files behind the program's back")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use holdfast_kernel::LeaseId;
use holdfast_sys::Sys;
use holdfast_tracker::Session;
use holdfast_tracker::issues::{Issues, Scope};
use support::caller;

/// As many issues as it takes for a commit's list to be remembered.
const COUNT: usize = 256;

/// As many lists as are kept.
const MOST: usize = 8;

/// A repository whose issues are in commits alone.
struct Place {
    _scratch: tempfile::TempDir,
    root: PathBuf,
}

impl Place {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let place = Self { root: scratch.path().to_path_buf(), _scratch: scratch };
        place.git(&["init", "-q", "-b", "main"]);
        fs::create_dir_all(place.root.join(".git/jit")).unwrap();
        (0..COUNT).for_each(|number| place.write(number));
        place.commit();
        place
    }

    fn git(&self, args: &[&str]) {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "gc.auto=0"];
        assert!(Command::new("git").current_dir(&self.root).args(who).args(args).status().unwrap().success());
    }

    fn write(&self, number: usize) {
        let home = self.root.join(".jit/issues").join(id(number));
        fs::create_dir_all(&home).unwrap();
        let moment = "2026-01-01T00:00:00Z";
        let text = format!(
            r#"{{"id":"{}","title":"t","state":"ready","created_at":"{moment}","updated_at":"{moment}"}}"#,
            id(number)
        );
        fs::write(home.join("issue.json"), text).unwrap();
    }

    /// Commits what is there, and takes it out of the worktree: it can be seen in the commit alone.
    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "work"]);
        fs::remove_dir_all(self.root.join(".jit/issues")).unwrap();
        fs::create_dir(self.root.join(".jit/issues")).unwrap();
    }

    /// The lists that are remembered.
    fn lists(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.root.join(".git/jit/lists")) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.file_name().unwrap().to_str().unwrap().contains("tree-")).collect()
    }

    /// The ids of all issues, and what is wrong with them.
    fn look(&self) -> (Vec<String>, Vec<String>) {
        let session = Session::open(&caller(&Sys::os(), &self.root)).unwrap();
        let scan = Issues::new(&session).glance(Scope::All, |_| Some(())).unwrap();
        (scan.ids.iter().map(ToString::to_string).collect(), scan.problems)
    }

    /// The ids of all issues, with none of which anything is wrong.
    fn ids(&self) -> Vec<String> {
        let (ids, problems) = self.look();
        assert_eq!(problems, Vec::<String>::new());
        ids
    }
}

fn id(number: usize) -> String {
    format!("01K742SG0000067JZ1WHCK{:04}", number + 100)
}

fn ids(count: usize) -> Vec<String> {
    (0..count).map(id).collect()
}

#[test]
fn the_list_of_a_commit_is_read_from_git_once_and_one_that_is_not_whole_is_not_used() {
    let place = Place::new();
    assert_eq!(place.ids(), ids(COUNT));
    let [list] = &place.lists()[..] else { panic!("{:?}", place.lists()) };
    let whole = fs::read(list).unwrap();
    // What the file says is what is told: git is not asked again.
    let bits = |id: &str| id.parse::<LeaseId>().unwrap().get().to_le_bytes();
    let forged = format!("{}Z", &id(COUNT - 1)[..25]);
    let mut bytes = whole.clone();
    let at = bytes.windows(16).position(|part| part == bits(&id(COUNT - 1))).unwrap();
    bytes[at..at + 16].copy_from_slice(&bits(&forged));
    fs::write(list, &bytes).unwrap();
    assert_eq!(place.ids(), ids(COUNT), "its hash is not right");
    let hash = *blake3::hash(&bytes[40..]).as_bytes();
    bytes[8..40].copy_from_slice(&hash);
    fs::write(list, &bytes).unwrap();
    let (told, problems) = place.look();
    assert_eq!(told.last(), Some(&forged));
    assert!(problems[0].contains(&forged), "what is read because of it is still looked at: {problems:?}");
    for spoilt in [&[][..], &whole[..whole.len() / 2], &[&whole[..], b"x"].concat()] {
        fs::write(list, spoilt).unwrap();
        assert_eq!(place.ids(), ids(COUNT));
        assert_eq!(fs::read(list).unwrap(), whole, "it is made anew");
    }
    fs::remove_file(list).unwrap();
    fs::create_dir(list).unwrap();
    assert_eq!(place.ids(), ids(COUNT), "something else is in its place");
}

#[test]
fn another_commit_has_a_list_of_its_own_and_only_some_are_kept() {
    let place = Place::new();
    let mut known = Vec::new();
    for more in 1..=MOST + 2 {
        (0..COUNT + more).for_each(|number| place.write(number));
        place.commit();
        assert_eq!(place.ids(), ids(COUNT + more));
        known = place.lists();
        assert_eq!(known.len(), more.min(MOST), "{known:?}");
    }
    place.git(&["reset", "-q", "HEAD~1"]);
    assert_eq!(place.ids(), ids(COUNT + MOST + 1));
    known.sort_unstable();
    let mut after = place.lists();
    after.sort_unstable();
    assert_eq!(after, known, "the last ones are still there");
}

#[test]
fn few_issues_are_read_from_git_and_whoever_looks_makes_no_control_plane() {
    let place = Place::new();
    fs::remove_dir_all(place.root.join(".git/jit")).unwrap();
    assert_eq!(place.ids(), ids(COUNT));
    assert!(!place.root.join(".git/jit").exists());
    fs::create_dir(place.root.join(".git/jit")).unwrap();
    (0..COUNT - 1).for_each(|number| place.write(number));
    place.commit();
    assert_eq!(place.ids(), ids(COUNT - 1));
    assert_eq!(place.lists(), Vec::<PathBuf>::new());
}
