//! The terminal: taken over and given back as it was, also by a panic and by signals. Whoever stops the program and goes on
//! with it later finds both screens as they were.

use std::io::{self, Stdout, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Position;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::Show;
use ratatui_crossterm::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::style::ResetColor;
use ratatui_crossterm::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// Whether the terminal is ours.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// A terminal that is ours until this is dropped.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal over. A panic of any thread gives it back before it is told.
    ///
    /// # Errors
    /// When it is none.
    pub fn take() -> io::Result<Self> {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            tell(panic);
        }));
        let mut screen = Self { terminal: Terminal::new(CrosstermBackend::new(io::stdout()))? };
        screen.enter()?;
        Ok(screen)
    }

    /// Takes the terminal over again, whatever was done to it meanwhile.
    ///
    /// # Errors
    /// When it is none any more.
    pub fn enter(&mut self) -> io::Result<()> {
        IS_OURS.store(true, Ordering::SeqCst);
        // A shell may have set it otherwise since, and it is not set twice.
        disable_raw_mode()?;
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, Clear(ClearType::All))?;
        // Everything is drawn anew. `Terminal::clear` would ask the terminal where its cursor is, and whoever reads keys would
        // have the answer.
        self.terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(())
    }

    /// Draws, with the cursor where it is wanted.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Buffer) -> Option<Position>) -> io::Result<()> {
        self.terminal.draw(|frame| {
            if let Some(cursor) = draw(frame.buffer_mut()) {
                frame.set_cursor_position(cursor);
            }
        })?;
        Ok(())
    }

    /// How many columns there are.
    ///
    /// # Errors
    /// When the terminal does not say.
    pub fn columns(&self) -> io::Result<u16> {
        Ok(self.terminal.size()?.width)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back as it was, if it is ours. What cannot be done is left.
pub fn give_back() {
    if IS_OURS.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        let _ = execute!(out, DisableMouseCapture, ResetColor, LeaveAlternateScreen, Show);
        let _ = out.flush();
        let _ = disable_raw_mode();
    }
}
