//! Questions about all issues at once: which can be worked on, which wait for what, which speak of something.
//! Nothing here writes, and nothing here decides about a lease: it only tells who holds one.

pub mod board;
pub mod claimed;
pub mod filter;
pub mod graph;
pub mod item;
pub mod search;

pub use board::{Board, Keep, Node, Reason, Which, can_be_worked_on, missing};
pub use claimed::Claimed;
pub use filter::Filter;
pub use item::Item;
