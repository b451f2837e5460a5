//! What a day of many machines sends: what one step takes, with as many claims as there are agents, times the steps that a
//! day has.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holdfast_kernel::Command;
use holdfast_remote::Shared;
use holdfast_store::Medium as _;
use holdfast_trial::daemon::Daemon;

use super::{Site, policy, wish};
use crate::ground::Failure;
use crate::row::{Aim, Row};

/// Eight machines with two agents each, who work on so many issues a day.
const AGENTS: u64 = 16;
const ISSUES: u64 = 200;

/// An agent renews when a third of ten minutes is left, and takes, publishes and gives back each issue.
const STEPS: u64 = AGENTS * (86_400 / 400) + 3 * ISSUES;

/// How many steps are measured.
const MEASURED: u64 = 20;

/// What was sent and received, and how often somebody asked.
#[derive(Clone, Copy)]
struct Traffic {
    bytes: u64,
    requests: u64,
}

/// Makes steps with as many claims as there are agents; `traffic` says what there was until then.
fn row(
    place: &str,
    shared: &Shared,
    traffic: &mut dyn FnMut() -> Result<Traffic, Failure>,
) -> Result<Row, Failure> {
    let policy = policy();
    let mut leases = Vec::new();
    for agent in 0..AGENTS {
        let wish = wish(&format!("day-{agent}"), &format!("wt:{agent:08}"))?;
        leases.push((wish.id, wish.holder.clone()));
        shared.transact(&policy, &Command::Acquire(wish))?;
    }
    let before = traffic()?;
    for (lease, holder) in leases.iter().cycle().take(usize::try_from(MEASURED)?) {
        shared.transact(&policy, &Command::Renew { lease: *lease, holder: holder.clone(), ttl: None })?;
    }
    let after = traffic()?;
    let a_day = |before: u64, after: u64| after.saturating_sub(before) * STEPS / MEASURED;
    let (bytes, requests) = (a_day(before.bytes, after.bytes), a_day(before.requests, after.requests));
    Ok(Row {
        work: format!(
            "a day of 8 machines, {AGENTS} agents and {ISSUES} issues {place}: {STEPS} steps of {} bytes",
            bytes / STEPS
        ),
        peer: "–".into(),
        ours: format!("{:.1} MB in {requests} requests", bytes as f64 / 1e6),
        ratio: None,
        aim: Aim::None,
    })
}

/// What goes over the network to a git daemon and back.
pub(super) fn on_a_git_ref(site: &Site) -> Result<Row, Failure> {
    let base = site.origin.parent().ok_or("the origin is in no directory")?;
    let daemon = Daemon::start(base).ok_or("git has no daemon")?;
    let url = daemon.url("origin.git");
    let (address, path) = url.trim_start_matches("git://").split_once('/').ok_or("an odd URL")?;
    let meter = Meter::before(address)?;
    let shared = site.clone_at("day", "refs/worktree/jit/day", Some(meter.url(path)))?;
    row("on a git ref", &shared, &mut || Ok(meter.traffic()))
}

/// Something in front of a server that counts what passes.
struct Meter {
    port: u16,
    bytes: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
}

impl Meter {
    fn before(address: &str) -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let meter =
            Self { port: listener.local_addr()?.port(), bytes: Arc::default(), requests: Arc::default() };
        let (bytes, requests, address) =
            (Arc::clone(&meter.bytes), Arc::clone(&meter.requests), address.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                requests.fetch_add(1, Ordering::SeqCst);
                if let Ok(server) = TcpStream::connect(&address) {
                    for (from, to) in [(&client, &server), (&server, &client)] {
                        let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { break };
                        let bytes = Arc::clone(&bytes);
                        std::thread::spawn(move || count(from, to, &bytes));
                    }
                }
            }
        });
        Ok(meter)
    }

    fn url(&self, path: &str) -> String {
        format!("git://127.0.0.1:{}/{path}", self.port)
    }

    fn traffic(&self) -> Traffic {
        Traffic { bytes: self.bytes.load(Ordering::SeqCst), requests: self.requests.load(Ordering::SeqCst) }
    }
}

/// Passes on what comes until there is no more.
fn count(mut from: TcpStream, mut to: TcpStream, bytes: &AtomicU64) {
    let mut part = [0; 16_384];
    while let Ok(count @ 1..) = from.read(&mut part) {
        bytes.fetch_add(count as u64, Ordering::SeqCst);
        if to.write_all(part.get(..count).unwrap_or(&part)).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// What clients and members send each other, as the members count it.
pub(super) fn in_etcd(shared: &Shared, urls: &[String]) -> Result<Row, Failure> {
    row("in etcd (with what its three members send each other)", shared, &mut || {
        let mut all = Traffic { bytes: 0, requests: 0 };
        for url in urls {
            let one = counted(url.trim_start_matches("http://"))?;
            (all.bytes, all.requests) = (all.bytes + one.bytes, all.requests + one.requests);
        }
        Ok(all)
    })
}

/// What a member has sent and received, as its metrics say.
fn counted(address: &str) -> Result<Traffic, Failure> {
    const BYTES: [&str; 3] = [
        "etcd_network_client_grpc_received_bytes_total",
        "etcd_network_client_grpc_sent_bytes_total",
        "etcd_network_peer_sent_bytes_total",
    ];
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /metrics HTTP/1.0\r\nHost: x\r\n\r\n")?;
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    let is_request = |line: &str| {
        line.starts_with("grpc_server_handled_total") && line.contains("grpc_service=\"etcdserverpb.KV\"")
    };
    let sum = |is_wanted: &dyn Fn(&str) -> bool| {
        let value = |line: &str| line.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok());
        let values: Vec<f64> = said.lines().filter(|line| is_wanted(line)).filter_map(value).collect();
        let sum = values.iter().sum::<f64>();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        (!values.is_empty()).then_some(sum as u64)
    };
    let bytes = sum(&|line| BYTES.iter().any(|counter| line.starts_with(counter)));
    Ok(Traffic {
        bytes: bytes.ok_or("etcd does not say how much it sends")?,
        // A member that nobody asked anything has not counted.
        requests: sum(&is_request).unwrap_or(0),
    })
}
