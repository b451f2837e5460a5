//! `ic lock acquire`: takes a lock for the calling shell.

use holdfast_door::Clean;
use serde_json::json;

use super::{how, take};
use crate::cancel::Cancel;
use crate::cli::{Taking, Which};
use crate::context::Context;
use crate::error::Result;
use crate::names::LockName;
use crate::output::Report;
use crate::owner::{Owner, Said};

pub(super) fn run(context: &Context, which: &Which, taking: &Taking, pid: Option<u32>) -> Result<Report> {
    let lock = LockName::new(&which.name, &which.scope)?;
    let said = Said { name: taking.owner.as_deref(), pid, within: &context.within };
    let owner = Owner::calling(&context.sys, said)?;
    let (how, cancel) = (how(taking)?, Cancel::on_signals()?);
    let held = take(context, &context.locks()?, &lock, &owner, how, &cancel)?;
    let fence = held.fence().map_or_else(String::new, |fence| format!(", fence {fence}"));
    let text = Clean::from(format!("{lock} is held by ")) + Clean::line(&held.owner) + fence + "\n";
    Ok(Report::done(text, json!({ "lock": held.document() })))
}
