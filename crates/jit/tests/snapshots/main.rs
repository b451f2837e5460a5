//! What every command prints, to the letter: each file in `scripts` is a session in a shell, and below each command
//! stand its stdout, its stderr and its exit status. `HOLDFAST_BLESS=1` writes them anew.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start processes and read files of this repository"
)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

mod coverage;
mod diff;
mod help;
mod json;
mod kept;
mod schema;
mod script;
mod stable;

macro_rules! scripts {
    ($($name:ident),* $(,)?) => {
        /// Every file in `scripts`.
        pub(crate) const SCRIPTS: &[&str] = &[$(stringify!($name)),*];

        mod scripts {
            $(
                #[test]
                fn $name() {
                    crate::script::check(stringify!($name));
                }
            )*
        }
    };
}

scripts!(
    approvals,
    claim,
    claim_refused,
    config,
    demo,
    dep,
    dispatch,
    doc,
    doctor,
    engine,
    gate,
    graph,
    heartbeat,
    hook,
    hooks,
    import,
    issue,
    mcp,
    merge,
    prime,
    push,
    query,
    recover,
    reserve,
    setup,
    shell,
    start,
    usage,
    validate,
    watch,
    work,
    worktree,
);
