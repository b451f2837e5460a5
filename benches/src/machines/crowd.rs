//! Machines that take one issue after the other from the same list until none is left: nothing is taken twice.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use holdfast_kernel::{Answer, Command, Refusal};
use holdfast_remote::Shared;
use holdfast_store::JournaledMedium as _;

use super::{policy, wish};
use crate::ground::Failure;
use crate::row::{Aim, Row};
use crate::stats::rate;

/// How many machines there are, and how many issues.
const MACHINES: usize = 8;
const ISSUES: usize = 200;

/// What a machine got, and the longest that it waited for one.
type Got = (Vec<String>, Duration);

pub(super) fn run(
    place: &str,
    open: &(dyn Fn(&str) -> Result<Shared, Failure> + Sync),
) -> Result<Row, Failure> {
    let machines: Result<Vec<Shared>, Failure> =
        (0..MACHINES).map(|machine| open(&format!("crowd-{machine}"))).collect();
    let (machines, began) = (machines?, Instant::now());
    let got: Result<Vec<Got>, Failure> = std::thread::scope(|scope| {
        let work = |(number, shared)| scope.spawn(move || work(shared, number));
        let workers: Vec<_> = machines.iter().enumerate().map(work).collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        ended.map(|ended| ended.map_err(|_| Failure::from("a machine failed"))?).collect()
    });
    let (got, passed) = (got?, began.elapsed());
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    got.iter().flat_map(|(issues, _)| issues).for_each(|issue| *times.entry(issue).or_default() += 1);
    let once = times.len() == ISSUES && times.values().all(|times| *times == 1);
    let slowest = got.iter().map(|(_, longest)| *longest).max().unwrap_or_default();
    let counts: Vec<String> = got.iter().map(|(issues, _)| issues.len().to_string()).collect();
    Ok(Row {
        work: format!(
            "{ISSUES} issues taken {place} by {MACHINES} machines ({}), longest wait {slowest:.1?}",
            counts.join("+")
        ),
        peer: "–".into(),
        ours: rate(ISSUES as f64 / passed.as_secs_f64()),
        ratio: None,
        aim: Aim::bound("each exactly once", once),
    })
}

fn work(shared: &Shared, number: usize) -> Result<Got, Failure> {
    let (mut got, mut longest, policy) = (Vec::new(), Duration::ZERO, policy());
    loop {
        let wishes: Result<Vec<Command>, Failure> = (0..ISSUES)
            .map(|issue| Ok(Command::Acquire(wish(&format!("issue-{issue}"), &format!("wt:{number:08}"))?)))
            .collect();
        let began = Instant::now();
        let held = |refusal: &Refusal| matches!(refusal, Refusal::Held { .. } | Refusal::AlreadyHeld { .. });
        let first = shared.transact_first(&rejecting(&policy), &wishes?, &held)?;
        longest = longest.max(began.elapsed());
        match first {
            Some((_, Answer::Granted(lease))) => got.push(lease.resource.to_string()),
            Some((_, other)) => return Err(format!("a grant was due, not {other:?}").into()),
            None => return Ok((got, longest)),
        }
    }
}

/// The policy by which nobody is given again what it has.
fn rejecting(policy: &holdfast_kernel::Policy) -> holdfast_kernel::Policy {
    holdfast_kernel::Policy { again: holdfast_kernel::Again::Refuse, ..policy.clone() }
}
