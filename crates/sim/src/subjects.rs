//! The media that are put to the test.

use std::path::Path;

use holdfast_kernel::{Fence, Table, apply};
use holdfast_store::log::{Log, Paths, Settings};
use holdfast_store::{Error, Medium as _, Result, View};
use holdfast_sys::Sys;

use crate::reference;
use crate::scaffold::ROOT;
use crate::subject::Subject;

/// The log medium.
#[must_use]
pub fn log() -> Subject {
    Subject::new("log", |sys| Ok(Box::new(open_log(sys))))
        .replaying(|sys| replay_log(sys))
        .kept_up(|sys, policy| open_log(sys).cut(policy).map(drop))
}

/// The medium that is as simple as a correct one can be.
#[must_use]
pub fn reference() -> Subject {
    Subject::new("reference", reference::open)
}

fn open_log(sys: &Sys) -> Log {
    let file = |name: &str| Path::new(ROOT).join(name);
    let paths =
        Paths { log: file("claims.jsonl"), index: file("claims.index.json"), guard: file("claims.lock") };
    Log::new(sys.clone(), paths, Settings::default())
}

/// What all records since the first one lead to, without the index and without the carried-over tables.
fn replay_log(sys: &Sys) -> Result<View> {
    let log = open_log(sys);
    let (mut table, mut last, mut wrong) = (Table::new(), 0, None);
    log.history(&mut |record| {
        last = record.sequence.get();
        wrong = wrong.take().or_else(|| apply(&mut table, &record.event).err());
    })?;
    if let Some(error) = wrong {
        return Err(crate::scaffold::damaged(Path::new(ROOT), &error.to_string()));
    }
    let View { counter, now, .. } = log.view()?;
    let next = Fence::new(last + 1).map_err(|_| Error::Refused(holdfast_kernel::Refusal::FencesExhausted))?;
    Ok(View { table, counter, next, now })
}
