//! The integrity check: holds everything in a vault against everything else in it. It only reads.

use std::collections::BTreeMap;
use std::path::Path;

use holdfast_kernel::{Lease, Table};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::medium::{Database, Section};

/// What was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Checked {
    /// Records of the history.
    pub events: u64,
    /// Leases that they leave.
    pub locks: u64,
    /// Overlays.
    pub overlays: u64,
}

/// Documents whose last fence or last record is not the one that the history has.
const FORGOTTEN: &str = "SELECT count(*) FROM
    (SELECT doc_id, max(sequence) FILTER (WHERE event IN ('granted', 'transferred')) AS granted,
       max(sequence) AS latest FROM lineage_lock_events GROUP BY doc_id)
    FULL JOIN lineage_edit_locks USING (doc_id)
    WHERE coalesce(granted, 0) IS NOT fence OR coalesce(latest, 0) IS NOT last";

/// Overlays whose document is missing or was not granted with their fence.
const HOMELESS: &str = "SELECT count(*) FROM lineage_overlays AS overlays
    LEFT JOIN lineage_lock_events AS grants ON grants.sequence = overlays.fence
    WHERE overlays.doc_id NOT IN (SELECT doc_id FROM documents) OR grants.doc_id IS NOT overlays.doc_id
      OR grants.event NOT IN ('granted', 'transferred')";

/// Checks the pages of the database, replays the history, and compares what it leaves with the locks.
///
/// # Errors
/// The first thing that is not as it must be.
pub fn verify(conn: &mut Database) -> Result<Checked> {
    let path = conn.path().to_path_buf();
    conn.look(|section| sound(section, &path))
}

fn sound(section: &Section<'_>, path: &Path) -> Result<Checked> {
    let wrong = |why: String| Error::Unusable { path: path.to_path_buf(), why };
    pages(section)?.map_or(Ok(()), |why| Err(wrong(why)))?;
    let locks = section.all()?;
    let (replayed, events) = section.replay()?;
    if by_document(&replayed) != by_document(&locks) {
        return Err(wrong("its locks are not what its history leaves: is it from two backups?".into()));
    }
    if count(section, FORGOTTEN)? > 0 {
        return Err(wrong(
            "its locks do not know the last fences of its history: is it from two backups?".into(),
        ));
    }
    if count(section, HOMELESS)? > 0 {
        return Err(wrong("it has overlays without a document or a grant".into()));
    }
    let overlays = count(section, "SELECT count(*) FROM lineage_overlays")?;
    Ok(Checked { events, locks: locks.len() as u64, overlays })
}

/// What is wrong with the pages of the database.
fn pages(section: &Section<'_>) -> Result<Option<String>> {
    let said: String = section
        .tx()
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(section.failed("check"))?;
    Ok((said != "ok").then(|| format!("its pages are damaged: {said}")))
}

fn by_document(table: &Table) -> BTreeMap<&str, &Lease> {
    table.iter().map(|lease| (lease.resource.text(), lease)).collect()
}

fn count(section: &Section<'_>, query: &str) -> Result<u64> {
    Ok(section.tx().query_row(query, [], |row| row.get(0)).map_err(section.failed("read"))?)
}
