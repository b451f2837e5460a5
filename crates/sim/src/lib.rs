//! Breaks media on purpose, in a simulated machine, and tells when it succeeded.
pub mod check;
pub mod history;
pub mod model;
pub mod words;
