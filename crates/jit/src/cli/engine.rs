//! `jit engine`: names, flags and help.

use clap::{Args, Subcommand, ValueEnum};

/// Where claims are kept.
#[derive(Subcommand, Debug)]
pub enum Engine {
    /// Have the claims of all clones kept in one place from now on
    #[command(subcommand)]
    Init(InitEngine),
    /// Show where claims are kept, and how old what is known of them is
    #[command(after_help = "Examples:\n  jit engine status\n  jit engine status --fresh --json")]
    Status {
        /// Ask the server first
        #[arg(long)]
        fresh: bool,
    },
    /// Check that the place can be reached, written and trusted; changes nothing
    #[command(after_help = "Exits with 7 if there is a problem.\n\nExample:\n  jit engine check")]
    Check,
    /// Give this clone an id of its own, after its machine or directory was copied
    #[command(
        after_help = "What the original holds stays the original's: claim again what is worked on here.\n\nExample:\n  \
        jit engine join"
    )]
    Join,
    /// Move the claims of all clones to another place; those in force go along
    #[command(
        after_help = "The old place is sealed, the new one is made with the same claims, and the old one says where they \
        are. Cut off at any moment, it can be typed again. Commit and push .jit/config.toml afterwards: other clones \
        are refused until they pull it. To local only without claims in force, and once in every clone.\n\nExamples:\n  \
        jit engine migrate --to git\n  jit engine migrate --to etcd --endpoints http://10.0.0.1:2379\n  \
        jit engine migrate --to local"
    )]
    Migrate(Migrate),
    /// End all claims of a place that was set back, restored or lost, and go on under a new counter
    #[command(
        after_help = "Everybody who works under a claim has to claim again. Fences from before no longer compare with \
        those that come. Commit and push .jit/config.toml afterwards.\n\nExample:\n  \
        jit engine recover --new-counter --reason 'the server was restored from a backup'"
    )]
    Recover {
        /// Number claims anew: says that ending all claims is meant
        #[arg(long, required = true)]
        new_counter: bool,
        /// Why, for whoever reads the history
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

/// Where claims move to.
#[derive(Args, Debug)]
pub struct Migrate {
    /// The engine that keeps them from then on
    #[arg(long, value_name = "ENGINE")]
    pub to: EngineName,
    /// The remote, for git
    #[arg(long, value_name = "REMOTE", default_value = "origin")]
    pub remote: String,
    /// The ref, for git
    #[arg(long = "ref", value_name = "REF", default_value = "refs/worktree/jit/claims")]
    pub register: String,
    /// The members, for etcd
    #[arg(long, value_name = "URL", num_args = 1.., value_delimiter = ',', required_if_eq("to", "etcd"))]
    pub endpoints: Vec<String>,
    /// What the claims are called in etcd; the name of the repository's directory unless given
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
}

/// The engines.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineName {
    /// This clone's own files
    Local,
    /// A ref of the git server
    Git,
    /// etcd
    Etcd,
}

/// The kinds of places.
#[derive(Subcommand, Debug)]
pub enum InitEngine {
    /// On a ref of the git server that everybody pushes to
    #[command(
        after_help = "It makes the ref and sets coordination.engine, remote, ref and counter in .jit/config.toml. \
        Commit and push that file: other clones find the claims by it. Killed at any moment, it can be typed \
        again.\n\nExamples:\n  jit engine init git\n  jit engine init git --remote upstream\n  \
        jit engine init git --ref refs/heads/jit/claims"
    )]
    Git(GitEngine),
    /// In etcd, reached through the JSON gateway of any of its members
    #[command(
        after_help = "It makes the keys below /holdfast/NAME/ and sets coordination.engine, endpoints, namespace and \
        counter in .jit/config.toml. Commit and push that file: other clones find the claims by it. Where etcd wants a \
        login: jit config set coordination.user NAME first; the password comes from JIT_ETCD_PASSWORD or from the file \
        etcd-password in the user's configuration directory, a token from JIT_ETCD_TOKEN or from the file etcd-token. Members are reached by http:// or by https://, then \
        believed by coordination.tls_ca or by what the system believes. Killed at any moment, it can be typed again.\n\nExamples:\n  \
        jit engine init etcd --endpoints http://10.0.0.1:2379\n  \
        jit engine init etcd --endpoints http://a:2379 http://b:2379 http://c:2379 --namespace team/website"
    )]
    Etcd(EtcdEngine),
}

/// Which keys of which cluster.
#[derive(Args, Debug)]
pub struct EtcdEngine {
    /// The members, any of which is asked
    #[arg(long, value_name = "URL", required = true, num_args = 1.., value_delimiter = ',')]
    pub endpoints: Vec<String>,
    /// What the claims are called there; the name of the repository's directory unless given
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
}

/// Which ref of which server.
#[derive(Args, Debug)]
pub struct GitEngine {
    /// The remote
    #[arg(long, value_name = "REMOTE", default_value = "origin")]
    pub remote: String,
    /// The ref; refs/jit/claims or one below refs/heads where the server takes no other
    #[arg(long = "ref", value_name = "REF", default_value = "refs/worktree/jit/claims")]
    pub register: String,
}
