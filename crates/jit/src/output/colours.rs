//! Which colour says what, of issues.

use holdfast_door::{Cell, Colour};

use holdfast_tracker::issues::{Priority, Standing, State};

/// Where an issue stands, as a cell of a table.
#[must_use]
pub fn state_cell(state: State) -> Cell {
    Cell::new(&state.to_string(), state_colour(state))
}

/// Where an issue stands, and its finished work if that has not landed, as a cell of a table.
#[must_use]
pub fn standing_cell(state: State, standing: &Standing) -> Cell {
    match standing.words() {
        Some(words) => Cell::new(&format!("{state} ({words})"), Colour::Yellow),
        None => state_cell(state),
    }
}

/// How much an issue matters, as a cell of a table.
#[must_use]
pub fn priority_cell(priority: Priority) -> Cell {
    Cell::new(&priority.to_string(), priority_colour(priority))
}

/// The colour of a state.
#[must_use]
pub const fn state_colour(state: State) -> Colour {
    match state {
        State::Backlog => Colour::Plain,
        State::Ready => Colour::Green,
        State::InProgress => Colour::Yellow,
        State::Gated => Colour::Magenta,
        State::Done | State::Rejected | State::Archived => Colour::Dim,
    }
}

/// The colour of a priority.
#[must_use]
pub const fn priority_colour(priority: Priority) -> Colour {
    match priority {
        Priority::Critical => Colour::Red,
        Priority::High => Colour::Bold,
        Priority::Normal => Colour::Plain,
        Priority::Low => Colour::Dim,
    }
}
