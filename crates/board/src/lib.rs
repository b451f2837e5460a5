//! The tracker in a terminal: the door `jit-board`, which `jit board` starts.
//!
//! One thread looks at the repository and does what is asked of it, one reads keys and the mouse, one hears signals; the
//! first draws what they say. What is shown is what the commands and the server say, made in the tracker. Nothing about
//! leases is decided here.

mod cli;
mod columns;
mod draw;
mod issue;
mod keys;
mod lanes;
mod look;
mod model;
mod row;
pub mod screen;
mod show;
mod stand;
mod still;
mod vars;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use holdfast_door::{Clean, Notes, Paint, is_dumb, print, typed_wrong};
use holdfast_tracker::answers::board::{self, Renewals};
use holdfast_tracker::answers::session;
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::names::Names;
use holdfast_tracker::{Caller, Listener, Notice, Silent};

use cli::Cli;

/// Runs the program with the arguments and the environment of this process.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let json = std::env::args_os().any(|argument| argument == "--json");
            let document = |first: &str| Error::Usage(first.to_owned()).document();
            let wrong = typed_wrong(&error, json.then_some(document));
            return ExitCode::from(if wrong { Exit::Usage } else { Exit::Ok }.code());
        }
    };
    ExitCode::from(ended(&cli, run(&cli)).code())
}

fn run(cli: &Cli) -> Result<()> {
    if cli.json || cli.once || is_dumb() {
        let caller = vars::caller(cli, Arc::new(Silent))?;
        let listener = Arc::new(Said(Names::new(caller.clone())));
        return once(cli, &Caller { listener, ..caller });
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(Error::Usage("this is no terminal; jit board --once prints how things stand".to_owned()));
    }
    show::show(&vars::caller(cli, Arc::new(Silent))?)
}

/// Prints how things stand.
fn once(cli: &Cli, caller: &Caller) -> Result<()> {
    let session = session(caller)?;
    let document = board::look(&session, Some(&Renewals::load(&session)?))?;
    let text = if cli.json {
        Clean::json(&document) + "\n"
    } else {
        let now = session.sys().clock.now()?;
        still::text(&stand::Stand::of(document)?, &now, Paint::of_answers())
    };
    let failed = |error| holdfast_sys::Error::new("write to", "standard output".as_ref(), error);
    Ok(print(&[text]).map_err(failed)?)
}

/// Says what there is to say beside an answer.
struct Said(Names);

impl Listener for Said {
    fn hear(&self, notice: &Notice) {
        if !notice.is_progress() {
            Notes::new().warning(&self.0.put(&notice.to_string()));
        }
    }
}

/// Says how it ended.
fn ended(cli: &Cli, result: Result<()>) -> Exit {
    let Err(error) = result else { return Exit::Ok };
    let notes = Notes::new();
    notes.error(&error.to_string());
    if let Some(hint) = error.hint() {
        notes.hint(&hint);
    }
    if cli.json {
        // The exit code tells the same to whoever cannot read this.
        let _ = print(&[Clean::json(&error.document())]);
    }
    error.exit()
}
