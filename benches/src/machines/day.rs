//! What a day of many machines sends: the bytes of one step, with as many claims as there are agents, times the steps that
//! a day has.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use holdfast_kernel::Command;
use holdfast_remote::Shared;
use holdfast_store::Medium as _;

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

/// Makes steps with as many claims as there are agents; `bytes` says how many there were until then.
fn row(
    place: &str,
    shared: &Shared,
    bytes: &mut dyn FnMut() -> Result<u64, Failure>,
) -> Result<Row, Failure> {
    let policy = policy();
    let mut leases = Vec::new();
    for agent in 0..AGENTS {
        let wish = wish(&format!("day-{agent}"), &format!("wt:{agent:08}"))?;
        leases.push((wish.id, wish.holder.clone()));
        shared.transact(&policy, &Command::Acquire(wish))?;
    }
    let before = bytes()?;
    for (lease, holder) in leases.iter().cycle().take(usize::try_from(MEASURED)?) {
        shared.transact(&policy, &Command::Renew { lease: *lease, holder: holder.clone(), ttl: None })?;
    }
    let step = bytes()?.saturating_sub(before) / MEASURED;
    let day = step * STEPS;
    Ok(Row {
        work: format!(
            "a day of 8 machines, {AGENTS} agents and {ISSUES} issues {place}: {STEPS} steps of {step} bytes"
        ),
        peer: "–".into(),
        ours: format!("{:.1} MB", day as f64 / 1e6),
        ratio: None,
        aim: Aim::None,
    })
}

/// What the objects at the server weigh, before it packs them.
pub(super) fn on_a_git_ref(site: &Site) -> Result<Row, Failure> {
    let shared = site.clone_of("day", "refs/jit/day")?;
    row("on a git ref (kept at the server)", &shared, &mut || weight(&site.origin.join("objects")))
}

fn weight(directory: &std::path::Path) -> Result<u64, Failure> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let (path, about) = {
            let entry = entry?;
            (entry.path(), entry.metadata()?)
        };
        bytes += if about.is_dir() { weight(&path)? } else { about.len() };
    }
    Ok(bytes)
}

/// What clients and members send each other, as the members count it.
pub(super) fn in_etcd(shared: &Shared, urls: &[String]) -> Result<Row, Failure> {
    row("in etcd (sent by clients and members)", shared, &mut || {
        urls.iter().map(|url| counted(url.trim_start_matches("http://"))).sum()
    })
}

/// The bytes that a member has sent and received, as its metrics say.
fn counted(address: &str) -> Result<u64, Failure> {
    const COUNTERS: [&str; 3] = [
        "etcd_network_client_grpc_received_bytes_total",
        "etcd_network_client_grpc_sent_bytes_total",
        "etcd_network_peer_sent_bytes_total",
    ];
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /metrics HTTP/1.0\r\nHost: x\r\n\r\n")?;
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    let is_wanted = |line: &&str| COUNTERS.iter().any(|counter| line.starts_with(counter));
    let value = |line: &str| line.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok());
    let values: Vec<f64> = said.lines().filter(is_wanted).filter_map(value).collect();
    if values.is_empty() {
        return Err("etcd does not say how much it sends".into());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of bytes")]
    Ok(values.iter().sum::<f64>() as u64)
}
