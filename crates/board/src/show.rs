//! Shows the board until somebody quits: what is heard from the terminal, from signals and from whoever looks comes in one
//! line, and the screen is drawn after each.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use holdfast_door::Paint;
use holdfast_tracker::Caller;
use holdfast_tracker::error::Result;
use ratatui_crossterm::crossterm::event::{self, Event};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::draw::{draw, now_rows};
use crate::keys::{self, Action};
use crate::look::{Ask, Looker, News};
use crate::model::{Model, Said, View};
use crate::screen::{Screen, give_back};

/// How often bars run down.
const TICK: Duration = Duration::from_secs(1);
/// How long whoever draws may take to end when a signal says so: a terminal that was halted takes for ever.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is heard.
enum Heard {
    Terminal(io::Result<Event>),
    Signal(i32),
    News(News),
}

/// How it ended.
enum End {
    Quit,
    Signal(i32),
}

/// Shows the board.
///
/// # Errors
/// When the repository cannot be read at first, or there is no terminal.
pub(crate) fn show(caller: &Caller) -> Result<()> {
    let failed = |error| holdfast_sys::Error::new("draw on", Path::new("the terminal"), error);
    let (tell, heard) = channel();
    let columns = Arc::new(AtomicU16::new(80));
    let asks = look(caller, &tell, &columns)?;
    let signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT])
        .map_err(|error| holdfast_sys::Error::new("listen for", Path::new("signals"), error))?;
    listen(signals, &tell);
    let screen = Screen::take().map_err(failed)?;
    std::thread::spawn(move || {
        loop {
            let event = event::read();
            let is_over = event.is_err();
            if tell.send(Heard::Terminal(event)).is_err() || is_over {
                return;
            }
        }
    });
    let mut board = Board {
        screen,
        model: Model::default(),
        asks,
        columns,
        caller,
        has_colours: Paint::on(true).has_colours(),
    };
    let ended = board.run(&heard);
    drop(board);
    match ended.map_err(failed)? {
        End::Quit => Ok(()),
        // Whoever started it is told how it ended.
        End::Signal(number) => Ok(emulate_default_handler(number).map_err(failed)?),
    }
}

/// Starts whoever looks.
fn look(caller: &Caller, tell: &Sender<Heard>, columns: &Arc<AtomicU16>) -> Result<Sender<Ask>> {
    let (asks, asked) = channel();
    let news = tell.clone();
    // Nobody listens any more once it is over.
    let mut looker = Looker::start(caller.clone(), move |one| drop(news.send(Heard::News(one))))?;
    let columns = Arc::clone(columns);
    std::thread::spawn(move || looker.look(&asked, || usize::from(columns.load(Ordering::Relaxed))));
    Ok(asks)
}

/// Hears signals. One that ends the program ends it also where whoever draws does not come to it.
fn listen(mut signals: Signals, tell: &Sender<Heard>) {
    let tell = tell.clone();
    std::thread::spawn(move || {
        for number in signals.forever() {
            let is_heard = tell.send(Heard::Signal(number)).is_ok();
            if is_heard && !matches!(number, SIGTSTP | SIGCONT) {
                std::thread::park_timeout(PATIENCE);
                give_back();
                let _ = emulate_default_handler(number);
            }
        }
    });
}

struct Board<'a> {
    screen: Screen,
    model: Model,
    asks: Sender<Ask>,
    columns: Arc<AtomicU16>,
    caller: &'a Caller,
    has_colours: bool,
}

impl Board<'_> {
    fn run(&mut self, heard: &Receiver<Heard>) -> io::Result<End> {
        self.draw()?;
        loop {
            let one = match heard.recv_timeout(TICK) {
                Ok(one) => one,
                Err(RecvTimeoutError::Timeout) => {
                    // Bars run down and moments go by.
                    if self.model.view == View::Now {
                        self.draw()?;
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Quit),
            };
            let mut next = Some(one);
            // Whatever has come meanwhile is drawn in one go.
            while let Some(one) = next {
                if let Some(end) = self.take_in(one)? {
                    return Ok(end);
                }
                next = heard.try_recv().ok();
            }
            self.draw()?;
        }
    }

    fn take_in(&mut self, heard: Heard) -> io::Result<Option<End>> {
        match heard {
            Heard::Terminal(event) => return self.act(&event?),
            Heard::Signal(SIGTSTP) => self.stop()?,
            Heard::Signal(SIGCONT) => self.screen.enter()?,
            Heard::Signal(number) => return Ok(Some(End::Signal(number))),
            Heard::News(News::Stand(stand)) => self.model.stand(stand),
            Heard::News(News::Issue(issue, rows)) if self.model.chosen.as_ref() == Some(&issue) => {
                self.model.issue = Some(rows);
            }
            Heard::News(News::Issue(..)) => {}
            Heard::News(News::Said(said)) => {
                self.model.is_busy = false;
                if said != Said::Done(String::new()) {
                    self.model.said = Some(said);
                }
            }
            Heard::News(News::Trouble(trouble)) => self.model.trouble = trouble,
        }
        Ok(None)
    }

    fn act(&mut self, event: &Event) -> io::Result<Option<End>> {
        let columns = usize::from(self.screen.columns()?);
        let now = self.caller.sys.clock.now().map_err(|error| io::Error::other(error.to_string()))?;
        let rows = now_rows(&self.model, columns, &now);
        match keys::heard(&mut self.model, event, &rows) {
            Action::Draw | Action::Nothing => {}
            Action::Quit => return Ok(Some(End::Quit)),
            Action::Stop => self.stop()?,
            Action::Ask(ask) => {
                self.columns.store(self.screen.columns()?, Ordering::Relaxed);
                self.model.is_busy = true;
                if self.asks.send(ask).is_err() {
                    return Err(io::Error::other("nobody looks at the repository any more"));
                }
            }
        }
        Ok(None)
    }

    /// Stops until somebody continues it.
    fn stop(&mut self) -> io::Result<()> {
        give_back();
        emulate_default_handler(SIGTSTP)?;
        self.screen.enter()
    }

    fn draw(&mut self) -> io::Result<()> {
        let now = self.caller.sys.clock.now().map_err(|error| io::Error::other(error.to_string()))?;
        let (model, has_colours) = (&mut self.model, self.has_colours);
        self.screen.draw(|buffer| draw(buffer, model, &now, has_colours))
    }
}
