//! Claims in etcd: one against a bare transaction of the same cluster, the first one after its leader was killed; and how
//! many are granted a second as machines grow.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use holdfast_kernel::{Fence, Millis};
use holdfast_remote::etcd::{Access, Etcd};
use holdfast_remote::local::Local;
use holdfast_remote::shared::Trust;
use holdfast_remote::{Settings, Shared};
use holdfast_sys::Sys;
use holdfast_trial::etcd::Cluster;

use super::{COUNTER, crowd, day, issue_of, taken};
use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::landing::dressed;
use crate::process::{command, shipped, succeed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, time};

const ROUNDS: usize = 61;
const CALL_AT_MOST: f64 = 1.5;

/// What the members of the trial's cluster wait for before they elect another leader.
const ELECTION: Duration = Duration::from_millis(500);

/// How many machines there are at most, and how many things they take together.
const MACHINES: usize = 8;
const THINGS: usize = 200;

pub(super) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let folder = ground.folder("etcd")?;
    let Some(mut cluster) = Cluster::start(&folder, 3) else {
        eprintln!("etcd is not installed: claims in etcd are not measured");
        return Ok(Vec::new());
    };
    let mut rows = claim(ground, &folder, &cluster)?;
    rows.extend(machines(&folder, &cluster)?);
    let urls = cluster.urls();
    let crowd = |machine: &str| made(&folder, machine, &urls, "crowd");
    rows.push(crowd::run("in etcd", &crowd)?);
    rows.push(day::in_etcd(&made(&folder, "day", &urls, "day")?, &urls)?);
    rows.push(after_leader(&folder, &mut cluster)?);
    Ok(rows)
}

/// A machine, and the claims if they are not there.
fn made(folder: &Path, who: &str, urls: &[String], namespace: &str) -> Result<Shared, Failure> {
    let shared = open_in(folder, who, urls, namespace)?;
    shared.make(COUNTER, Fence::FIRST)?;
    Ok(shared)
}

fn open(folder: &Path, who: &str, urls: &[String]) -> Result<Shared, Failure> {
    open_in(folder, who, urls, "bench")
}

fn open_in(folder: &Path, who: &str, urls: &[String], namespace: &str) -> Result<Shared, Failure> {
    let (sys, dir) = (Sys::os(), folder.join(who));
    std::fs::create_dir_all(&dir)?;
    let access = Access {
        endpoints: urls.to_vec(),
        namespace: namespace.into(),
        user: None,
        tls: None,
        limit: Millis::from_secs(2),
    };
    let settings = Settings { tries: 30, trust: Trust::Clocks, ..Settings::default() };
    let register = Box::new(Etcd::open(&sys, &access)?);
    Ok(Shared::new(sys, register, Local::new(dir, 0o600), settings))
}

fn claim(ground: &Ground, folder: &Path, cluster: &Cluster) -> Result<Vec<Row>, Failure> {
    let leader = cluster.leader();
    let urls = cluster.urls();
    let url = urls.get(leader).cloned().ok_or("no member leads")?;
    let shared = open(folder, "one", std::slice::from_ref(&url))?;
    shared.make(COUNTER, Fence::FIRST)?;
    let mut bare = Bare::connect(url.trim_start_matches("http://"))?;
    let local = Commands::new(ground, &folder.join("local"), None)?;
    let remote = Commands::new(ground, &folder.join("remote"), Some(&url))?;
    let mut contenders: [Contender<'_>; 4] = [
        Box::new(|| timed(|| bare.txn())),
        Box::new(|| taken(&shared, "one").map(|(took, _)| took)),
        Box::new(|| local.claim()),
        Box::new(|| remote.claim()),
    ];
    let times = rounds(ROUNDS, &mut contenders)?;
    let [bare, ours, local, whole] = times.as_slice() else { return Err("nothing was measured".into()) };
    let least: Vec<Duration> = local.iter().zip(bare).map(|(local, bare)| *local + *bare).collect();
    let row = |work: &str, name: &str, peer: &[Duration], ours: &[Duration]| {
        let (spread, ratio) = (Spread::of_times(peer)?, Spread::of_ratios(ours, peer)?);
        Some(Row::of_times(work, (name, spread), Spread::of_times(ours)?, ratio, CALL_AT_MOST))
    };
    let rows = [
        row("claim in etcd", "a bare transaction with two puts", bare, ours),
        row("jit claim acquire in etcd", "the same kept locally, and a bare transaction", &least, whole),
    ];
    rows.into_iter().collect::<Option<Vec<Row>>>().ok_or_else(|| "nothing was measured".into())
}

/// A repository whose claims are typed.
struct Commands {
    program: PathBuf,
    at: PathBuf,
    issue: String,
}

impl Commands {
    /// One whose claims are in etcd, or its own.
    fn new(ground: &Ground, at: &Path, url: Option<&str>) -> Result<Self, Failure> {
        std::fs::create_dir_all(at)?;
        let mut commands =
            Self { program: shipped(ground, "jit")?, at: at.to_path_buf(), issue: String::new() };
        succeed(dressed(&mut command("git", at)).args(["init", "-q", "-b", "main"]))?;
        succeed(dressed(&mut command("git", at)).args(["commit", "-q", "--allow-empty", "-m", "first"]))?;
        commands.jit(&["init"])?;
        if let Some(url) = url {
            commands.jit(&["engine", "init", "etcd", "--endpoints", url, "--namespace", "commands"])?;
        }
        commands.issue = issue_of(&commands.program, at)?;
        Ok(commands)
    }

    fn jit(&self, args: &[&str]) -> Result<(), Failure> {
        succeed(dressed(&mut command(&self.program, &self.at)).args(args))
    }

    fn claim(&self) -> Result<Duration, Failure> {
        let took = timed(|| self.jit(&["claim", "acquire", &self.issue]))?;
        self.jit(&["claim", "release", &self.issue])?;
        Ok(took)
    }
}

/// Several machines take things until none is left: how many a second, and how long the slowest waited for one.
fn machines(folder: &Path, cluster: &Cluster) -> Result<Vec<Row>, Failure> {
    let urls = cluster.urls();
    let mut rows = Vec::new();
    for count in [1, 2, 4, MACHINES] {
        let next = AtomicUsize::new(0);
        let began = Instant::now();
        let work = |machine: usize| {
            let shared = open(folder, &format!("machine-{count}-{machine}"), &urls)?;
            let mut longest = Duration::ZERO;
            while next.fetch_add(1, Ordering::SeqCst) < THINGS {
                longest = longest.max(taken(&shared, &format!("thing-{count}-{machine}"))?.0);
            }
            Ok::<_, Failure>(longest)
        };
        let slowest = std::thread::scope(|scope| {
            let work = &work;
            let machines: Vec<_> = (0..count).map(|machine| scope.spawn(move || work(machine))).collect();
            let mut slowest = Duration::ZERO;
            for machine in machines {
                let longest = machine.join().map_err(|_| Failure::from("a machine failed"))??;
                slowest = slowest.max(longest);
            }
            Ok::<_, Failure>(slowest)
        })?;
        let rate = THINGS as f64 / began.elapsed().as_secs_f64();
        let work =
            format!("{THINGS} claims and releases in etcd by {count} machines, longest wait {slowest:?}");
        rows.push(Row::of_rate(&work, rate));
    }
    Ok(rows)
}

/// How long nobody is granted anything after the leader was killed.
fn after_leader(folder: &Path, cluster: &mut Cluster) -> Result<Row, Failure> {
    let urls = cluster.urls();
    let mut times = Vec::new();
    for round in 0..5 {
        let leader = cluster.leader();
        // Whoever asks has to find another member by itself.
        let mut own = urls.clone();
        own.rotate_left(leader);
        let shared = open(folder, &format!("watcher-{round}"), &own)?;
        shared.refresh()?;
        cluster.kill(leader);
        let began = Instant::now();
        while taken(&shared, &format!("first-{round}")).is_err() {}
        times.push(began.elapsed());
        cluster.restart(leader);
        let _ = cluster.leader();
    }
    let spread = Spread::of_times(&times).ok_or("nothing was measured")?;
    let most = 2 * ELECTION;
    Ok(Row {
        work: "first grant in etcd after its leader was killed".into(),
        peer: format!("two election timeouts {}", time(most.as_secs_f64())),
        ours: time(spread.middle),
        ratio: None,
        aim: Aim::bound("≤ 2 election timeouts", spread.middle <= most.as_secs_f64()),
    })
}

/// A connection that is kept, and the least that a swap needs.
struct Bare {
    stream: TcpStream,
}

impl Bare {
    fn connect(address: &str) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream })
    }

    fn txn(&mut self) -> Result<(), Failure> {
        let value = "eHh4".repeat(300);
        let body = format!(
            r#"{{"success":[{{"request_put":{{"key":"YmFyZQ==","value":"{value}"}}}},{{"request_put":{{"key":"YmFyZTI=","value":"{value}"}}}}]}}"#
        );
        let value_is_whole = body.len();
        write!(
            self.stream,
            "POST /v3/kv/txn HTTP/1.1\r\nHost: x\r\nContent-Length: {value_is_whole}\r\n\r\n{body}"
        )?;
        let mut said = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let count = self.stream.read(&mut buffer)?;
            said.extend_from_slice(buffer.get(..count).unwrap_or_default());
            let text = String::from_utf8_lossy(&said);
            let Some((head, rest)) = text.split_once("\r\n\r\n") else {
                if count == 0 {
                    return Err("the connection was closed".into());
                }
                continue;
            };
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let length: usize = length.ok_or("an answer without a length")?.trim().parse()?;
            if rest.len() >= length {
                let done = rest.contains("\"succeeded\":true");
                return if done { Ok(()) } else { Err(rest.to_string().into()) };
            }
            if count == 0 {
                return Err("the connection was closed".into());
            }
        }
    }
}
