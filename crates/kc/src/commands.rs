//! What the commands do. Each opens the vault, calls the one function that it stands for, and says what came
//! of it; none prints.

use std::io;
use std::path::Path;

use clap::CommandFactory;
use holdfast_door::Clean;
use holdfast_sys::Sys;
use serde_json::json;

use crate::cli::{AddOverlay, Cli, Command, Doc, Lineage, Lock, Now, Overlay, Vault};
use crate::error::{Error, Result};
use crate::output::Said;
use crate::overlay::{Edge, lineage_overlay_add, lineage_overlay_list, lineage_overlay_remove};
use crate::{document, lock, rpc, schemas, vault, verify};

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(sys: &Sys, command: Command) -> Result<Said> {
    match command {
        Command::Vault(Vault::Init { vault }) => {
            let created = vault::init(sys, &vault)?;
            Ok(Said::Fields(json!({ "vault": vault.to_string_lossy(), "created": created })))
        }
        Command::Vault(Vault::Check { vault }) => {
            let checked = verify::verify(&mut vault::open(sys, &vault)?)?;
            Ok(Said::Fields(json!({ "vault": vault.to_string_lossy(), "checked": checked })))
        }
        Command::Doc(Doc::Add { vault, doc_id }) => {
            let created = document::doc_add(&mut vault::open(sys, &vault)?, &doc_id)?;
            Ok(Said::Fields(json!({ "doc_id": doc_id, "created": created })))
        }
        Command::Lineage(Lineage::Lock(command)) => locks(sys, command),
        Command::Lineage(Lineage::Overlay(command)) => overlays(sys, command),
        Command::Rpc { vault } => serve(sys, &vault),
        Command::Schema { name } => schema(name.as_deref()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "kc_cli", &mut script);
            Ok(Said::Text(Clean::page(&String::from_utf8_lossy(&script))))
        }
    }
}

fn locks(sys: &Sys, command: Lock) -> Result<Said> {
    let fields = match command {
        Lock::Acquire { vault, doc_id, owner, now } => {
            let (conn, now_ms) = (&mut vault::open(sys, &vault)?, moment(sys, now)?);
            json!({ "lease": lock::lineage_lock_acquire(conn, &doc_id, &owner, now_ms)? })
        }
        Lock::Release { vault, doc_id, token } => {
            lock::lineage_lock_release(&mut vault::open(sys, &vault)?, &doc_id, &token)?;
            json!({ "released": true })
        }
        Lock::Status { vault, doc_id, now } => {
            let (conn, now_ms) = (&mut vault::open(sys, &vault)?, moment(sys, now)?);
            rpc::status(conn, doc_id.as_deref(), now_ms)?
        }
    };
    Ok(Said::Fields(fields))
}

fn overlays(sys: &Sys, command: Overlay) -> Result<Said> {
    let fields = match command {
        Overlay::Add(wanted) => add(sys, &wanted)?,
        Overlay::Remove { vault, overlay_id, lock_token, now } => {
            let (conn, now_ms) = (&mut vault::open(sys, &vault)?, moment(sys, now)?);
            lineage_overlay_remove(conn, &overlay_id, &lock_token, now_ms)?;
            json!({ "removed_overlay_id": overlay_id })
        }
        Overlay::List { vault, doc_id } => {
            json!({ "overlays": lineage_overlay_list(&mut vault::open(sys, &vault)?, &doc_id)? })
        }
    };
    Ok(Said::Fields(fields))
}

fn add(sys: &Sys, wanted: &AddOverlay) -> Result<serde_json::Value> {
    let edge = Edge {
        from_node_id: &wanted.from,
        to_node_id: &wanted.to,
        relation: &wanted.relation,
        evidence: &wanted.evidence,
    };
    let (conn, now_ms) = (&mut vault::open(sys, &wanted.vault)?, moment(sys, wanted.now)?);
    let (token, by) = (&wanted.lock_token, &wanted.created_by);
    Ok(json!({ "overlay": lineage_overlay_add(conn, &wanted.doc_id, &edge, token, now_ms, by)? }))
}

fn serve(sys: &Sys, path: &Path) -> Result<Said> {
    let mut conn = vault::open(sys, path)?;
    match rpc::serve(&mut conn, io::stdin().lock(), io::stdout().lock()) {
        // Whoever closed the pipe has read enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(holdfast_sys::Error::new("serve", Path::new("stdin and stdout"), error).into())
        }
        _ => Ok(Said::Nothing),
    }
}

fn schema(name: Option<&str>) -> Result<Said> {
    let Some(name) = name else {
        let names: Vec<&str> = schemas::REGISTRY.iter().map(|schema| schema.name).collect();
        return Ok(Said::Fields(json!({ "schemas": names })));
    };
    let unknown =
        || Error::Request(format!("there is no schema {}: see `kc_cli schema`", name.escape_debug()));
    schemas::find(name).map(|schema| Said::Text(schema.text.into())).ok_or_else(unknown)
}

/// The moment that was typed, or the one that the machine's clock shows.
fn moment(sys: &Sys, now: Now) -> Result<i64> {
    match now.now_ms {
        Some(now_ms) => Ok(now_ms),
        None => Ok(i64::try_from(sys.clock.now()?.wall_ms()).unwrap_or(i64::MAX)),
    }
}
