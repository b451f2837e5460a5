//! How this repository is tested, measured and kept tidy.
//!
//! Nothing here is shipped, and nothing here decides whether the product is right: it starts what does,
//! says what it started, and never lets a step that did not run look like one that passed.

pub mod args;
pub mod bench;
pub mod compiler;
pub mod coverage;
pub mod fixtures;
pub mod fuzz;
pub mod mutants;
pub mod package;
pub mod picture;
pub mod programs;
pub mod release;
pub mod repository;
pub mod site;
pub mod soak;
pub mod suite;
pub mod tidy;

mod browser;
mod child;
mod explained;
mod report;
mod tools;
