//! What can be typed. Only names, flags and help: what they mean is in `commands`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

/// Turns on the lineage of documents.
///
/// To change a document's overlays, acquire the lease on it, pass the token with every change, and release the
/// lease. A lease ends after fifteen minutes. Answers are one line of JSON; errors go to stderr
/// as `CODE: message`, with exit code 1.
#[derive(Parser, Debug)]
#[command(
    name = "kc_cli",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  kc_cli vault init notes.vault\n  kc_cli doc add notes.vault chapter-1\n  \
        kc_cli lineage lock acquire notes.vault chapter-1 ann"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Vaults: where documents and their locks are kept
    #[command(subcommand)]
    Vault(Vault),
    /// Documents
    #[command(subcommand)]
    Doc(Doc),
    /// The lineage of documents
    #[command(subcommand)]
    Lineage(Lineage),
    /// Serve requests on stdin, one JSON object per line; replies go to stdout
    #[command(after_help = "Example:\n  \
        echo '{\"method\":\"lineage_lock_status\",\"params\":{\"now_ms\":1700000000000}}' | kc_cli rpc notes.vault")]
    Rpc {
        /// The vault's directory
        vault: PathBuf,
    },
    /// Print a JSON Schema, or the names of all
    #[command(after_help = "Example:\n  kc_cli schema lineage_lock.v1")]
    Schema {
        /// Which one
        name: Option<String>,
    },
    /// Print a script that completes commands in a shell
    #[command(
        after_help = "Example:\n  kc_cli completions bash > ~/.local/share/bash-completion/completions/kc_cli"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page of a command
    #[command(after_help = "Example:\n  kc_cli man lineage lock | man -l -")]
    Man {
        /// The command, as `lineage lock acquire`; the program itself if not given
        command: Vec<String>,
    },
}

/// Vaults.
#[derive(Subcommand, Debug)]
pub enum Vault {
    /// Make a vault; where there is one, change nothing
    #[command(after_help = "Example:\n  kc_cli vault init notes.vault")]
    Init {
        /// The directory to make
        vault: PathBuf,
    },
    /// Hold everything in a vault against everything else in it
    #[command(after_help = "Example:\n  kc_cli vault check notes.vault")]
    Check {
        /// The vault's directory
        vault: PathBuf,
    },
}

/// Documents.
#[derive(Subcommand, Debug)]
pub enum Doc {
    /// Add a document; where there is one, change nothing
    #[command(after_help = "Example:\n  kc_cli doc add notes.vault chapter-1")]
    Add {
        /// The vault's directory
        vault: PathBuf,
        /// The document
        doc_id: String,
    },
    /// List the documents
    #[command(after_help = "Example:\n  kc_cli doc list notes.vault")]
    List {
        /// The vault's directory
        vault: PathBuf,
    },
    /// Remove a document that nobody holds and that has no overlays
    #[command(after_help = "Example:\n  kc_cli doc remove notes.vault chapter-1")]
    Remove {
        /// The vault's directory
        vault: PathBuf,
        /// The document
        doc_id: String,
        #[command(flatten)]
        now: Now,
    },
}

/// The lineage of documents.
#[derive(Subcommand, Debug)]
pub enum Lineage {
    /// Leases: who may change the overlays of a document
    #[command(subcommand)]
    Lock(Lock),
    /// Edges that were added to a document's lineage
    #[command(subcommand)]
    Overlay(Overlay),
}

/// The moment that an operation happens at.
#[derive(Args, Debug, Clone, Copy)]
pub struct Now {
    /// The moment, in milliseconds since 1970; the machine's clock if not given
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub now_ms: Option<i64>,
}

/// Leases on documents.
#[derive(Subcommand, Debug)]
pub enum Lock {
    /// Acquire the lease on a document; the answer has the token that proves it
    #[command(after_help = "Examples:\n  kc_cli lineage lock acquire notes.vault chapter-1 ann\n  \
        token=$(kc_cli lineage lock acquire -q notes.vault chapter-1 ann)")]
    Acquire {
        /// The vault's directory
        vault: PathBuf,
        /// The document
        doc_id: String,
        /// Who takes it
        owner: String,
        /// Print the token alone
        #[arg(short, long)]
        quiet: bool,
        #[command(flatten)]
        now: Now,
    },
    /// Give the lease back
    #[command(after_help = "Example:\n  kc_cli lineage lock release notes.vault chapter-1 \"$token\"")]
    Release {
        /// The vault's directory
        vault: PathBuf,
        /// The document
        doc_id: String,
        /// The token that `acquire` answered
        #[arg(default_value = "", hide_default_value = true)]
        token: String,
    },
    /// Show who holds the lease, on one document or on each
    #[command(after_help = "Examples:\n  kc_cli lineage lock status notes.vault\n  \
        kc_cli lineage lock status notes.vault chapter-1")]
    Status {
        /// The vault's directory
        vault: PathBuf,
        /// The document
        doc_id: Option<String>,
        #[command(flatten)]
        now: Now,
    },
}

/// Overlays.
#[derive(Subcommand, Debug)]
pub enum Overlay {
    /// Add an edge to a document's lineage, under the lease on it
    #[command(after_help = "Example:\n  kc_cli lineage overlay add notes.vault chapter-1 \
        page-4 page-9 cites 'see the footnote' \"$token\" --created-by ann")]
    Add(Box<AddOverlay>),
    /// Remove an edge, under the lease on its document
    #[command(after_help = "Example:\n  kc_cli lineage overlay remove notes.vault \"$overlay\" \"$token\"")]
    Remove {
        /// The vault's directory
        vault: PathBuf,
        /// The overlay
        overlay_id: String,
        /// The token that `lock acquire` answered
        #[arg(default_value = "", hide_default_value = true)]
        lock_token: String,
        #[command(flatten)]
        now: Now,
    },
    /// List the edges that were added to a document's lineage
    #[command(after_help = "Example:\n  kc_cli lineage overlay list notes.vault chapter-1")]
    List {
        /// The vault's directory
        vault: PathBuf,
        /// The document
        doc_id: String,
    },
}

/// What an overlay is made from.
#[derive(Args, Debug)]
pub struct AddOverlay {
    /// The vault's directory
    pub vault: PathBuf,
    /// The document
    pub doc_id: String,
    /// Where the edge begins
    pub from: String,
    /// Where it ends
    pub to: String,
    /// What it means
    pub relation: String,
    /// Why it is believed
    pub evidence: String,
    /// The token that `lock acquire` answered
    #[arg(default_value = "", hide_default_value = true)]
    pub lock_token: String,
    /// Who adds it
    #[arg(long, value_name = "NAME", default_value = crate::rpc::SOMEBODY)]
    pub created_by: String,
    /// Print the overlay's id alone
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub now: Now,
}
