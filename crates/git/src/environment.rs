//! The part of the environment that changes what git means. A door fills it in once; nothing in this crate
//! reads the environment itself, so that two answers never come from two different ones.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::syntax::parse_bool;

/// What git takes from its environment. Each text is the variable of that name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Environment {
    /// `GIT_DIR`: the repository, without looking for it.
    pub git_dir: Option<OsString>,
    /// `GIT_WORK_TREE`: the worktree, without looking for it.
    pub work_tree: Option<OsString>,
    /// `GIT_COMMON_DIR`: the directory that all worktrees share.
    pub common_dir: Option<OsString>,
    /// `GIT_IMPLICIT_WORK_TREE`: false keeps `GIT_DIR` from making the current directory a worktree.
    pub implicit_work_tree: Option<OsString>,
    /// `GIT_CEILING_DIRECTORIES`: where walking up ends.
    pub ceiling_directories: Option<OsString>,
    /// `GIT_DISCOVERY_ACROSS_FILESYSTEM`: whether walking up crosses a mount point.
    pub across_filesystem: Option<OsString>,
    /// `GIT_INDEX_FILE`: the index, as in a hook of a commit that takes only a part of what is staged.
    pub index_file: Option<OsString>,
    /// `GIT_OBJECT_DIRECTORY`: where objects are, as in a hook that sees a push before it is accepted.
    pub object_directory: Option<OsString>,
    /// `GIT_ALTERNATE_OBJECT_DIRECTORIES`: where they are too.
    pub alternate_object_directories: Option<OsString>,
    /// `HOME`.
    pub home: Option<OsString>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<OsString>,
    /// `GIT_CONFIG_SYSTEM`: the machine's configuration file.
    pub config_system: Option<OsString>,
    /// `GIT_CONFIG_NOSYSTEM`: true leaves the machine's configuration out.
    pub config_nosystem: Option<OsString>,
    /// `GIT_CONFIG_GLOBAL`: the user's configuration file.
    pub config_global: Option<OsString>,
    /// `GIT_CONFIG_PARAMETERS`: what `git -c` hands to the programs that it starts.
    pub config_parameters: Option<OsString>,
    /// `GIT_CONFIG_KEY_<n>` and `GIT_CONFIG_VALUE_<n>`, as many as `GIT_CONFIG_COUNT` says.
    pub config_pairs: Vec<(OsString, OsString)>,
    /// `GIT_SSH_COMMAND`: how servers are reached by ssh.
    pub ssh_command: Option<OsString>,
    /// Who writes the change of a commit.
    pub author: Named,
    /// Who makes a commit or moves a ref.
    pub committer: Named,
    /// `TZ`: the time zone.
    pub time_zone: Option<OsString>,
    /// `TZDIR`: where time zones are described.
    pub time_zones: Option<OsString>,
    /// Who asks: the effective user.
    pub user: u32,
    /// `SUDO_UID`: whom root stands in for.
    pub sudo_user: Option<u32>,
}

/// Somebody as the environment names them: `GIT_AUTHOR_NAME` and the like, or `GIT_COMMITTER_NAME`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Named {
    /// The name.
    pub name: Option<OsString>,
    /// The address.
    pub email: Option<OsString>,
    /// The moment.
    pub date: Option<OsString>,
}

/// More pairs than anybody passes; a count above it is a mistake or an attack.
const MOST_PAIRS: usize = 10_000;

impl Environment {
    /// An empty environment of this effective user.
    #[must_use]
    pub fn empty(user: u32) -> Self {
        Self::read(user, |_| None)
    }

    /// The environment that `lookup` shows, of this effective user.
    #[must_use]
    pub fn read(user: u32, lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let named = |who: &str| Named {
            name: lookup(&format!("GIT_{who}_NAME")),
            email: lookup(&format!("GIT_{who}_EMAIL")),
            date: lookup(&format!("GIT_{who}_DATE")),
        };
        Self {
            git_dir: lookup("GIT_DIR"),
            work_tree: lookup("GIT_WORK_TREE"),
            common_dir: lookup("GIT_COMMON_DIR"),
            implicit_work_tree: lookup("GIT_IMPLICIT_WORK_TREE"),
            ceiling_directories: lookup("GIT_CEILING_DIRECTORIES"),
            across_filesystem: lookup("GIT_DISCOVERY_ACROSS_FILESYSTEM"),
            index_file: lookup("GIT_INDEX_FILE"),
            object_directory: lookup("GIT_OBJECT_DIRECTORY"),
            alternate_object_directories: lookup("GIT_ALTERNATE_OBJECT_DIRECTORIES"),
            home: lookup("HOME"),
            xdg_config_home: lookup("XDG_CONFIG_HOME"),
            config_system: lookup("GIT_CONFIG_SYSTEM"),
            config_nosystem: lookup("GIT_CONFIG_NOSYSTEM"),
            config_global: lookup("GIT_CONFIG_GLOBAL"),
            config_parameters: lookup("GIT_CONFIG_PARAMETERS"),
            config_pairs: pairs(&lookup),
            ssh_command: lookup("GIT_SSH_COMMAND").filter(|command| !command.is_empty()),
            author: named("AUTHOR"),
            committer: named("COMMITTER"),
            time_zone: lookup("TZ"),
            time_zones: lookup("TZDIR"),
            user,
            sudo_user: lookup("SUDO_UID").and_then(|text| text.to_str()?.parse().ok()),
        }
    }

    /// Whether walking up may cross a mount point.
    pub(crate) fn crosses_file_systems(&self) -> bool {
        says(self.across_filesystem.as_deref(), false)
    }

    /// Whether `GIT_DIR` alone makes the current directory a worktree.
    pub(crate) fn implies_work_tree(&self) -> bool {
        says(self.implicit_work_tree.as_deref(), true)
    }

    /// Whether the machine's configuration counts.
    pub(crate) fn reads_system_config(&self) -> bool {
        !says(self.config_nosystem.as_deref(), false)
    }
}

fn says(variable: Option<&OsStr>, default: bool) -> bool {
    variable.and_then(|text| parse_bool(Some(text.as_bytes()))).unwrap_or(default)
}

fn pairs(lookup: &impl Fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    let count = lookup("GIT_CONFIG_COUNT").and_then(|text| text.to_str()?.parse().ok()).unwrap_or(0);
    let pair = |n| Some((lookup(&format!("GIT_CONFIG_KEY_{n}"))?, lookup(&format!("GIT_CONFIG_VALUE_{n}"))?));
    (0..count).take(MOST_PAIRS).map_while(pair).collect()
}
