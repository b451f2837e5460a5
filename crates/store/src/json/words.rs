//! The names that a door's users know things by. The log writes and reads them instead of its own, so
//! that the file of an issue tracker speaks of issues.

/// What things are called in a log and its index.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The resource, such as `issue_id`.
    pub resource: &'static str,
    /// The agent of a holder, such as `agent_id`.
    pub agent: &'static str,
    /// The place of a holder, such as `worktree_id`.
    pub place: &'static str,
    /// Tags that stand beside the fields above under their own names; others go to an object `tags`.
    pub tags: &'static [&'static str],
}

impl Words {
    /// The kernel's own words.
    pub const PLAIN: Self = Self { resource: "resource", agent: "agent", place: "place", tags: &[] };
}
