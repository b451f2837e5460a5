//! What coding agents wait for: the first answer of `jit mcp`, `status` among ten thousand issues by a tool, and `jit prime`
//! where no issues are tracked. Each server is a whole run, from its start to its end, with its messages in a file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{command, shipped, succeed};
use crate::row::Row;
use crate::stats::Spread;
use crate::tracker::generate;

const ROUNDS: usize = 31;
const ISSUES: usize = 10_000;
const FIRST_AT_MOST: f64 = 3.0;
const STATUS_AT_MOST: f64 = 1.2;
const OUTSIDE_AT_MOST: f64 = 1.0;

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
const STATUS: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"status\",\"arguments\":{}}}\n";

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let program = shipped(ground, "jit")?;
    let (many, outside) = (ground.folder("many")?, ground.folder("outside")?);
    for at in [&many, &outside] {
        succeed(command("git", at).args(["init", "-q", "-b", "main"]))?;
    }
    generate(&many, ISSUES)?;
    succeed(jit(&program, &many).args(["-q", "init"]))?;
    let (ping, status) = (many.join("ping"), many.join("status"));
    std::fs::write(&ping, PING)?;
    std::fs::write(&status, STATUS)?;
    let parsing: Contender<'_> = Box::new(|| {
        let once = || succeed(command("git", &outside).args(["rev-parse", "--git-dir"]));
        timed(|| once().and_then(|()| once()))
    });
    let times = rounds(
        ROUNDS,
        &mut [
            typed(&program, &many, &["--version"]),
            served(&program, &many, ping),
            typed(&program, &many, &["status", "--json"]),
            served(&program, &many, status),
            parsing,
            typed(&program, &outside, &["prime"]),
        ],
    )?;
    let [version, first, command, tool, parsing, prime] = times.as_slice() else {
        return Err("nothing was measured".into());
    };
    let rows = [
        row("jit mcp, first answer and end", ("jit --version", version), first, FIRST_AT_MOST),
        row("tools/call status, 10 k issues", ("jit status --json", command), tool, STATUS_AT_MOST),
        row("jit prime, nothing tracked", ("two git rev-parse", parsing), prime, OUTSIDE_AT_MOST),
    ];
    rows.into_iter().collect::<Option<Vec<Row>>>().ok_or_else(|| "nothing was measured".into())
}

/// A server that reads its messages from a file.
fn served<'a>(program: &'a Path, at: &'a Path, messages: PathBuf) -> Contender<'a> {
    Box::new(move || {
        let input = File::open(&messages)?;
        timed(|| succeed(jit(program, at).arg("mcp").stdin(input)))
    })
}

fn typed<'a>(program: &'a Path, at: &'a Path, args: &'static [&'static str]) -> Contender<'a> {
    Box::new(move || timed(|| succeed(jit(program, at).args(args))))
}

fn jit(program: &Path, at: &Path) -> Command {
    let mut command = command(program, at);
    command.env("JIT_AGENT_ID", "agent:measured").env("JIT_CONFIG_HOME", at);
    command
}

fn row(work: &str, peer: (&str, &Vec<Duration>), ours: &[Duration], at_most: f64) -> Option<Row> {
    let (name, peer) = peer;
    let ratio = Spread::of_ratios(ours, peer)?;
    Some(Row::of_times(work, (name, Spread::of_times(peer)?), Spread::of_times(ours)?, ratio, at_most))
}
