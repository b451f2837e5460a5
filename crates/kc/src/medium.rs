//! The SQLite medium: leases as rows, one immediate transaction for each change.
//!
//! It never decides: inside the transaction it reads the rows that a command is about, asks the kernel, and
//! writes rows, history and counter together. It keeps one exclusive lease a document; a shared one would
//! need a row for each reader, and nobody works that way here.
//!
//! SQLite opens files, locks them and flushes them by itself, past the system layer. So this is the one
//! medium that does not run on simulated files; its crashes are tried with real processes that are killed, and
//! power losses on the calls that a real process made.
//! No other code may open the database's file while a connection is open: closing it would give up SQLite's
//! locks with it.

mod database;
mod failure;
mod history;
mod position;
mod row;
mod schema;
mod section;

use std::path::PathBuf;

use holdfast_kernel::{Answer, Claim, Command, Fence, Limits, Policy, Table, check, decide};
use holdfast_store::{Error, Held, Medium, Result, View};
use holdfast_sys::Sys;

use crate::secret::Secret;
pub use database::Database;
pub use position::Position;
pub use section::{Found, Section};

/// The leases in the database at a path. Each operation has a connection of its own, as each process has.
pub struct Sqlite {
    sys: Sys,
    path: PathBuf,
    secret: Secret,
}

impl Sqlite {
    /// The medium at `path`, whose directory must be there. The database is made with the first grant.
    #[must_use]
    pub const fn new(sys: Sys, path: PathBuf, secret: Secret) -> Self {
        Self { sys, path, secret }
    }

    /// The database, if somebody has made it.
    fn open(&self) -> Result<Option<Database>> {
        match self.sys.files.stat(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            stat => {
                stat?;
                Database::open(&self.sys, &self.path, self.secret.clone()).map(Some)
            }
        }
    }
}

impl Medium for Sqlite {
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer> {
        let mut database = match self.open()? {
            Some(database) => database,
            None => {
                let now = self.sys.clock.now()?;
                let decision = decide(&Table::new(), policy, command, &now, Fence::FIRST)?;
                if decision.events.is_empty() {
                    return Ok(decision.answer);
                }
                Database::create(&self.sys, &self.path, &self.secret)?;
                Database::open(&self.sys, &self.path, self.secret.clone())?
            }
        };
        let section = database.write()?;
        let before = section.about(command, policy.limits)?;
        let answer = section.decide(&before, policy, command, &self.sys.clock.now()?)?;
        section.commit()?;
        Ok(answer)
    }

    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        let Some(mut database) = self.open()? else {
            check(&Table::new(), claim, &self.sys.clock.now()?)?;
            return Ok(());
        };
        let section = database.write()?;
        let table = section.about(&Command::Check(claim.clone()), Limits::NONE)?;
        let held = section.hold(&table, claim, &self.sys.clock.now()?)?;
        act(&held);
        Ok(())
    }

    fn view(&self) -> Result<View> {
        let Some(mut database) = self.open()? else {
            let now = self.sys.clock.now()?;
            return Ok(View { table: Table::new(), counter: None, next: Fence::FIRST, now });
        };
        let (table, position) =
            database.look(|section| Ok::<_, Error>((section.all()?, section.position()?)))?;
        let counter = (position.next > Fence::FIRST).then_some(position.counter);
        Ok(View { table, counter, next: position.next, now: self.sys.clock.now()? })
    }
}
