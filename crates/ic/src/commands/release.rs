//! `ic lock release`: gives a lock back that the calling shell, or whoever it speaks for, holds.

use serde_json::json;

use crate::cli::Which;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::names::LockName;
use crate::output::Report;
use crate::owner::{self, Owner, Said};

pub(super) fn run(context: &Context, which: &Which, owner: Option<&str>) -> Result<Report> {
    let lock = LockName::new(&which.name, &which.scope)?;
    let owner = match owner {
        Some(name) => owner::named(name)?,
        None => Owner::calling(&context.sys, Said::default())?.name,
    };
    let locks = context.existing()?.ok_or_else(|| Error::NotHeld(lock.to_string()))?;
    let held = locks.release(&lock, &owner)?;
    Ok(Report::done(format!("{lock} is free\n"), json!({ "released": held.document() })))
}
