//! The rules of the lock, held to the functions, the program and the procedure calls. Together in one room so that
//! `cargo test -p holdfast-kc -- lineage` runs them, as the requirement's gate asks.

mod agree;
mod forge;
mod race;
mod refusals;
mod replay;
mod tampered;
