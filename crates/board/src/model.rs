//! What is shown and what is chosen. Nothing here draws or asks; whatever changes is kept by the issue that it is about, so
//! that what one is reading stays where it is when something else happens.

use std::collections::BTreeMap;

use holdfast_tracker::issues::State;
use ratatui_core::layout::Rect;

use crate::row::Row;
use crate::stand::{Card, Stand};

/// What can be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum View {
    #[default]
    Now,
    Board,
    /// One issue.
    Issue,
    Keys,
}

/// What is typed, and for what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Prompt {
    /// Words to look for.
    Find,
    /// A note on an issue.
    Note { issue: String, handle: String },
    /// Whether to release a claim; any other key than y says no.
    Release { issue: String, handle: String },
}

/// Something on the screen that can be pointed at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Spot {
    View(View),
    Key(char),
    Issue(String),
    Column(State),
}

/// What was said last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    Done(String),
    Failed(String),
}

/// What is shown and what is chosen.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) stand: Option<Stand>,
    /// Why the repository cannot be read, if it cannot.
    pub(crate) trouble: Option<String>,
    pub(crate) view: View,
    /// What was shown before an issue or the keys.
    pub(crate) behind: View,
    /// The issue that is chosen.
    pub(crate) chosen: Option<String>,
    pub(crate) state: Option<State>,
    /// The first line, of *Now* and of an issue.
    pub(crate) top: usize,
    /// The first card that is shown of each column.
    pub(crate) tops: BTreeMap<State, usize>,
    pub(crate) issue: Option<Vec<Row>>,
    pub(crate) words: Vec<String>,
    pub(crate) prompt: Option<(Prompt, String)>,
    pub(crate) said: Option<Said>,
    /// Something was asked for and has not been answered.
    pub(crate) is_busy: bool,
    /// Where what can be pointed at was drawn last.
    pub(crate) spots: Vec<(Rect, Spot)>,
    /// How many lines the last drawing had room for.
    pub(crate) room: usize,
}

impl Model {
    /// Takes in how things stand.
    pub(crate) fn stand(&mut self, stand: Stand) {
        self.stand = Some(stand);
        if self.state.is_none() {
            self.state = Some(State::Ready);
        }
        self.settle();
    }

    /// Where what is chosen has gone to another column, that one is chosen; where it is gone, nothing is.
    fn settle(&mut self) {
        let Some(id) = &self.chosen else { return };
        let Some(stand) = &self.stand else { return };
        match stand.find(id) {
            Some(card) => self.state = Some(card.state),
            None => self.chosen = None,
        }
    }

    /// The issues of a column that are looked for.
    pub(crate) fn column(&self, state: State) -> Vec<&Card> {
        let cards = self.stand.as_ref().map_or(&[][..], |stand| stand.cards(state));
        cards.iter().filter(|card| card.has(&self.words)).collect()
    }

    /// The issue that is chosen.
    pub(crate) fn card(&self) -> Option<&Card> {
        self.stand.as_ref()?.find(self.chosen.as_deref()?)
    }

    /// The issues that can be chosen where one is, in their order.
    fn choices(&self, rows: &[Row]) -> Vec<String> {
        match self.view {
            View::Now => {
                // Whoever is held up is in a lane and among what needs a person; it is chosen once.
                let mut choices: Vec<String> = Vec::new();
                for issue in rows.iter().filter_map(|row| row.issue.as_ref()) {
                    if !choices.contains(issue) {
                        choices.push(issue.clone());
                    }
                }
                choices
            }
            View::Board => {
                let Some(state) = self.state else { return Vec::new() };
                self.column(state).into_iter().map(|card| card.id.clone()).collect()
            }
            View::Issue | View::Keys => Vec::new(),
        }
    }

    /// Chooses another issue, so many further on; `rows` are those of *Now*. Where nothing can be chosen, lines are moved.
    pub(crate) fn step(&mut self, by: isize, rows: &[Row]) {
        let choices = self.choices(rows);
        if choices.is_empty() || matches!(self.view, View::Issue | View::Keys) {
            self.top = self.top.saturating_add_signed(by);
            return;
        }
        let at = self.chosen.as_ref().and_then(|id| choices.iter().position(|one| one == id));
        let next = match at {
            Some(at) => at.saturating_add_signed(by).min(choices.len() - 1),
            None if by == isize::MAX || (by < 0 && by != isize::MIN) => choices.len() - 1,
            None => 0,
        };
        self.choose(choices.get(next).cloned());
    }

    /// Chooses an issue.
    pub(crate) fn choose(&mut self, issue: Option<String>) {
        self.chosen = issue;
        self.settle();
    }

    /// Goes to another column; the issue that is chosen there is the first one.
    pub(crate) fn aside(&mut self, by: isize) {
        let Some(stand) = &self.stand else { return };
        let states = stand.states();
        let at = self.state.and_then(|state| states.iter().position(|one| *one == state)).unwrap_or(0);
        let next = at.saturating_add_signed(by).min(states.len().saturating_sub(1));
        self.state = states.get(next).copied();
        self.chosen = self.state.and_then(|state| self.column(state).first().map(|card| card.id.clone()));
    }

    /// Shows something else.
    pub(crate) fn open(&mut self, view: View) {
        if matches!(view, View::Issue | View::Keys) && !matches!(self.view, View::Issue | View::Keys) {
            self.behind = self.view;
        }
        self.view = view;
        self.top = 0;
        self.said = None;
    }

    /// Goes back to what was shown before.
    pub(crate) fn back(&mut self) {
        if matches!(self.view, View::Issue | View::Keys) {
            self.view = self.behind;
            self.issue = None;
            self.top = 0;
        } else {
            self.words.clear();
            self.said = None;
        }
    }

    /// What is at a place of the screen.
    pub(crate) fn at(&self, x: u16, y: u16) -> Option<&Spot> {
        let is_there = |area: &Rect| area.contains((x, y).into());
        self.spots.iter().rev().find(|(area, _)| is_there(area)).map(|(_, spot)| spot)
    }
}
