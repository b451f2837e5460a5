//! What the doors share: how they talk to terminals and pipes, in words and in JSON, with tables and colours. What comes
//! from outside loses here what a terminal would act on; what is said, and with which exit code, is each door's own.

mod grid;
mod manual;
mod notes;
mod paint;
mod print;
mod text;

pub use grid::{Cell, grid, table};
pub use manual::{find, manual};
pub use notes::Notes;
pub use paint::{Colour, Paint, is_dumb};
pub use print::{Answer, deliver, or_enough, print, typed_wrong};
pub use text::{Clean, clean};
