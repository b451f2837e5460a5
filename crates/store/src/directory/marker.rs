//! `.fallback`: what a script that locks by plain `mkdir` says of itself. A script cannot be trusted to say it
//! well, so whatever is missing or wrong only means that nobody knows whether it is still there.

use std::path::Path;

use holdfast_kernel::{BootId, Name};
use holdfast_sys::{ProcessId, Sys};
use serde::Deserialize;

use super::layout::FALLBACK;
use crate::whole;

/// What a script has said of itself.
pub(super) struct Marker {
    /// The bytes, to tell this marker from another.
    pub(super) bytes: Vec<u8>,
    /// What it calls itself.
    pub(super) owner: Option<Name>,
    /// Which process it is.
    pub(super) process: Option<ProcessId>,
}

#[derive(Deserialize)]
struct Wire {
    owner: String,
    pid: u32,
    host: String,
    start: Option<u64>,
    boot: Option<String>,
    namespace: Option<u64>,
}

/// The marker in a lock's directory, if there is one. One that cannot be read says nothing.
pub(super) fn read(sys: &Sys, dir: &Path) -> Option<Marker> {
    let path = dir.join(FALLBACK);
    let bytes = match whole::read(sys, &path) {
        Ok(bytes) => bytes?,
        Err(_) => Vec::new(),
    };
    let wire = serde_json::from_slice::<Wire>(&bytes).ok();
    let owner = wire.as_ref().and_then(|wire| Name::new(&wire.owner).ok());
    Some(Marker { owner, process: wire.and_then(process), bytes })
}

/// The process, if all is said that tells it from others.
fn process(wire: Wire) -> Option<ProcessId> {
    let hex: String = wire.boot?.chars().filter(|c| *c != '-').collect();
    let boot = u128::from_str_radix(&hex, 16).ok().filter(|_| hex.len() == 32);
    Some(ProcessId {
        host: wire.host,
        boot: Some(BootId::new(boot?)),
        namespace: wire.namespace?,
        pid: wire.pid,
        start: wire.start?,
    })
}
