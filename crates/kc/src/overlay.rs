//! Overlays: edges that people add to a document's lineage. Every change needs the lease on the document, and
//! is made in the transaction that checks it.

use holdfast_kernel::{Name, NameError, Stamp};
use holdfast_store::Held;
use rusqlite::{OptionalExtension, Row};

use crate::document::known;
use crate::error::{Error, Result, bounded, moment, name};
use crate::lock::under;
use crate::medium::{Database, Section};
use crate::secret::part;
use crate::wire::Overlay;

const IDENTITY: &str = "holdfast kc 2026 lineage overlay id v1";
const LONGEST_EVIDENCE: usize = 4_096;

const COLUMNS: &str = "overlay_id, doc_id, from_node_id, to_node_id, relation, evidence, \
                       created_at_ms, created_by, fence";

/// What an overlay says.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'a> {
    /// Where it begins.
    pub from_node_id: &'a str,
    /// Where it ends.
    pub to_node_id: &'a str,
    /// What it means.
    pub relation: &'a str,
    /// Why it is believed.
    pub evidence: &'a str,
}

/// Adds an overlay to a document, under the lease that `lock_token` proves at `created_at_ms`.
///
/// # Errors
/// `OverlayInvalid`, `OverlayConflict` if the same one is there, and whatever a missing lease gives; then
/// nothing has changed.
pub fn lineage_overlay_add(
    conn: &mut Database,
    doc_id: &str,
    edge: &Edge<'_>,
    lock_token: &str,
    created_at_ms: i64,
    created_by: &str,
) -> Result<Overlay> {
    let (doc, now) = (name("doc_id", doc_id)?, moment(created_at_ms)?);
    let unfenced = overlay(&doc, edge, &now, created_by)?;
    under(conn.write()?, &doc, lock_token, &now, |section, held| insert(section, held, unfenced))
}

/// Removes an overlay, under the lease on its document that `lock_token` proves at `now_ms`.
///
/// # Errors
/// `OverlayNotFound`, and whatever a missing lease gives; then nothing has changed.
pub fn lineage_overlay_remove(
    conn: &mut Database,
    overlay_id: &str,
    lock_token: &str,
    now_ms: i64,
) -> Result<()> {
    let now = moment(now_ms)?;
    let section = conn.write()?;
    let query = "SELECT doc_id FROM lineage_overlays WHERE overlay_id = ?1";
    let doc: Option<String> = section
        .tx()
        .query_row(query, [overlay_id], |row| row.get(0))
        .optional()
        .map_err(section.failed("read"))?;
    let doc = name("doc_id", &doc.ok_or_else(|| Error::OverlayNotFound(overlay_id.to_owned()))?)?;
    under(section, &doc, lock_token, &now, |section, held| delete(section, held, overlay_id))
}

/// The overlays of a document, in the order of their ids.
///
/// # Errors
/// `DocNotFound`; otherwise what failed.
pub fn lineage_overlay_list(conn: &mut Database, doc_id: &str) -> Result<Vec<Overlay>> {
    let doc = name("doc_id", doc_id)?;
    let query =
        format!("SELECT {COLUMNS} FROM lineage_overlays WHERE doc_id = ?1 ORDER BY doc_id, overlay_id");
    conn.look(|section| {
        known(section.on(&doc)?, &doc)?;
        let run = || -> rusqlite::Result<Vec<Overlay>> {
            section.tx().prepare_cached(&query)?.query_map([doc.as_str()], read)?.collect()
        };
        Ok(run().map_err(section.failed("read"))?)
    })
}

/// The overlay that these words make, before it has a fence.
fn overlay(doc: &Name, edge: &Edge<'_>, now: &Stamp, created_by: &str) -> Result<Overlay> {
    Ok(Overlay {
        overlay_id: identity(doc, edge),
        doc_id: doc.as_str().to_owned(),
        from_node_id: field("from_node_id", edge.from_node_id)?,
        to_node_id: field("to_node_id", edge.to_node_id)?,
        relation: field("relation", edge.relation)?,
        evidence: evidence(edge.evidence)?,
        created_at_ms: now.wall_ms(),
        created_by: field("created_by", created_by)?,
        fence: 0,
    })
}

/// An overlay is what it says, on which document: who says so, and when, makes no other one of it.
fn identity(doc: &Name, edge: &Edge<'_>) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(IDENTITY);
    for field in [doc.as_str(), edge.from_node_id, edge.to_node_id, edge.relation, edge.evidence] {
        part(&mut hasher, field.as_bytes());
    }
    format!("blake3:{}", hasher.finalize().to_hex())
}

fn field(field: &'static str, text: &str) -> Result<String> {
    let name = bounded(text).map_err(|why| Error::OverlayInvalid { field, why })?;
    Ok(name.as_str().to_owned())
}

fn evidence(text: &str) -> Result<String> {
    let invalid = |why| Error::OverlayInvalid { field: "evidence", why };
    match text {
        "" => Err(invalid(NameError::Empty)),
        long if long.len() > LONGEST_EVIDENCE => {
            Err(invalid(NameError::Long { bytes: long.len(), longest: LONGEST_EVIDENCE }))
        }
        text if text.chars().any(char::is_control) => Err(invalid(NameError::Control)),
        text => Ok(text.to_owned()),
    }
}

fn insert(section: &Section<'_>, held: &Held<'_>, unfenced: Overlay) -> Result<Overlay> {
    let overlay = Overlay { fence: held.lease().fence.get(), ..unfenced };
    let statement = format!(
        "INSERT INTO lineage_overlays ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (overlay_id) DO NOTHING"
    );
    let params = (
        &overlay.overlay_id,
        &overlay.doc_id,
        &overlay.from_node_id,
        &overlay.to_node_id,
        &overlay.relation,
        &overlay.evidence,
        overlay.created_at_ms,
        &overlay.created_by,
        overlay.fence,
    );
    match section.tx().execute(&statement, params).map_err(section.failed("write"))? {
        0 => Err(Error::OverlayConflict(overlay.overlay_id)),
        _ => Ok(overlay),
    }
}

/// The lease that is held is the one on the overlay's document.
fn delete(section: &Section<'_>, held: &Held<'_>, overlay_id: &str) -> Result<()> {
    let statement = "DELETE FROM lineage_overlays WHERE overlay_id = ?1 AND doc_id = ?2";
    let doc = held.lease().resource.text();
    match section.tx().execute(statement, [overlay_id, doc]).map_err(section.failed("write"))? {
        0 => Err(Error::OverlayNotFound(overlay_id.to_owned())),
        _ => Ok(()),
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Overlay> {
    Ok(Overlay {
        overlay_id: row.get(0)?,
        doc_id: row.get(1)?,
        from_node_id: row.get(2)?,
        to_node_id: row.get(3)?,
        relation: row.get(4)?,
        evidence: row.get(5)?,
        created_at_ms: row.get(6)?,
        created_by: row.get(7)?,
        fence: row.get(8)?,
    })
}
