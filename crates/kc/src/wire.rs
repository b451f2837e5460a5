//! What callers get to read: the forms that the schemas describe. Only a [`Lease`] carries a token, and only
//! whoever acquired it gets one.

use serde::{Deserialize, Serialize};

/// A lease, as told to whoever acquired it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// The document.
    pub doc_id: String,
    /// Who holds the lease.
    pub owner: String,
    /// What proves it.
    pub token: String,
    /// The number of the grant, larger than all before it.
    pub fence: u64,
    /// When it was granted.
    pub acquired_at_ms: u64,
    /// When it is over.
    pub expires_at_ms: u64,
}

/// Who holds the lease on a document, as told to everybody.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// The document.
    pub doc_id: String,
    /// Whether somebody holds the lease.
    pub held: bool,
    /// Who has it, or had it last and let it run out.
    pub owner: Option<String>,
    /// The number of that grant.
    pub fence: Option<u64>,
    /// When it was granted.
    pub acquired_at_ms: Option<u64>,
    /// When it is or was over.
    pub expires_at_ms: Option<u64>,
}

/// An edge that somebody added to a document's lineage.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// Its id, made from what it says.
    pub overlay_id: String,
    /// The document.
    pub doc_id: String,
    /// Where the edge begins.
    pub from_node_id: String,
    /// Where it ends.
    pub to_node_id: String,
    /// What it means.
    pub relation: String,
    /// Why it is believed.
    pub evidence: String,
    /// When it was added.
    pub created_at_ms: u64,
    /// Who added it.
    pub created_by: String,
    /// The number of the grant that it was added under.
    pub fence: u64,
}
