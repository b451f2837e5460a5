//! Breaks media on purpose, in a simulated machine, and tells when it succeeded.
//!
//! A [`plan`] says what processes set out to do, [`run()`] has them do it on a [`subject`] while the world is
//! as bad as a real one may be, the [`history`] remembers what they were told, and [`check`] says what must
//! hold of it. The `explore` modules try one run after the other; [`shrink`] makes a failing one short.
//! Nothing here is ever shipped, and nothing here knows how a medium works inside.

pub mod broken;
pub mod check;
pub mod explore;
pub mod history;
pub mod mix;
pub mod model;
pub mod plan;
pub mod recorder;
pub mod reference;
pub mod resources;
pub mod run;
pub mod shrink;
pub mod subject;
pub mod subjects;
pub mod words;

mod actor;
mod codec;
mod inspect;
mod scaffold;

pub use run::run;
