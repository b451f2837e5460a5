//! The door from all sides: the functions, the program, the procedure calls; many processes, killed processes,
//! and files that somebody else has been at.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start processes and look at files behind their back"
)]
#![expect(clippy::disallowed_macros, reason = "a test that is skipped says why")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

mod answers;
mod arm;
mod bench;
mod document;
mod faults;
mod frozen;
mod hostile;
mod init;
mod kill;
mod lineage;
mod power;
mod program;
mod releases;
mod rpc;
mod schema;
mod small;
mod traced;
mod validate;
