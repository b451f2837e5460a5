//! Who asks in tests: an agent with nothing of this machine's configuration.

use std::path::Path;
use std::sync::Arc;

use holdfast_git::Environment;
use holdfast_sys::Sys;
use holdfast_tracker::{Caller, Silent};

/// Whoever asks in a worktree.
pub(crate) fn caller(sys: &Sys, root: &Path) -> Caller {
    Caller {
        sys: sys.clone(),
        start: root.to_path_buf(),
        git: Environment::empty(holdfast_sys::os::effective_user()),
        author_date: None,
        typed_agent: None,
        agent: Some("agent:a".into()),
        publishes: false,
        etcd_password: None,
        etcd_token: None,
        config_home: None,
        cache_home: None,
        listener: Arc::new(Silent),
    }
}
