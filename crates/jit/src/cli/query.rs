//! `jit query`, `jit graph`, `jit search`: names, flags and help.

use clap::{Args, Subcommand, ValueEnum};
use holdfast_tracker::answers::list::Order;
use holdfast_tracker::error::Result;
use holdfast_tracker::queries::Filter;

/// Which issues are wanted.
#[derive(Args, Debug, Clone, Default)]
pub struct Filters {
    /// Only in this state; several as `a,b`
    #[arg(long, value_delimiter = ',')]
    pub state: Vec<String>,
    /// Only of this priority; several as `a,b`
    #[arg(long, value_delimiter = ',')]
    pub priority: Vec<String>,
    /// Only those that this one is meant to do
    #[arg(long, value_name = "NAME")]
    pub assignee: Option<String>,
    /// Only with this label; with all of them as `a,b`
    #[arg(long, value_delimiter = ',')]
    pub label: Vec<String>,
    /// Only of this type; several as `a,b`
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub kind: Vec<String>,
}

impl Filters {
    /// The filter that was typed.
    ///
    /// # Errors
    /// When a word is not known.
    pub fn parse(&self) -> Result<Filter> {
        let filter = Filter::parse(&self.state, &self.priority, self.assignee.as_deref(), &self.label)?;
        Ok(filter.of_types(&self.kind))
    }
}

/// Which issues are listed, how many, and in which order.
#[derive(Args, Debug, Clone, Default)]
pub struct ListFilters {
    /// Which issues are wanted.
    #[command(flatten)]
    pub filters: Filters,
    /// Only the parts of this issue
    #[arg(long, value_name = "ISSUE")]
    pub parent: Option<String>,
    /// Only what this agent has claimed or is meant to do
    #[arg(long)]
    pub mine: bool,
    /// Only what was changed since then: a moment, or a time such as `30m`, `12h`, `7d`
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// In which order
    #[arg(long, value_name = "BY")]
    pub sort: Option<Sort>,
    /// At most so many; 50 on a terminal if not given
    #[arg(long, value_name = "NUMBER", conflicts_with = "all")]
    pub limit: Option<usize>,
    /// All of them
    #[arg(long)]
    pub all: bool,
    /// How old what is known of the claims may be.
    #[command(flatten)]
    pub claims: Fresh,
}

/// How old what is shown of the claims may be, where several machines share them.
#[derive(Args, Clone, Copy, Default, Debug)]
pub struct Fresh {
    /// Ask the server that keeps the claims first, and fail if it does not answer
    #[arg(long)]
    pub fresh: bool,
}

/// In which order issues are listed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    /// The oldest first
    Created,
    /// What was changed last first
    Updated,
    /// What matters most first
    Priority,
    /// By title
    Title,
}

impl From<Sort> for Order {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Created => Self::Created,
            Sort::Updated => Self::Updated,
            Sort::Priority => Self::Priority,
            Sort::Title => Self::Title,
        }
    }
}

/// What happened.
#[derive(Args, Debug)]
pub struct Log {
    /// The issue; all if not given
    pub id: Option<String>,
    /// At most so many, the last ones; 50 on a terminal if not given
    #[arg(long, value_name = "NUMBER", conflicts_with = "all")]
    pub limit: Option<usize>,
    /// All of them
    #[arg(long)]
    pub all: bool,
}

/// Questions about all issues.
#[derive(Subcommand, Debug)]
pub enum Query {
    /// The issues of this worktree; with a filter, all that can be seen from it
    #[command(after_help = "Examples:\n  jit query all\n  jit query all --state in_progress --json")]
    All(ListFilters),
    /// What can be worked on: ready, waiting for nothing, claimed by nobody
    #[command(
        after_help = "Examples:\n  jit query available\n  jit query available --label ui --priority high"
    )]
    Available(ListFilters),
    /// What waits, and for what
    Blocked(Filters),
}

/// What waits for what.
#[derive(Subcommand, Debug)]
pub enum Graph {
    /// What an issue depends on, as a tree
    Show {
        /// The issue
        id: String,
        /// Say who holds what
        #[arg(long)]
        show_claims: bool,
    },
    /// What depends on an issue, as a tree
    Downstream {
        /// The issue
        id: String,
        /// Say who holds what
        #[arg(long)]
        show_claims: bool,
    },
    /// The open issues that no open issue depends on
    Roots,
    /// The whole graph, for other programs
    #[command(after_help = "Examples:\n  jit graph export --format dot | dot -Tsvg > graph.svg\n  \
        jit graph export --format mermaid")]
    Export {
        /// In which form
        #[arg(long, value_enum, default_value_t = GraphFormat::Json)]
        format: GraphFormat,
    },
}

/// In which form a graph is exported.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// For Graphviz
    Dot,
    /// For Markdown pages
    Mermaid,
    /// For programs
    Json,
}

/// What to look for.
#[derive(Args, Debug)]
pub struct Search {
    /// Words that must all be somewhere in the issue
    #[arg(required = true)]
    pub words: Vec<String>,
    /// Which issues are wanted.
    #[command(flatten)]
    pub filters: Filters,
    /// At most so many; 0 for all
    #[arg(long, default_value_t = 50)]
    pub limit: usize,
}
