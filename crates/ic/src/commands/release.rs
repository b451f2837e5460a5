//! `ic lock release`: gives a lock back that the calling shell, or whoever it speaks for, holds.

use holdfast_kernel::Name;
use serde_json::json;

use crate::cli::Which;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::locks::Locks;
use crate::names::LockName;
use crate::output::Report;
use crate::owner::{self, Owner, Said};

pub(super) fn run(context: &Context, which: &Which, typed: Option<&str>) -> Result<Report> {
    let lock = LockName::new(&which.name, &which.scope)?;
    let owner = match typed {
        Some(name) => owner::named(name)?,
        None => Owner::calling(&context.sys, Said::default())?.name,
    };
    let locks = context.existing()?.ok_or_else(|| Error::NotHeld(lock.to_string()))?;
    let held = locks.patiently(|locks| {
        let owner = if typed.is_some() { owner } else { above(context, locks, &lock)?.unwrap_or(owner) };
        locks.release(&lock, &owner)
    })?;
    Ok(Report::done(format!("{lock} is free\n"), json!({ "released": held.document() })))
}

/// Whoever holds the lock, if it is the calling process or one above it: a subshell, `bash -c` or a pipeline speaks for the
/// shell that started it.
fn above(context: &Context, locks: &Locks, lock: &LockName) -> Result<Option<Name>> {
    let Some(holder) = locks.look(lock)?.and_then(|held| Some((held.process()?, held.owner))) else {
        return Ok(None);
    };
    let mut above = Owner::above(&context.sys)?.into_iter();
    let is_it = |owner: &Owner| owner.process.as_ref() == Some(&holder.0) && owner.name.as_str() == holder.1;
    Ok(above.find(is_it).map(|owner| owner.name))
}
