//! *Now*, as lines: a lane for each agent and worktree with what it holds and what it waits for, and what needs a person.

use holdfast_door::Colour;
use holdfast_kernel::{Millis, Stamp};
use holdfast_tracker::answers::board::{Attention, Held, Lane, Needs};
use holdfast_tracker::issues::State;
use holdfast_tracker::times;

use crate::row::{Row, clean, cut};
use crate::stand::Stand;

/// How lines are made: how many columns they have, when it is, and what a bar is drawn with.
#[derive(Clone, Copy)]
pub(crate) struct Form<'a> {
    pub(crate) columns: usize,
    pub(crate) now: &'a Stamp,
    pub(crate) bar: [char; 2],
}

/// The bar of a screen, and of plain text.
pub(crate) const BLOCKS: [char; 2] = ['█', '░'];
pub(crate) const SIGNS: [char; 2] = ['#', '-'];

/// Below so many columns the last sign of life is left out, and below so many the title is.
const WIDE: usize = 60;
const NARROW: usize = 34;

/// All lines.
pub(crate) fn rows(stand: &Stand, form: &Form<'_>) -> Vec<Row> {
    let mut rows = vec![counts(stand)];
    rows.push(Row::default());
    rows.push(heading("At work", stand.lanes.len()));
    if stand.lanes.is_empty() {
        rows.push(Row::default().then(Colour::Dim, "  Nobody holds or waits for anything."));
    }
    for lane in &stand.lanes {
        rows.extend(self::lane(lane, stand.at_ms, form));
    }
    rows.push(Row::default());
    rows.push(heading("Needs a person", stand.attention.len()));
    if stand.attention.is_empty() {
        rows.push(Row::default().then(Colour::Dim, "  Nothing needs a person."));
    }
    rows.extend(stand.attention.iter().map(|one| need(one, form)));
    rows.into_iter().map(|row| row.cut(form.columns)).collect()
}

fn heading(text: &str, count: usize) -> Row {
    Row::default().then(Colour::Bold, text).then(Colour::Dim, &format!(" {count}"))
}

/// How many issues are in each state.
fn counts(stand: &Stand) -> Row {
    let mut row = Row::default();
    for state in [State::Ready, State::InProgress, State::Gated, State::Done] {
        let number = stand.cards(state).len();
        let gap = if row.pieces.is_empty() { "" } else { "  " };
        row = row
            .then(Colour::Bold, &format!("{gap}{number}"))
            .then(colour(state), &format!(" {}", word(state)));
    }
    if stand.unreadable > 0 {
        row = row.then(Colour::Red, &format!("  {} cannot be read", stand.unreadable));
    }
    row
}

/// The word for a state.
pub(crate) const fn word(state: State) -> &'static str {
    match state {
        State::InProgress => "in progress",
        other => other.word(),
    }
}

/// The colour of a state.
pub(crate) const fn colour(state: State) -> Colour {
    match state {
        State::Backlog => Colour::Plain,
        State::Ready => Colour::Green,
        State::InProgress => Colour::Yellow,
        State::Gated => Colour::Magenta,
        State::Done | State::Rejected | State::Archived => Colour::Dim,
    }
}

/// Working, waiting, or stuck.
fn mood(lane: &Lane, at_ms: u64, form: &Form<'_>) -> (Colour, &'static str) {
    let is_dead =
        |held: &Held| held.lease.worktree_gone || held.lease.keeper.as_ref().is_some_and(|one| one.gone);
    let is_over = |held: &Held| held.lease.stale || left_secs(held, at_ms, form) == Some(0);
    if lane.gone || lane.leases.iter().any(is_dead) {
        (Colour::Red, "gone")
    } else if lane.leases.iter().any(is_over) {
        (Colour::Red, "stuck")
    } else if !lane.waits_for.is_empty() {
        (Colour::Yellow, "waiting")
    } else {
        (Colour::Green, "working")
    }
}

fn lane(lane: &Lane, at_ms: u64, form: &Form<'_>) -> Vec<Row> {
    let (colour, word) = mood(lane, at_ms, form);
    let place = lane.path.as_deref().map(|path| clean(path.rsplit('/').next().unwrap_or(path)));
    let place = place.or_else(|| lane.worktree_id.as_deref().map(clean)).unwrap_or_default();
    let branch = lane.branch.as_deref().map(|branch| format!(" on {}", clean(branch))).unwrap_or_default();
    let head = Row::default()
        .then(Colour::Cyan, &clean(&lane.agent_id))
        .then(colour, &format!(" {word}"))
        .then(Colour::Dim, &format!("  {place}{branch}"));
    let mut rows = vec![head];
    rows.extend(lane.leases.iter().map(|held| self::held(held, at_ms, form)));
    rows.extend(lane.reservations.iter().map(|held| self::held(held, at_ms, form)));
    for awaited in &lane.waits_for {
        let title = awaited.title.as_deref().map(clean).unwrap_or_default();
        let row = Row::of(Some(&awaited.resource))
            .then(Colour::Yellow, "  waits for ")
            .then(Colour::Bold, &clean(&awaited.handle));
        rows.push(row.then(Colour::Plain, &format!(" {title}")));
    }
    rows
}

/// How many seconds of a lease are left; none if it has no deadline.
fn left_secs(held: &Held, at_ms: u64, form: &Form<'_>) -> Option<u64> {
    held.lease.expires_at.as_ref()?;
    let since = form.now.wall_ms().saturating_sub(at_ms) / 1_000;
    Some(held.lease.remaining_secs.unwrap_or(0).saturating_sub(since))
}

/// A lease: what it is on, a bar to the deadline, and the last sign of life.
fn held(held: &Held, at_ms: u64, form: &Form<'_>) -> Row {
    let lease = &held.lease;
    let left = left_secs(held, at_ms, form);
    let words = match left {
        _ if lease.stale => "stale".to_owned(),
        None => "no deadline".to_owned(),
        Some(0) => "run out".to_owned(),
        Some(secs) => times::span(Millis::from_secs(secs)),
    };
    // Where there is little room the larger unit has to do.
    let is_narrow = form.columns < NARROW;
    let words =
        if is_narrow && left > Some(0) { words.split(' ').next().unwrap_or_default() } else { &words };
    let total = lease.ttl_secs.max(1);
    let colour = match left {
        _ if lease.stale => Colour::Red,
        Some(0) => Colour::Red,
        Some(secs) if secs * 5 < total => Colour::Yellow,
        _ => Colour::Green,
    };
    let size = if form.columns >= WIDE { 12 } else { 4 };
    let bar = match left {
        None => " ".repeat(size),
        Some(secs) => bar(secs, total, size, form.bar),
    };
    let mut tail = Row::default()
        .then(colour, &format!(" {bar} "))
        .then(colour, &if is_narrow { format!("{words:<3}") } else { format!("{words:<8}") });
    if form.columns >= WIDE {
        tail = tail.then(Colour::Dim, &format!(" {:>9}", times::ago(&held.last_sign, form.now)));
    }
    let room = form.columns.saturating_sub(tail.width());
    let mut row = Row::of(lease.issue_id.as_deref()).then(Colour::Plain, "  ");
    match &lease.pattern {
        Some(pattern) => {
            let how = if lease.shared { "shares " } else { "reserves " };
            let how = if is_narrow { "" } else { how };
            row = row.then(Colour::Dim, how).then(Colour::Magenta, &clean(pattern));
        }
        None => {
            row = row.then(Colour::Bold, &clean(lease.handle.as_deref().unwrap_or_default()));
            let title = lease.title.as_deref().map_or_else(|| "cannot be read".to_owned(), clean);
            if !is_narrow {
                row = row.then(Colour::Plain, &format!(" {title}"));
            }
        }
    }
    let mut row = row.filled(room);
    row.pieces.extend(tail.pieces);
    row
}

fn bar(left: u64, total: u64, size: usize, signs: [char; 2]) -> String {
    let size = u64::try_from(size).unwrap_or(0);
    // Something is left for as long as something is left.
    let full = if left == 0 { 0 } else { (left.min(total) * size / total).max(1) };
    let [on, off] = signs;
    (0..size).map(|at| if at < full { on } else { off }).collect()
}

const fn why(needs: Needs) -> (Colour, &'static str) {
    match needs {
        Needs::Approval => (Colour::Yellow, "wants approval"),
        Needs::NeedsAttention => (Colour::Red, "keeps failing"),
        Needs::Gated => (Colour::Yellow, "gate open"),
        Needs::NotLanded => (Colour::Yellow, "not landed"),
        Needs::Lost => (Colour::Red, "lost"),
        Needs::Abandoned => (Colour::Yellow, "abandoned"),
        Needs::Stale => (Colour::Red, "stale"),
        Needs::HolderGone => (Colour::Red, "holder gone"),
    }
}

fn need(one: &Attention, form: &Form<'_>) -> Row {
    let (colour, word) = why(one.kind);
    let row = Row::of(Some(&one.issue_id)).then(Colour::Plain, "  ").then(Colour::Bold, &clean(&one.handle));
    if form.columns < WIDE {
        return row.then(colour, &format!(" {word}")).then(Colour::Plain, &format!(" {}", clean(&one.title)));
    }
    let room = form.columns / 2;
    let title = cut(&clean(&one.title), room.saturating_sub(row.width() + 1));
    row.then(Colour::Plain, &format!(" {title}"))
        .filled(room)
        .then(colour, &format!("  {word}"))
        .then(Colour::Dim, &format!("  {}", clean(&one.text)))
}
