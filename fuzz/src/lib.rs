//! What the fuzz targets share: how bytes become commands or files, and what must hold afterwards.
//!
//! Nothing here catches a panic: for the fuzzer a failed assertion is the finding.

pub mod chain;
pub mod machine;
pub mod pair;
pub mod paths;
pub mod referee;
pub mod script;
