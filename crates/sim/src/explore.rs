//! Tries one run after the other: at random for large plans, every one that there is for small ones.

mod cover;
pub mod exhaustive;
pub mod random;
pub mod sites;
pub mod small;
