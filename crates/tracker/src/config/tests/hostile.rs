//! Files that nobody should have written.

use rustix::fs::{CWD, FileType, Mode};

use super::*;

/// What is said about the repository's file.
fn said(home: &Home) -> String {
    let problems = validate(&Sys::os(), &home.places).unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(Config::load(&Sys::os(), &home.places.sources).is_err());
    assert!(matches!(home.set("worktree.mode", "on"), Err(Error::Invalid(_))));
    assert_eq!(problems[0].fault.kind, ProblemKind::Unreadable);
    problems[0].fault.what.clone()
}

#[test]
fn links_pipes_and_directories_are_not_read() {
    let home = Home::with("");
    let file = home.path("r/config.toml");
    std::fs::remove_file(&file).unwrap();
    home.write("elsewhere.toml", "[worktree]\nmode = \"on\"\n");
    std::os::unix::fs::symlink(home.path("elsewhere.toml"), &file).unwrap();
    assert!(said(&home).contains("symbolic link"));
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", &file).unwrap();
    assert!(said(&home).contains("symbolic link"), "a dangling link is not a missing file");
    std::fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(CWD, &file, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    assert!(said(&home).contains("pipe"));
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(said(&home).contains("directory"));
    assert_eq!(home.read("elsewhere.toml"), "[worktree]\nmode = \"on\"\n");
}

#[test]
fn a_file_in_the_place_of_a_directory_is_named() {
    let home = Home::new();
    home.write("r", "");
    assert_eq!(home.problems(), ["unreadable - -"]);
}

#[test]
fn a_megabyte_is_read_and_one_byte_more_is_not() {
    let comment = |len: usize| format!("#{}\n", "x".repeat(len - 2));
    assert_eq!(Home::with(&comment(1 << 20)).problems(), [""; 0]);
    assert!(said(&Home::with(&comment((1 << 20) + 1))).contains("longer than 1048576 bytes"));
    let sparse = Home::with("");
    let file = std::fs::OpenOptions::new().write(true).open(sparse.path("r/config.toml")).unwrap();
    file.set_len(1 << 40).unwrap();
    assert!(said(&sparse).contains("longer than 1048576 bytes"));
}

#[test]
fn bytes_that_are_no_text_are_named_with_their_line() {
    let home = Home::with("");
    std::fs::write(home.path("r/config.toml"), b"[worktree]\nmode = \"on\"\n# \xff\n").unwrap();
    assert_eq!(said(&home), "line 3 is not UTF-8");
}

#[test]
fn a_hostile_megabyte_is_answered_with_a_few_problems_and_no_crash() {
    let keys = |line: fn(usize) -> String| (0..50_000).map(line).collect::<String>();
    let deep = format!("{}a = 1\n", "a.".repeat(400_000));
    let header = format!("[{}a]\nb = 1\n", "a.".repeat(400_000));
    let texts = [
        "[".repeat(1 << 20),
        "a = [".repeat(200_000),
        "{".repeat(1 << 20),
        format!("a = {}", "[".repeat(1 << 19)),
        format!("a = {}", "{a=".repeat(1 << 18)),
        "=\n".repeat(1 << 16),
        "a = 1\n".repeat(100_000),
        "\0".repeat(1 << 20),
        format!("a = {}", "9".repeat(1 << 19)),
        format!("{} = 1\n", "k".repeat(1 << 19)),
        format!("locks.max_age_secs = {}\n", "9".repeat(1 << 19)),
        keys(|at| format!("k{at} = 1\n")),
        keys(|at| format!("[t{at}]\n")),
        deep,
        header,
    ];
    for text in texts {
        let home = Home::with(&text);
        let problems = validate(&Sys::os(), &home.places).unwrap();
        let head: String = text.chars().take(20).collect();
        assert!((1..=100).contains(&problems.len()), "{head}: {}", problems.len());
        assert!(problems.iter().all(|problem| problem.to_string().len() < 1_000), "{head}");
        let error = home.set("worktree.mode", "on");
        assert!(matches!(error, Ok(_) | Err(Error::Invalid(_) | Error::ByHand { .. })), "{head}: {error:?}");
    }
}
