//! What whoever looks through `jit-server` waits for, and what it costs while nobody does: the board of ten thousand issues against
//! the command, events to a hundred followers, memory, and the processor of a server that has nothing to do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{command, shipped, succeed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, time};
use crate::tracker::generate;

const ROUNDS: usize = 15;
const ISSUES: usize = 10_000;
const FOLLOWERS: usize = 100;
const CLAIMS: usize = 20;
const FIRST_AT_MOST: f64 = 1.2;
const UNCHANGED_AT_MOST: f64 = 0.1;
const LATENCY_AT_MOST: Duration = Duration::from_secs(1);
const MEMORY_AT_MOST_KB: u64 = 100 << 10;
/// Ticks of the processor, of which there are a hundred in a second.
const IDLE: Duration = Duration::from_secs(10);
const IDLE_AT_MOST: f64 = 0.002;

/// A server, which ends with this.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let (jit, program) = (shipped(ground, "jit")?, shipped(ground, "jit-server")?);
    let at = ground.folder("many")?;
    succeed(command("git", &at).args(["init", "-q", "-b", "main"]))?;
    generate(&at, ISSUES)?;
    let jit = |words: &[&str]| {
        let mut command = command(&jit, &at);
        command.env("JIT_AGENT_ID", "agent:measured").env("JIT_CONFIG_HOME", &at).args(words);
        succeed(&mut command)
    };
    jit(&["-q", "init"])?;
    let server = Server::start(&program, &at)?;
    let mut rows = boards(&server, &at, &jit)?;
    let issue = issue(&at)?;
    let news = server.follow()?;
    rows.push(latency(&at, &issue, &jit, &news)?);
    let memory = server.status("VmRSS:")?;
    rows.push(figure(
        "memory, 100 followers, 10 k issues",
        format!("{} MB", memory >> 10),
        ("≤ 100 MB", memory <= MEMORY_AT_MOST_KB),
    ));
    let before = server.ticks()?;
    std::thread::sleep(IDLE);
    let share = (server.ticks()? - before) as f64 / 100.0 / IDLE.as_secs_f64();
    rows.push(figure(
        "processor, 100 followers, nothing happens",
        format!("{:.2} %", share * 100.0),
        ("≤ 0.2 %", share <= IDLE_AT_MOST),
    ));
    Ok(rows)
}

/// The board after a change and without one, against the command.
fn boards(
    server: &Server,
    at: &Path,
    jit: &dyn Fn(&[&str]) -> Result<(), Failure>,
) -> Result<Vec<Row>, Failure> {
    let trace = at.join(".git/FETCH_HEAD");
    let mut number = 0_usize;
    let listed: Contender<'_> = Box::new(|| timed(|| jit(&["query", "all", "--json"])));
    let first: Contender<'_> = Box::new(|| {
        number += 1;
        std::fs::write(&trace, "x".repeat(number))?;
        timed(|| server.get("/api/board"))
    });
    let unchanged: Contender<'_> = Box::new(|| {
        server.get("/api/board")?;
        timed(|| server.get("/api/board"))
    });
    let times = rounds(ROUNDS, &mut [listed, first, unchanged])?;
    let [listed, first, unchanged] = times.as_slice() else { return Err("nothing was measured".into()) };
    let row = |work: &str, ours: &[Duration], at_most: f64| {
        let peer = ("jit query all --json", Spread::of_times(listed)?);
        Some(Row::of_times(work, peer, Spread::of_times(ours)?, Spread::of_ratios(ours, listed)?, at_most))
    };
    let rows = [
        row("GET /api/board, 10 k issues, after a change", first, FIRST_AT_MOST),
        row("GET /api/board, 10 k issues, unchanged", unchanged, UNCHANGED_AT_MOST),
    ];
    rows.into_iter().collect::<Option<Vec<Row>>>().ok_or_else(|| "nothing was measured".into())
}

/// From the moment that the log was written to the moment that a follower hears of it.
fn latency(
    at: &Path,
    issue: &str,
    jit: &dyn Fn(&[&str]) -> Result<(), Failure>,
    news: &Receiver<SystemTime>,
) -> Result<Row, Failure> {
    let mut took = Vec::new();
    for number in 0..CLAIMS {
        jit(&["-q", "claim", if number % 2 == 0 { "acquire" } else { "release" }, issue])?;
        let written = std::fs::metadata(at.join(".git/jit/claims.jsonl"))?.modified()?;
        for _ in 0..FOLLOWERS {
            let heard = news.recv_timeout(Duration::from_secs(10))?;
            took.push(heard.duration_since(written).unwrap_or_default());
        }
    }
    took.sort();
    let share = |part: usize| took.get((took.len() - 1) * part / 100).copied().unwrap_or_default();
    let (half, most) = (share(50), share(99));
    let words = format!("{} (99 of 100: {})", time(half.as_secs_f64()), time(most.as_secs_f64()));
    Ok(figure("a claim, from the log to 100 followers", words, ("99 of 100 ≤ 1 s", most <= LATENCY_AT_MOST)))
}

fn figure(work: &str, ours: String, (words, met): (&str, bool)) -> Row {
    Row { work: work.into(), peer: "–".into(), ours, ratio: None, aim: Aim::bound(words, met) }
}

/// The id of some issue.
fn issue(at: &Path) -> Result<String, Failure> {
    let first = std::fs::read_dir(at.join(".jit/issues"))?.next().ok_or("there are no issues")??;
    Ok(first.file_name().to_string_lossy().into_owned())
}

impl Server {
    fn start(program: &Path, at: &Path) -> Result<Self, Failure> {
        let mut command = command(program, at);
        command.args(["--json", "--agent-id", "person:measured"]).env("JIT_CONFIG_HOME", at);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("the server says nothing")?;
        BufReader::new(out).read_line(&mut line)?;
        let url = line.split('"').find(|part| part.starts_with("http://")).unwrap_or_default();
        let parts = url.trim_start_matches("http://").split_once("/#token=");
        let (address, token) = parts.map(|(a, t)| (a.to_owned(), t.to_owned())).unwrap_or_default();
        let server = Self { child, address, token };
        if server.token.is_empty() {
            Err(format!("the server did not start: {line}").into())
        } else {
            Ok(server)
        }
    }

    fn ask(&self, path: &str, end: &str) -> Result<BufReader<TcpStream>, Failure> {
        let mut stream = TcpStream::connect(&self.address)?;
        let Self { address, token, .. } = self;
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{end}\r\n");
        stream.write_all(head.as_bytes())?;
        Ok(BufReader::new(stream))
    }

    fn get(&self, path: &str) -> Result<(), Failure> {
        let mut whole = Vec::new();
        self.ask(path, "Connection: close\r\n")?.read_to_end(&mut whole)?;
        if whole.starts_with(b"HTTP/1.1 200") { Ok(()) } else { Err(format!("{path} was refused").into()) }
    }

    /// Many who follow what happens; when each of them hears of a claim.
    fn follow(&self) -> Result<Receiver<SystemTime>, Failure> {
        let (tell, heard) = channel();
        for _ in 0..FOLLOWERS {
            let mut lines = self.ask("/api/events", "")?;
            let mut line = String::new();
            while !line.starts_with(": here") {
                line.clear();
                if lines.read_line(&mut line)? == 0 {
                    return Err("a follower was sent away".into());
                }
            }
            let tell = tell.clone();
            std::thread::spawn(move || {
                for line in lines.lines().map_while(Result::ok) {
                    if line == "event: claim" && tell.send(SystemTime::now()).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(heard)
    }

    fn status(&self, name: &str) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with(name)).ok_or("the system does not say")?;
        Ok(line.split_whitespace().nth(1).ok_or("the system does not say")?.parse()?)
    }

    fn ticks(&self) -> Result<u64, Failure> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |number: usize| fields.get(number).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        Ok(field(11) + field(12))
    }
}
