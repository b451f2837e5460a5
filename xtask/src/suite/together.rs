//! A block of a page, run by several agents at once: each in the worktree that has its name, all of them command by
//! command together, so that what one does shows what it does to the others.

/// The commands for a shell in whose home the worktrees are. There is an issue for each agent; they fail unless each
/// agent comes to its end with an issue of its own in the variable `issue`, which nobody else ever held.
pub(super) fn script(agents: &[String], commands: &str) -> String {
    let names = agents.join(" ");
    format!(
        r#"(
set +x
names="{names}"
meet=$(mktemp -d "$HOME/meet.XXXXXX")
{SETUP}
for name in $names; do
    (
        cd "$HOME/$name"
        export JIT_AGENT_ID="agent:$name"
        {LOCKSTEP}
{commands}
        trap - DEBUG
        printf '%s\n' "$issue" > "$meet/$name.issue"
    ) > "$meet/$name.out" 2>&1 &
    printf '%s\n' "$!" > "$meet/$name.pid"
done
{VERDICT}
)"#
    )
}

/// One issue for each, where every worktree sees it.
const SETUP: &str = r#"main=$(git -C "$HOME/${names%% *}" worktree list --porcelain | sed -n '1s/^worktree //p')
for name in $names; do
    jit -C "$main" --agent-id person:reader issue create -q --title "Something to do" > "$meet/made"
done"#;

/// Before each command, everybody waits for everybody else who is still there. Whoever finishes has done something.
const LOCKSTEP: &str = r#"_step=0
        _together() {
            _step=$((_step + 1))
            : > "$meet/$name.$_step"
            for _other in $names; do
                until [ -e "$meet/$_other.$_step" ] || [ -e "$meet/$_other.gone" ]; do sleep 0.01; done
            done
            case $BASH_COMMAND in 'jit finish'*) echo "$name" > "work-of-$name" ;; esac
            echo "+ $BASH_COMMAND"
        }
        trap ': > "$meet/$name.gone"' EXIT
        trap _together DEBUG"#;

const VERDICT: &str = r#"failed=
for name in $names; do
    wait "$(cat "$meet/$name.pid")" || failed="$failed $name"
    sed "s/^/$name: /" "$meet/$name.out"
done
if [ -n "$failed" ]; then echo "did not come to the end:$failed"; exit 1; fi
for name in $names; do
    issue=$(cat "$meet/$name.issue")
    holders=$(jit -C "$main" claim history --issue "$issue" --json | grep -o '"agent_id":"[^"]*"' | sort -u)
    if [ "$holders" != "\"agent_id\":\"agent:$name\"" ]; then
        echo "$name worked on '$issue', which was held by: $holders"
        exit 1
    fi
done
rm -r "$meet""#;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::child::{Child, Ended};

    /// Two agents that have no issues to work on: only how they run is looked at.
    fn run(home: &Path, commands: &str) -> Ended {
        for name in ["one", "two"] {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        let script = script(&["one".into(), "two".into()], commands).replace(SETUP, "");
        let script = script.split("for name in $names; do\n    issue=").next().unwrap().to_owned() + ")";
        let home = home.display().to_string();
        Child::new(Path::new(&home), "bash", &["-euo", "pipefail", "-c", &script])
            .env("HOME", &home)
            .quiet()
            .run()
    }

    #[test]
    fn nobody_is_ahead_of_anybody() {
        let home = tempfile::tempdir().unwrap();
        let commands =
            "issue=1\necho \"$JIT_AGENT_ID\" >> ../seen\nsort ../seen\necho more >> ../seen\nsort ../seen";
        let ended = run(home.path(), commands);
        assert!(ended.ok, "{}{}", ended.out, ended.err);
        for name in ["one", "two"] {
            let mine: Vec<&str> =
                ended.out.lines().filter_map(|line| line.strip_prefix(&format!("{name}: "))).collect();
            let mine: Vec<&str> = mine.into_iter().filter(|line| !line.starts_with('+')).collect();
            assert_eq!(
                mine,
                ["agent:one", "agent:two", "agent:one", "agent:two", "more", "more"],
                "{}",
                ended.out
            );
        }
    }

    #[test]
    fn who_fails_is_named_and_keeps_nobody_waiting() {
        let home = tempfile::tempdir().unwrap();
        let ended = run(home.path(), "issue=1\n[ \"$JIT_AGENT_ID\" = agent:one ]\necho on\necho and on");
        assert!(!ended.ok && ended.out.contains("did not come to the end: two\n"), "{}", ended.out);
        assert!(ended.out.contains("one: and on"), "{}", ended.out);
    }
}
