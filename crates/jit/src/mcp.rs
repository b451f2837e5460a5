//! `jit mcp`: the tracker as a server of the Model Context Protocol, on lines of JSON-RPC. It speaks the revisions that
//! clients use side by side: whatever a message says of itself decides how it is answered, so nothing is kept between
//! messages but who asks, what was claimed through this server, and what is landing.
//!
//! Calls of tools are done one after the other, in the order in which they came; everything else is answered at once.

mod advice;
mod keeper;
mod landing;
mod lock;
mod message;
mod outcome;
mod outlet;
mod server;
mod tools;

pub use server::serve;
pub use tools::Run;
