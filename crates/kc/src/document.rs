//! Documents: what there is to hold a lease on. Only their ids are kept here.

use holdfast_kernel::{Name, Table};

use crate::error::{Error, Result, name};
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
