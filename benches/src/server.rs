//! What whoever looks through `jit-server` waits for, and what it costs while nobody does: the board of ten thousand issues against
//! the command, events and boards to a hundred followers, memory, the processor of a server that has nothing to do, and the page.

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
const WEIGHT_AT_MOST: u64 = 60 << 10;
const DASHBOARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../packages/dashboard");

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
    let (events, boards) = latency(&at, &issue, &jit, &news)?;
    rows.extend([
        told("a claim, from the log to 100 followers", events),
        told("the same, to their boards", boards),
    ]);
    let memory = server.status("VmHWM:")?;
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
    rows.push(weight()?);
    rows.extend(paint(&server, &at));
    Ok(rows)
}

/// What a browser loads once, compressed.
fn weight() -> Result<Row, Failure> {
    let page = Path::new(DASHBOARD).join("page");
    let weighed = command("sh", &page)
        .args(["-c", "find . -type f -exec sh -c 'gzip -9c \"$1\" | wc -c' sh {} \\;"])
        .stdout(Stdio::piped())
        .output()?;
    let sizes = String::from_utf8(weighed.stdout)?;
    let weight = sizes.lines().map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    let words = format!("{:.1} KB", weight as f64 / 1024.0);
    Ok(figure("the page, compressed", words, ("≤ 60 KB", (1..=WEIGHT_AT_MOST).contains(&weight))))
}

/// How long a browser takes to show something, and to show the issues.
fn paint(server: &Server, at: &Path) -> [Row; 2] {
    let url = format!("http://{}/#token={}", server.address, server.token);
    let mut node = command("node", Path::new(DASHBOARD));
    node.args(["tests/paint.mjs", &url]).env("HOME", at).stdout(Stdio::piped());
    let said = node.output().ok().filter(|said| said.status.success());
    let said = said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()).unwrap_or_default();
    let mut spans = said.split_whitespace().map(|ms| format!("{ms} ms"));
    let works = ["something of the page is seen, 10 k issues", "its issues are seen, 10 k issues"];
    works.map(|work| {
        let none = || "not measured: needs Chromium, and npm ci in packages/dashboard".to_owned();
        let ours = spans.next().unwrap_or_else(none);
        Row { work: work.into(), peer: "–".into(), ours, ratio: None, aim: Aim::None }
    })
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

/// What a follower hears: that something happened, or how the board has changed by it.
enum Heard {
    Claim(SystemTime),
    Board(SystemTime),
}

/// From the moment that the log was written to the moments that followers hear of it, and have it on their boards.
fn latency(
    at: &Path,
    issue: &str,
    jit: &dyn Fn(&[&str]) -> Result<(), Failure>,
    news: &Receiver<Heard>,
) -> Result<(Vec<Duration>, Vec<Duration>), Failure> {
    let (mut claims, mut boards) = (Vec::new(), Vec::new());
    for number in 0..CLAIMS {
        jit(&["-q", "claim", if number % 2 == 0 { "acquire" } else { "release" }, issue])?;
        let written = std::fs::metadata(at.join(".git/jit/claims.jsonl"))?.modified()?;
        for _ in 0..2 * FOLLOWERS {
            match news.recv_timeout(Duration::from_secs(10))? {
                Heard::Claim(heard) => claims.push(heard.duration_since(written)?),
                Heard::Board(heard) => boards.push(heard.duration_since(written)?),
            }
        }
    }
    Ok((claims, boards))
}

fn told(work: &str, mut took: Vec<Duration>) -> Row {
    took.sort();
    let share = |part: usize| took.get((took.len() - 1) * part / 100).copied().unwrap_or(Duration::MAX);
    let (half, most) = (share(50), share(99));
    let words = format!("{} (99 of 100: {})", time(half.as_secs_f64()), time(most.as_secs_f64()));
    figure(work, words, ("99 of 100 ≤ 1 s", most <= LATENCY_AT_MOST))
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

    /// Many who follow what happens, as a page does; when each of them hears of a claim, and has it on its board.
    fn follow(&self) -> Result<Receiver<Heard>, Failure> {
        let (tell, heard) = channel();
        for _ in 0..FOLLOWERS {
            let mut lines = self.ask("/api/events?board=1", "")?;
            let mut line = String::new();
            while !line.starts_with(": here") {
                line.clear();
                if lines.read_line(&mut line)? == 0 {
                    return Err("a follower was sent away".into());
                }
            }
            let tell = tell.clone();
            std::thread::spawn(move || {
                let mut expects = false;
                for line in lines.lines().map_while(Result::ok) {
                    let now = SystemTime::now();
                    let news = match line.as_str() {
                        "event: claim" => {
                            expects = true;
                            Heard::Claim(now)
                        }
                        "event: board" if expects => {
                            expects = false;
                            Heard::Board(now)
                        }
                        _ => continue,
                    };
                    if tell.send(news).is_err() {
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
