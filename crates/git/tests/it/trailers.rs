//! Trailers, against `git interpret-trailers`.

use std::io::Write;
use std::process::{Command, Stdio};

use holdfast_git::Config;
use holdfast_git::trailers::{Style, Trailer, add, parse, replace};
use holdfast_sys::os::OsFiles;
use proptest::prelude::*;

use crate::sandbox::{Sandbox, property};

/// What git makes of a message. Versions differ in whether they end its last line first, so that is done
/// for them.
fn interpret(sandbox: &Sandbox, args: &[&str], message: &[u8]) -> Vec<u8> {
    let end: &[u8] = if message.last().is_some_and(|byte| *byte != b'\n') { b"\n" } else { b"" };
    let mut command = sandbox.command(&sandbox.root);
    command.arg("interpret-trailers").args(args);
    piped(command, &[message, end].concat())
}

fn piped(mut command: Command, input: &[u8]) -> Vec<u8> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout
}

fn theirs(sandbox: &Sandbox, message: &[u8], divider: bool) -> String {
    let args: &[&str] = if divider { &["--parse"] } else { &["--parse", "--no-divider"] };
    String::from_utf8(interpret(sandbox, args, message)).unwrap()
}

fn ours(message: &[u8], divider: bool) -> String {
    let style = Style { divider, ..Style::default() };
    let line = |trailer: &Trailer| {
        format!("{}: {}\n", String::from_utf8_lossy(&trailer.key), String::from_utf8_lossy(&trailer.value))
    };
    parse(message, &style).iter().map(line).collect()
}

fn lease() -> [Trailer; 2] {
    [Trailer::new("JIT-Lease", "01HX").unwrap(), Trailer::new("JIT-Fence", "7").unwrap()]
}

#[test]
fn added_to_messages_of_every_shape() {
    let sandbox = Sandbox::new();
    let shapes = [
        "title\n",
        "title",
        "title\n\nbody\n",
        "title\n\nbody\n\nSigned-off-by: A <a>\n",
        "title\n\nSigned-off-by: A <a>\nJIT-Lease: 01HX\n",
        "title\n\njit-lease: 01HX\nJIT-Fence: 7\n",
        "title\n\nbody\n# a comment\n",
        "title\n\nKey: a\n  b\n",
        "title\n\nbody\n\n# Please enter\n#\n# ------------------------ >8 ------------------------\ndiff\nKey: no\n",
        "Key: this is the title\n",
        "",
        "\n",
        "\n# Please enter the commit message\n",
        "title\n\n(cherry picked from commit 0123)\nnot one\n",
    ];
    for shape in shapes {
        let args = [
            "--no-divider",
            "--if-exists",
            "addIfDifferent",
            "--trailer",
            "JIT-Lease=01HX",
            "--trailer",
            "JIT-Fence=7",
        ];
        let git = interpret(&sandbox, &args, shape.as_bytes());
        let added = add(shape.as_bytes(), &Style::default(), &lease());
        assert_eq!(String::from_utf8_lossy(&added), String::from_utf8_lossy(&git), "{shape:?}");
        let again = add(&added, &Style::default(), &lease());
        assert_eq!(again, added, "once is enough: {shape:?}");
    }
}

#[test]
fn replaced_on_amend() {
    let message = "title\n\nbody\n\nJIT-Lease: old\nSigned-off-by: A <a>\njit-fence: 3\n# comment\n";
    let style = Style::default();
    let replaced = replace(message.as_bytes(), &style, &["JIT-Lease", "JIT-Fence"], &lease());
    let wanted = "title\n\nbody\n\nSigned-off-by: A <a>\nJIT-Lease: 01HX\nJIT-Fence: 7\n# comment\n";
    assert_eq!(String::from_utf8_lossy(&replaced), wanted);
    let none = replace(b"title\n\nJIT-Lease: old\n", &style, &["JIT-Lease"], &[]);
    assert_eq!(String::from_utf8_lossy(&none), "title\n\n");
    let untouched = replace(b"title\n\nbody", &style, &["JIT-Lease"], &[]);
    assert_eq!(String::from_utf8_lossy(&untouched), "title\n\nbody\n");
}

#[test]
fn another_comment_mark() {
    let style = Style { comment: b"//".to_vec(), divider: false };
    let added = add(b"title\n\n# not a comment\n// a comment\n", &style, &lease()[..1]);
    assert_eq!(
        String::from_utf8_lossy(&added),
        "title\n\n# not a comment\n\nJIT-Lease: 01HX\n// a comment\n"
    );
}

#[test]
fn the_configured_comment_mark() {
    let sandbox = Sandbox::new();
    let message = b"title\n\nKey: value\n; a comment\nOther: value\n";
    for (mark, key) in [(";", true), ("#", false), ("auto", false)] {
        let mut env = sandbox.env();
        env.config_pairs = vec![("core.commentChar".into(), mark.into())];
        let config = Config::read(&OsFiles, &env, None).unwrap();
        let style = Style::configured(&config);
        let mut command = sandbox.command(&sandbox.root);
        command.args(["-c", &format!("core.commentChar={mark}"), "interpret-trailers", "--parse"]);
        let theirs = piped(command, message);
        let ours = parse(message, &style);
        assert_eq!(ours.len(), if key { 2 } else { 0 }, "{mark}");
        assert_eq!(ours.len(), theirs.iter().filter(|byte| **byte == b'\n').count(), "{mark}: {ours:?}");
        assert_eq!(style.comment, if key { &b";"[..] } else { b"#" });
    }
}

#[test]
fn only_what_stays_one_line_is_a_trailer() {
    for (key, value) in
        [("", "x"), ("a b", "x"), ("a:", "x"), ("ä", "x"), ("a", "x\ny"), ("a", "x\ry"), ("a", "\0")]
    {
        assert!(Trailer::new(key, value).is_none(), "{key:?} {value:?}");
    }
    assert_eq!(Trailer::new("Key", " v ").unwrap().value, b"v");
    assert!(Trailer::new("Key", "").unwrap().is("kEY"));
}

const SCISSORS: &str = "# ------------------------ >8 ------------------------\n";

const LINES: [&str; 26] = [
    "\n",
    "\n",
    "\n",
    " \n",
    "\t\n",
    "title\n",
    "some words here\n",
    "Key: value\n",
    "Key: value\n",
    "other-key:x\n",
    "Spaced : v\n",
    "two words: v\n",
    ": nothing\n",
    "-: dash\n",
    "Empty:\n",
    "Signed-off-by: A <a>\n",
    "(cherry picked from commit 01)\n",
    "  continued\n",
    "\tcontinued\n",
    "# comment\n",
    "#\n",
    "---\n",
    "--- a/file\n",
    "Conflicts:\n",
    SCISSORS,
    "no end of line: here",
];

fn message() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&LINES[..]), 0..14).prop_map(|lines| lines.concat())
}

/// Any message has the trailers that git finds in it.
#[test]
fn as_git_reads_them() {
    let sandbox = Sandbox::new();
    property(300, &(message(), any::<bool>()), |(message, divider)| {
        // Scissors below a divider make git 2.39 loop for ever.
        let message = if divider { message.replace(SCISSORS, "") } else { message };
        let theirs = theirs(&sandbox, message.as_bytes(), divider);
        prop_assert_eq!(ours(message.as_bytes(), divider), theirs, "{:?}", message);
        Ok(())
    });
}

/// Git finds what it found before, then what was added; and no line is lost.
#[test]
fn as_git_finds_them_again() {
    let sandbox = Sandbox::new();
    property(300, &message(), |message| {
        // A list of conflicts is no longer one to git when something stands before it, not even for its own.
        let message = message.replace("Conflicts:\n", "");
        let added = add(message.as_bytes(), &Style::default(), &lease()[..1]);
        let wanted = theirs(&sandbox, message.as_bytes(), false) + "JIT-Lease: 01HX\n";
        prop_assert_eq!(theirs(&sandbox, &added, false), wanted, "{:?}", message);
        let added = String::from_utf8_lossy(&added);
        let mut lines = message.lines().filter(|line| !line.trim().is_empty());
        prop_assert!(lines.all(|line| added.lines().any(|ours| ours == line)), "{:?}", message);
        Ok(())
    });
}
