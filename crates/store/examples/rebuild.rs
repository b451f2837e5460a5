//! scratch
#![allow(
    clippy::all,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::unwrap_used,
    missing_docs
)]
use holdfast_store::{Medium, log::*};
use holdfast_sys::Sys;
use std::time::Instant;
fn main() {
    let d = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let sys = Sys::os();
    let words = Words { resource: "issue_id", agent: "agent_id", place: "worktree_id", tags: &["branch"] };
    for _ in 0..3 {
        let l = Log::new(
            sys.clone(),
            Paths {
                log: d.join("claims.jsonl"),
                index: d.join("claims.index.json"),
                guard: d.join("claims.lock"),
            },
            Settings { words, mode: 0o600, fsync_index: false },
        );
        let t = Instant::now();
        l.view().unwrap();
        let e = t.elapsed();
        println!("rebuild {:?} = {:.2} M/s", e, 1.0 / e.as_secs_f64());
    }
}
