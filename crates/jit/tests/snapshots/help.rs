//! The help of every command, hidden ones too, as it is printed.

use std::fmt::Write as _;
use std::process::Command;

use holdfast_trial::Answer;

use crate::{coverage, kept};

#[test]
fn every_command_helps() {
    let mut text = String::new();
    for path in coverage::commands() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jit"));
        command.args(&path).arg("--help").env_clear();
        let answer = Answer::from(command.output().unwrap()).ok();
        assert_eq!(answer.stderr, "", "{path:?}");
        writeln!(text, "$ jit {}--help", path.iter().map(|word| format!("{word} ")).collect::<String>())
            .unwrap();
        for line in answer.stdout.lines() {
            writeln!(text, "{}", format!("  | {line}").trim_end()).unwrap();
        }
        text.push('\n');
    }
    kept::compare("help.txt", &text);
}
