//! Patterns of paths: how long the longest two are compared, and what a grant costs among ten thousand others, in the
//! rules alone and through a log.

use std::hint::black_box;
use std::time::Duration;

use holdfast_kernel::{
    Acquire, Command, Fence, Holder, LeaseId, Millis, Mode, Name, Pattern, Request, Resource, Stamp, Table,
    Tags, apply, decide,
};
use holdfast_store::Medium;
use holdfast_store::log::Log;

use crate::fixture::{handle, policy};
use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, time};

const ROUNDS: usize = 41;
const CROWD: u32 = 10_000;
/// How many grants are measured at once: one alone is too short for the clock.
const GRANTS: u64 = 200;
const PAIRS: u64 = 10;
const AT_MOST: f64 = 2.0;
/// How long two patterns may be compared, in seconds.
const OVERLAP_AT_MOST: f64 = 0.001;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let mut rows = vec![longest()?];
    rows.push(rules()?);
    rows.push(log(ground)?);
    Ok(rows)
}

/// The slowest of all pairs of the longest patterns that leave most open.
fn longest() -> Result<Row, Failure> {
    let shapes = [("?/", "?"), ("**/?/", "*"), ("**/*?/", "b"), ("*a", "b"), ("*?", "*"), ("é*", "é")];
    let long = |(piece, last): &(&str, &str)| {
        Pattern::new(&format!("{}{last}", piece.repeat((512 - last.len()) / piece.len())))
    };
    let patterns: Vec<Pattern> = shapes.iter().map(long).collect::<Result<_, _>>()?;
    let mut slowest: Option<Spread> = None;
    for one in &patterns {
        for other in &patterns {
            let mut ask: [Contender<'_>; 1] = [Box::new(|| {
                timed(|| {
                    black_box(one.overlaps(black_box(other)));
                    Ok(())
                })
            })];
            let spread = rounds(ROUNDS, &mut ask)?.first().and_then(|times| Spread::of_times(times));
            slowest = [slowest, spread].into_iter().flatten().max_by(|a, b| a.middle.total_cmp(&b.middle));
        }
    }
    let slowest = slowest.ok_or("nothing was measured")?;
    Ok(Row {
        work: "whether two patterns of 512 bytes overlap, the slowest pair".into(),
        peer: "–".into(),
        ours: time(slowest.middle),
        ratio: None,
        aim: Aim::bound("< 1 ms", slowest.middle < OVERLAP_AT_MOST),
    })
}

fn acquire(id: u128, pattern: &str, who: u32) -> Result<Command, Failure> {
    let holder =
        Holder { agent: Name::new(&format!("agent:worker-{who}"))?, place: Name::new("worktree:main")? };
    Ok(Command::Acquire(Acquire {
        id: LeaseId::new(id),
        resource: Resource::from(Pattern::new(pattern)?),
        holder,
        mode: Mode::Exclusive,
        request: Request::Finite(Millis::from_secs(3_000)),
        reason: None,
        tags: Tags::none(),
        dead: Vec::new(),
    }))
}

/// What the others hold: folders of a large tree, each with a part of it that stays open.
fn crowd() -> Result<Vec<Command>, Failure> {
    let one = |n: u32| acquire(u128::from(n) + 1, &format!("crates/part-{}/src/unit-{n}/**", n % 100), n);
    (0..CROWD).map(one).collect()
}

/// What is asked for among them, and given back.
fn wanted(n: u64) -> Result<(Command, Command), Failure> {
    let id = 1_000_000 + u128::from(n);
    let acquire = acquire(id, &format!("crates/part-{}/src/mine/*.rs", n % 100), CROWD)?;
    let Command::Acquire(wanted) = &acquire else { return Err("it is an acquisition".into()) };
    let release = Command::Release { lease: LeaseId::new(id), holder: wanted.holder.clone() };
    Ok((acquire, release))
}

/// A table, and its clock and counter.
struct Rules {
    table: Table,
    next: Fence,
    now: Stamp,
}

impl Rules {
    fn ask(&mut self, command: &Command) -> Result<(), Failure> {
        let decision = decide(&self.table, &policy(), command, &self.now, self.next)?;
        for event in &decision.events {
            apply(&mut self.table, event)?;
            self.next = self.next.plus(1).ok_or("the counter is used up")?;
        }
        Ok(())
    }

    fn pairs(&mut self) -> Result<Duration, Failure> {
        let commands: Vec<_> = (0..GRANTS).map(wanted).collect::<Result<_, _>>()?;
        timed(|| {
            commands
                .iter()
                .try_for_each(|(acquire, release)| self.ask(acquire).and_then(|()| self.ask(release)))
        })
    }
}

fn rules() -> Result<Row, Failure> {
    let empty = || {
        Ok::<_, Failure>(Rules {
            table: Table::new(),
            next: Fence::FIRST,
            now: Stamp::new(1_800_000_000_000, None)?,
        })
    };
    let (mut alone, mut among) = (empty()?, empty()?);
    crowd()?.iter().try_for_each(|command| among.ask(command))?;
    let times = rounds(ROUNDS, &mut [Box::new(|| alone.pairs()), Box::new(|| among.pairs())])?;
    compare("acquire + release of a pattern among 10,000, the rules alone", &times, GRANTS)
}

fn log(ground: &Ground) -> Result<Row, Failure> {
    let (alone, among) = (handle(&ground.folder("alone")?), handle(&ground.folder("among")?));
    for answer in among.transact_all(&policy(), &crowd()?) {
        answer?;
    }
    let pairs = |log: &Log| {
        let commands: Vec<_> = (0..PAIRS).map(wanted).collect::<Result<_, Failure>>()?;
        timed(|| {
            for (acquire, release) in &commands {
                log.transact(&policy(), acquire)?;
                log.transact(&policy(), release)?;
            }
            Ok(())
        })
    };
    let times = rounds(ROUNDS, &mut [Box::new(|| pairs(&alone)), Box::new(|| pairs(&among))])?;
    compare("the same through a log that is open", &times, PAIRS)
}

fn compare(work: &str, times: &[Vec<Duration>], pairs: u64) -> Result<Row, Failure> {
    let [alone, among] = times else { return Err("nothing was measured".into()) };
    let per_pair = |times: &[Duration]| {
        Spread::of_times(times).map(|spread| spread.divided(usize::try_from(pairs).unwrap_or(usize::MAX)))
    };
    let (Some(peer), Some(ours), Some(ratio)) =
        (per_pair(alone), per_pair(among), Spread::of_ratios(among, alone))
    else {
        return Err("nothing was measured".into());
    };
    Ok(Row::of_times(work, ("in an empty table", peer), ours, ratio, AT_MOST))
}
