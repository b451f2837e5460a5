//! How things stand: the board that the tracker made, with its cards read and sorted into columns.

use std::borrow::Cow;
use std::collections::BTreeMap;

use holdfast_tracker::answers::board::{Attention, BoardOutput, Lane};
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::issues::{Priority, State};
use holdfast_tracker::times;
use serde::Deserialize;
use serde_json::Value;

use crate::row::clean;

/// How things stand.
pub(crate) struct Stand {
    /// When it was looked, in milliseconds since 1970.
    pub(crate) at_ms: u64,
    /// Who looks.
    pub(crate) agent: Option<String>,
    /// What the repository is called.
    pub(crate) name: String,
    /// Who works, or waits, and where.
    pub(crate) lanes: Vec<Lane>,
    /// What needs a person.
    pub(crate) attention: Vec<Attention>,
    /// The issues by state, what matters most first.
    pub(crate) columns: BTreeMap<State, Vec<Card>>,
    /// How many issues cannot be read.
    pub(crate) unreadable: usize,
}

/// An issue, with texts that a terminal can show.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) handle: String,
    pub(crate) title: String,
    pub(crate) state: State,
    pub(crate) priority: Priority,
    pub(crate) labels: String,
    pub(crate) claimed_by: Option<String>,
    /// What it waits for, in words.
    pub(crate) blocked_by: Vec<String>,
    updated_at: String,
}

/// An issue as the board has it.
#[derive(Deserialize)]
struct Raw<'a> {
    id: &'a str,
    #[serde(borrow)]
    handle: Cow<'a, str>,
    #[serde(borrow)]
    title: Cow<'a, str>,
    state: State,
    priority: Priority,
    #[serde(borrow)]
    labels: Vec<Cow<'a, str>>,
    claimed_by: Option<String>,
    updated_at: &'a str,
    #[serde(default)]
    blocked_by: Vec<Value>,
}

impl Stand {
    /// The board, read.
    ///
    /// # Errors
    /// When a card is none, which would be a bug.
    pub(crate) fn of(document: BoardOutput) -> Result<Self> {
        let board = document.board;
        let mut columns: BTreeMap<State, Vec<Card>> = State::ALL.map(|state| (state, Vec::new())).into();
        for raw in &board.issues {
            let raw: Raw<'_> = serde_json::from_str(raw.get())
                .map_err(|error| Error::Internal(format!("a card of the board cannot be read: {error}")))?;
            columns.entry(raw.state).or_default().push(Card::of(raw));
        }
        for cards in columns.values_mut() {
            cards.sort_by(|one, other| {
                one.priority.cmp(&other.priority).then_with(|| other.updated_at.cmp(&one.updated_at))
            });
        }
        let main = board.worktrees.iter().find(|entry| entry.main).or(board.worktrees.first());
        let path = main.map(|entry| entry.path.as_str()).unwrap_or_default();
        Ok(Self {
            at_ms: times::millis(&board.at)
                .ok_or_else(|| Error::Internal("the board has no moment".to_owned()))?,
            agent: board.agent_id,
            name: clean(path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()),
            lanes: board.agents,
            attention: board.attention,
            columns,
            unreadable: board.unreadable,
        })
    }

    /// The states that are shown: what is over and put away only if something is there.
    pub(crate) fn states(&self) -> Vec<State> {
        let is_shown = |state: &State| {
            !matches!(state, State::Rejected | State::Archived) || !self.cards(*state).is_empty()
        };
        State::ALL.into_iter().filter(is_shown).collect()
    }

    /// The issues in a state.
    pub(crate) fn cards(&self, state: State) -> &[Card] {
        self.columns.get(&state).map_or(&[], Vec::as_slice)
    }

    /// An issue.
    pub(crate) fn find(&self, id: &str) -> Option<&Card> {
        self.columns.values().flatten().find(|card| card.id == id)
    }

    /// When the next lease ends, in milliseconds since 1970.
    pub(crate) fn next_end_ms(&self) -> Option<u64> {
        let held = self.lanes.iter().flat_map(|lane| lane.leases.iter().chain(&lane.reservations));
        held.filter_map(|held| held.lease.remaining_secs).min().map(|secs| self.at_ms + secs * 1_000)
    }
}

impl Card {
    fn of(raw: Raw<'_>) -> Self {
        Self {
            id: raw.id.to_owned(),
            handle: clean(&raw.handle),
            title: clean(&raw.title),
            state: raw.state,
            priority: raw.priority,
            labels: clean(&raw.labels.join(" ")),
            claimed_by: raw.claimed_by.as_deref().map(clean),
            blocked_by: raw.blocked_by.iter().map(reason).collect(),
            updated_at: raw.updated_at.to_owned(),
        }
    }

    /// Whether all of these words, in small letters, are somewhere in it.
    pub(crate) fn has(&self, words: &[String]) -> bool {
        if words.is_empty() {
            return true;
        }
        let holder = self.claimed_by.as_deref().unwrap_or_default();
        let text =
            format!("{} {} {} {} {holder}", self.handle, self.id, self.title, self.labels).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

/// What an issue waits for, in words.
pub(crate) fn reason(reason: &Value) -> String {
    let text = |name: &str| clean(reason.get(name).and_then(Value::as_str).unwrap_or("?"));
    match reason.get("kind").and_then(Value::as_str) {
        Some("dependency") => format!("{} {}", text("handle"), text("title")),
        Some("gate") => format!("the gate {}", text("key")),
        Some("unreadable") => format!("{}, which cannot be read", text("id")),
        _ => "something that cannot be read".to_owned(),
    }
}
