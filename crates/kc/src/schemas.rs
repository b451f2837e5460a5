//! The registry of JSON Schemas: what callers get, described for programs. Tests hold real output to them.

/// One schema.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// What it is called.
    pub name: &'static str,
    /// The schema itself, in JSON.
    pub text: &'static str,
}

/// All schemas, in the order of their names.
pub const REGISTRY: [Schema; 4] = [
    Schema { name: "app_error.v1", text: include_str!("../schemas/app_error.v1.json") },
    Schema { name: "lineage_lock.v1", text: include_str!("../schemas/lineage_lock.v1.json") },
    Schema { name: "lineage_lock_status.v1", text: include_str!("../schemas/lineage_lock_status.v1.json") },
    Schema { name: "lineage_overlay.v1", text: include_str!("../schemas/lineage_overlay.v1.json") },
];

/// The schema of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Schema> {
    REGISTRY.iter().find(|schema| schema.name == name)
}
