//! The text of git's configuration: what a file assigns, and what a value means. The form of a repository and
//! the environment are read by it before there is any configuration.

mod parse;
mod value;

pub(crate) use parse::{Assignment, BadLine, parse};
pub(crate) use value::{parse_bool, parse_int};
