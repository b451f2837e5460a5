//! Documents: what there is to hold a lease on. Only their ids are kept here.

use holdfast_kernel::{Name, Table};

use crate::error::{Error, Result, moment, name};
use crate::medium::{Database, Found, Section};

/// Adds a document; says whether it was new.
///
/// # Errors
/// What cannot be used or failed.
pub fn doc_add(conn: &mut Database, doc_id: &str) -> Result<bool> {
    let doc = name("doc_id", doc_id)?;
    let section = conn.write()?;
    let found = section.on(&doc)?;
    if found.is_known {
        return Ok(false);
    }
    let statement = "INSERT INTO documents (doc_id) VALUES (?1)";
    section.tx().execute(statement, [doc.as_str()]).map_err(section.failed("write"))?;
    // One that was here before has its row still, so that no fence is granted again.
    if !found.has_row {
        section.add_row(&doc)?;
    }
    section.commit()?;
    Ok(true)
}

/// All documents, in the order of their ids.
///
/// # Errors
/// What failed.
pub fn doc_list(conn: &mut Database) -> Result<Vec<String>> {
    conn.look(documents)
}

/// Removes a document that nobody holds at `now_ms` and that has no overlays: those are removed under the lease on it.
/// The last fence of the document is kept.
///
/// # Errors
/// `DocNotFound`, `Held`, `HasOverlays`; then nothing has changed. Otherwise what cannot be used or failed.
pub fn doc_remove(conn: &mut Database, doc_id: &str, now_ms: i64) -> Result<()> {
    let (doc, now) = (name("doc_id", doc_id)?, moment(now_ms)?);
    let section = conn.write()?;
    let table = known(section.on(&doc)?, &doc)?;
    if let Some(lease) = table.iter().find(|lease| !lease.standing(&now).is_over()) {
        return Err(Error::held_at(lease, &now));
    }
    let query = "SELECT count(*) FROM lineage_overlays WHERE doc_id = ?1";
    let count =
        section.tx().query_row(query, [doc.as_str()], |row| row.get(0)).map_err(section.failed("read"))?;
    if count > 0 {
        return Err(Error::HasOverlays { doc: doc.as_str().to_owned(), count });
    }
    let statement = "DELETE FROM documents WHERE doc_id = ?1";
    section.tx().execute(statement, [doc.as_str()]).map_err(section.failed("write"))?;
    Ok(section.commit()?)
}

/// The lease on a document, if there is such a document.
pub(crate) fn known(found: Found, doc: &Name) -> Result<Table> {
    if found.is_known { Ok(found.table) } else { Err(Error::DocNotFound(doc.as_str().to_owned())) }
}

/// All documents, in the order of their ids.
pub(crate) fn documents(section: &Section<'_>) -> Result<Vec<String>> {
    let run = || -> rusqlite::Result<Vec<String>> {
        let mut query = section.tx().prepare_cached("SELECT doc_id FROM documents ORDER BY doc_id")?;
        query.query_map([], |row| row.get(0))?.collect()
    };
    Ok(run().map_err(section.failed("read"))?)
}
