//! Which colour says what, of issues.

use holdfast_door::{Cell, Colour};

use crate::issues::{Priority, State};

/// Where an issue stands, as a cell of a table.
#[must_use]
pub fn state_cell(state: State) -> Cell {
    Cell::new(&state.to_string(), state.into())
}

/// How much an issue matters, as a cell of a table.
#[must_use]
pub fn priority_cell(priority: Priority) -> Cell {
    Cell::new(&priority.to_string(), priority.into())
}

impl From<State> for Colour {
    fn from(state: State) -> Self {
        match state {
            State::Backlog => Self::Plain,
            State::Ready => Self::Green,
            State::InProgress => Self::Yellow,
            State::Gated => Self::Magenta,
            State::Done | State::Rejected | State::Archived => Self::Dim,
        }
    }
}

impl From<Priority> for Colour {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Critical => Self::Red,
            Priority::High => Self::Bold,
            Priority::Normal => Self::Plain,
            Priority::Low => Self::Dim,
        }
    }
}
