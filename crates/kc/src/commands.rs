//! What the commands do. Each opens the vault, calls the one function that it stands for, and says what came
//! of it; none prints.

use std::io;
use std::path::Path;

use clap::CommandFactory;
use holdfast_door::{Clean, manual};
use holdfast_sys::Sys;
use serde_json::{Value, json};

use crate::cli::{AddOverlay, Cli, Command, Doc, Lineage, Lock, Now, Overlay, Vault};
use crate::error::{Error, Result};
use crate::output::{Done, Said};
use crate::overlay::{Edge, lineage_overlay_add, lineage_overlay_list, lineage_overlay_remove};
use crate::rpc::Unserved;
use crate::undelivered::Granted;
use crate::{document, lock, rpc, schemas, vault, verify, wire};

pub fn run(sys: &Sys, command: Command) -> Result<(Said, Done)> {
    match command {
        Command::Vault(Vault::Init { vault }) => {
            let created = vault::init(sys, &vault)?;
            Ok(changed([("vault", json!(vault.to_string_lossy())), ("created", json!(created))]))
        }
        Command::Vault(Vault::Check { vault }) => {
            let checked = verify::verify(&mut vault::open(sys, &vault)?)?;
            Ok(looked([("vault", json!(vault.to_string_lossy())), ("checked", json!(checked))]))
        }
        Command::Doc(command) => documents(sys, command),
        Command::Lineage(Lineage::Lock(command)) => locks(sys, command),
        Command::Lineage(Lineage::Overlay(command)) => overlays(sys, command),
        Command::Rpc { vault } => serve(sys, &vault),
        Command::Schema { name } => schema(name.as_deref()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "kc_cli", &mut script);
            Ok((Said::Text(Clean::page(&String::from_utf8_lossy(&script))), Done::Nothing))
        }
        Command::Man { command } => {
            let page = manual(Cli::command(), &command).map_err(Error::Request)?;
            Ok((Said::Text(Clean::page(&page)), Done::Nothing))
        }
    }
}

fn documents(sys: &Sys, command: Doc) -> Result<(Said, Done)> {
    match command {
        Doc::Add { vault, doc_id } => {
            let created = document::doc_add(&mut vault::open(sys, &vault)?, &doc_id)?;
            Ok(changed([("doc_id", json!(doc_id)), ("created", json!(created))]))
        }
        Doc::List { vault } => {
            Ok(looked([("documents", json!(document::doc_list(&mut vault::open(sys, &vault)?)?))]))
        }
        Doc::Remove { vault, doc_id, now } => {
            let (conn, now_ms) = (&mut vault::open(sys, &vault)?, moment(sys, now)?);
            document::doc_remove(conn, &doc_id, now_ms)?;
            Ok(changed([("doc_id", json!(doc_id)), ("removed", json!(true))]))
        }
    }
}

fn locks(sys: &Sys, command: Lock) -> Result<(Said, Done)> {
    match command {
        Lock::Acquire { vault, doc_id, owner, quiet, now } => {
            let (mut conn, now_ms) = (vault::open(sys, &vault)?, moment(sys, now)?);
            let lease = lock::lineage_lock_acquire(&mut conn, &doc_id, &owner, now_ms)?;
            let said = if quiet {
                Said::Text(lease.token.as_str().into())
            } else {
                fields([("lease", json!(lease))])
            };
            Ok((said, Done::Lease(Box::new(Granted { conn, lease }))))
        }
        Lock::Release { vault, doc_id, token } => {
            lock::lineage_lock_release(&mut vault::open(sys, &vault)?, &doc_id, &token)?;
            Ok(changed([("released", json!(true))]))
        }
        Lock::Status { vault, doc_id, now } => {
            let (conn, now_ms) = (&mut vault::open(sys, &vault)?, moment(sys, now)?);
            Ok(looked([rpc::status(conn, doc_id.as_deref(), now_ms)?]))
        }
    }
}

fn overlays(sys: &Sys, command: Overlay) -> Result<(Said, Done)> {
    match command {
        Overlay::Add(wanted) => {
            let overlay = add(sys, &wanted)?;
            let quiet = wanted.quiet.then(|| Said::Text(overlay.overlay_id.as_str().into()));
            Ok((quiet.unwrap_or_else(|| fields([("overlay", json!(overlay))])), Done::Something))
        }
        Overlay::Remove { vault, overlay_id, lock_token, now } => {
            let (conn, now_ms) = (&mut vault::open(sys, &vault)?, moment(sys, now)?);
            lineage_overlay_remove(conn, &overlay_id, &lock_token, now_ms)?;
            Ok(changed([("removed_overlay_id", json!(overlay_id))]))
        }
        Overlay::List { vault, doc_id } => {
            let overlays = lineage_overlay_list(&mut vault::open(sys, &vault)?, &doc_id)?;
            Ok(looked([("overlays", json!(overlays))]))
        }
    }
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Said {
    Said::Fields(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn looked<const N: usize>(found: [(&str, Value); N]) -> (Said, Done) {
    (fields(found), Done::Nothing)
}

fn changed<const N: usize>(made: [(&str, Value); N]) -> (Said, Done) {
    (fields(made), Done::Something)
}

fn add(sys: &Sys, wanted: &AddOverlay) -> Result<wire::Overlay> {
    let edge = Edge {
        from_node_id: &wanted.from,
        to_node_id: &wanted.to,
        relation: &wanted.relation,
        evidence: &wanted.evidence,
    };
    let (conn, now_ms) = (&mut vault::open(sys, &wanted.vault)?, moment(sys, wanted.now)?);
    lineage_overlay_add(conn, &wanted.doc_id, &edge, &wanted.lock_token, now_ms, &wanted.created_by)
}

fn serve(sys: &Sys, path: &Path) -> Result<(Said, Done)> {
    let mut conn = vault::open(sys, path)?;
    match rpc::serve(&mut conn, io::stdin().lock(), io::stdout().lock()) {
        // Whoever closed the pipe has read enough, unless the reply that is lost had a token.
        Err(Unserved { why, lease: None }) if why.kind() == io::ErrorKind::BrokenPipe => {}
        Err(Unserved { why, lease }) => {
            let lease = lease.map_or_else(String::new, |lease| format!(": {lease}"));
            let source = io::Error::new(why.kind(), format!("{why}{lease}"));
            return Err(holdfast_sys::Error::new("serve", Path::new("stdin and stdout"), source).into());
        }
        Ok(()) => {}
    }
    Ok((Said::Nothing, Done::Nothing))
}

fn schema(name: Option<&str>) -> Result<(Said, Done)> {
    let Some(name) = name else {
        let names: Vec<&str> = schemas::REGISTRY.iter().map(|schema| schema.name).collect();
        return Ok(looked([("schemas", json!(names))]));
    };
    let unknown =
        || Error::Request(format!("there is no schema {}: see `kc_cli schema`", name.escape_debug()));
    let schema = schemas::find(name).ok_or_else(unknown)?;
    Ok((Said::Text(schema.text.into()), Done::Nothing))
}

/// The moment that was typed, or the one that the machine's clock shows.
fn moment(sys: &Sys, now: Now) -> Result<i64> {
    match now.now_ms {
        Some(now_ms) => Ok(now_ms),
        None => {
            let shown = sys.clock.now()?.wall_ms();
            i64::try_from(shown).map_err(|_| Error::Request(format!("the clock shows {shown} ms since 1970")))
        }
    }
}
