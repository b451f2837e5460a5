//! What the fuzz targets share: how bytes become a script of commands, and what must hold after each.
//!
//! Nothing here catches a panic: for the fuzzer a failed assertion is the finding.

pub mod referee;
pub mod script;
