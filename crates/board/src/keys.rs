//! What keys and the mouse do.

use holdfast_door::Colour;
use ratatui_crossterm::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use crate::look::Ask;
use crate::model::{Model, Prompt, Said, Spot, View};
use crate::row::Row;

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Nothing but to draw anew.
    Draw,
    /// Nothing at all.
    Nothing,
    Ask(Ask),
    Quit,
    /// To stop until somebody continues it.
    Stop,
}

type Key = (Option<char>, &'static str);

/// All keys, and what they do.
const KEYS: [(&str, &str); 13] = [
    ("1 2 Tab", "Now, Board"),
    ("↑ ↓ j k", "choose an issue"),
    ("← → h l", "choose a column"),
    ("PgUp PgDn", "ten further"),
    ("Home End", "the first, the last"),
    ("Enter", "open the issue"),
    ("c", "claim it"),
    ("r", "release it"),
    ("n", "add a note to it"),
    ("/", "find issues by words"),
    ("Ctrl-L", "look again"),
    ("Esc", "close, or show all"),
    ("q", "quit"),
];

/// The keys of the last line, those that one needs most first.
pub(crate) fn shown(model: &Model) -> Vec<(Key, &'static str)> {
    if model.prompt.is_some() {
        return vec![((None, "Enter"), "do it"), ((Some('\x1b'), "Esc"), "leave it")];
    }
    if matches!(model.view, View::Issue | View::Keys) {
        let mut keys = vec![((Some('\x1b'), "Esc"), "back")];
        if model.view == View::Issue {
            keys.extend([
                ((Some('c'), "c"), "claim"),
                ((Some('r'), "r"), "release"),
                ((Some('n'), "n"), "note"),
            ]);
        }
        keys.extend([((None, "↑↓"), "scroll"), ((Some('q'), "q"), "quit")]);
        return keys;
    }
    vec![
        ((Some('q'), "q"), "quit"),
        ((Some('?'), "?"), "keys"),
        ((Some('c'), "c"), "claim"),
        ((Some('r'), "r"), "release"),
        ((Some('n'), "n"), "note"),
        ((Some('\n'), "Enter"), "open"),
        ((Some('/'), "/"), "find"),
        ((Some('\t'), "Tab"), "view"),
        ((None, "↑↓←→"), "choose"),
    ]
}

/// The list of keys.
pub(crate) fn help() -> Vec<Row> {
    let line = |(key, text): &(&str, &str)| {
        Row::default().then(Colour::Bold, &format!("{key:<10}")).then(Colour::Plain, &format!(" {text}"))
    };
    KEYS.iter().map(line).collect()
}

/// What happened at the terminal. `rows` are the lines of *Now*.
pub(crate) fn heard(model: &mut Model, event: &Event, rows: &[Row]) -> Action {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(model, *key, rows),
        Event::Mouse(mouse) => pointed(model, *mouse, rows),
        Event::Paste(text) => {
            text.chars().for_each(|c| typed(model, c));
            Action::Draw
        }
        Event::Resize(..) => match (model.view, &model.chosen) {
            // Its lines were broken for the old width.
            (View::Issue, Some(issue)) => Action::Ask(Ask::Show(issue.clone())),
            _ => Action::Draw,
        },
        _ => Action::Nothing,
    }
}

fn pressed(model: &mut Model, key: KeyEvent, rows: &[Row]) -> Action {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Action::Quit,
            KeyCode::Char('z') => Action::Stop,
            KeyCode::Char('l') => Action::Ask(Ask::Again),
            _ => Action::Nothing,
        };
    }
    if model.prompt.is_some() {
        return answered(model, key.code);
    }
    model.said = None;
    let page = isize::try_from(model.room.max(2) - 1).unwrap_or(10);
    match key.code {
        KeyCode::Char('q') => return Action::Quit,
        KeyCode::Char('1') => model.open(View::Now),
        KeyCode::Char('2') => model.open(View::Board),
        KeyCode::Tab => other(model),
        KeyCode::Char('?') => model.open(View::Keys),
        KeyCode::Down | KeyCode::Char('j') => model.step(1, rows),
        KeyCode::Up | KeyCode::Char('k') => model.step(-1, rows),
        KeyCode::PageDown => model.step(page, rows),
        KeyCode::PageUp => model.step(-page, rows),
        KeyCode::Home => model.step(isize::MIN, rows),
        KeyCode::End => model.step(isize::MAX, rows),
        KeyCode::Left | KeyCode::Char('h') if model.view == View::Board => model.aside(-1),
        KeyCode::Right | KeyCode::Char('l') if model.view == View::Board => model.aside(1),
        KeyCode::Esc => model.back(),
        KeyCode::Char('/') => model.prompt = Some((Prompt::Find, String::new())),
        KeyCode::Enter => return opened(model),
        KeyCode::Char(c @ ('c' | 'r' | 'n')) => return act(model, c),
        _ => return Action::Nothing,
    }
    Action::Draw
}

fn other(model: &mut Model) {
    model.open(if model.view == View::Now { View::Board } else { View::Now });
}

/// Opens the issue that is chosen.
fn opened(model: &mut Model) -> Action {
    match model.chosen.clone() {
        Some(issue) if model.view != View::Issue => {
            model.open(View::Issue);
            Action::Ask(Ask::Show(issue))
        }
        _ => Action::Draw,
    }
}

/// Does something with the issue that is chosen.
fn act(model: &mut Model, key: char) -> Action {
    let Some(card) = model.card() else {
        model.said = Some(Said::Failed("choose an issue first".to_owned()));
        return Action::Draw;
    };
    let (issue, handle) = (card.id.clone(), card.handle.clone());
    match key {
        'c' => return Action::Ask(Ask::Claim(issue)),
        'r' => model.prompt = Some((Prompt::Release { issue, handle }, String::new())),
        _ => model.prompt = Some((Prompt::Note { issue, handle }, String::new())),
    }
    Action::Draw
}

/// A key while something is typed.
fn answered(model: &mut Model, code: KeyCode) -> Action {
    if let Some((Prompt::Release { issue, .. }, _)) = &model.prompt {
        let release = Ask::Release(issue.clone());
        model.prompt = None;
        return if code == KeyCode::Char('y') { Action::Ask(release) } else { Action::Draw };
    }
    match code {
        KeyCode::Esc => model.prompt = None,
        KeyCode::Backspace => {
            if let Some((_, text)) = &mut model.prompt {
                text.pop();
            }
        }
        KeyCode::Char(c) => typed(model, c),
        KeyCode::Enter => match model.prompt.take() {
            Some((Prompt::Find, text)) => find(model, &text),
            Some((Prompt::Note { issue, .. }, text)) if !text.trim().is_empty() => {
                return Action::Ask(Ask::Note(issue, text));
            }
            _ => {}
        },
        _ => return Action::Nothing,
    }
    Action::Draw
}

fn typed(model: &mut Model, c: char) {
    if let Some((_, text)) = model.prompt.as_mut().filter(|_| !c.is_control()) {
        text.push(c);
    }
}

/// Shows only what has these words, and goes to the first that has them all.
fn find(model: &mut Model, text: &str) {
    model.words = text.to_lowercase().split_whitespace().map(ToOwned::to_owned).collect();
    model.open(View::Board);
    let states = model.stand.as_ref().map(crate::stand::Stand::states).unwrap_or_default();
    let found = states.into_iter().find_map(|state| model.column(state).first().map(|card| card.id.clone()));
    if found.is_none() {
        model.said = Some(Said::Failed(format!("nothing has the words '{}'", crate::row::clean(text))));
    }
    model.choose(found);
}

fn pointed(model: &mut Model, mouse: MouseEvent, rows: &[Row]) -> Action {
    let spot = model.at(mouse.column, mouse.row).cloned();
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => match spot {
            Some(Spot::View(view)) => model.open(view),
            Some(Spot::Key(key)) => {
                let code = match key {
                    '\n' => KeyCode::Enter,
                    '\t' => KeyCode::Tab,
                    '\x1b' => KeyCode::Esc,
                    key => KeyCode::Char(key),
                };
                return pressed(model, KeyEvent::new(code, KeyModifiers::NONE), rows);
            }
            // The second click on what is chosen opens it.
            Some(Spot::Issue(issue)) if model.chosen.as_ref() == Some(&issue) => return opened(model),
            Some(Spot::Issue(issue)) => model.choose(Some(issue)),
            Some(Spot::Column(state)) => {
                model.state = Some(state);
                model.chosen = None;
            }
            None => return Action::Nothing,
        },
        MouseEventKind::ScrollDown | MouseEventKind::ScrollUp => {
            let by = if mouse.kind == MouseEventKind::ScrollDown { 3 } else { -3 };
            let column = model.spots.iter().find_map(|(area, spot)| match spot {
                Spot::Column(state) if area.contains((mouse.column, mouse.row).into()) => Some(*state),
                _ => None,
            });
            if let Some(state) = column.filter(|state| model.state != Some(*state)) {
                model.state = Some(state);
                model.chosen = None;
            }
            model.step(by, rows);
        }
        _ => return Action::Nothing,
    }
    Action::Draw
}
