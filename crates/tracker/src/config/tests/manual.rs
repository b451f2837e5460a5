//! The manual page is written from the table of keys.

use std::path::Path;

use super::*;

const INTRODUCTION: &str = "\
# Configuration

<!-- Written from the table of keys in `crates/tracker/src/config/keys.rs`; `HOLDFAST_BLESS=1 cargo nextest run -p
holdfast-tracker manual` writes it again. -->

Settings come from these files; the first one that has a key decides, key by key:

1. the repository's: `.jit/config.toml` in the worktree
2. the user's: `~/.config/jit/config.toml` (`JIT_CONFIG_HOME` names another directory)
3. the machine's: `/etc/jit/config.toml`
4. the defaults below

A file does not have to be there. One that is must be right: an unknown key, a value of the wrong type or out of
range, a key that is there twice, or a file that is a link, a pipe, longer than 1 MiB or not UTF-8 stops every
command with exit code 6, and all mistakes are named at once, each with its file and line.

<!-- not run by the tests: it would change the settings of whoever runs it -->
```sh
jit config show                                   # every key, its value and where it comes from
jit config get coordination.default_ttl_secs      # one value, for scripts
jit config set worktree.enforce_leases warn       # for this repository
jit config set --global agent.id agent:alice      # for this user
jit config reset worktree.enforce_leases          # back to what holds without it
jit config validate                               # everything that is wrong
```

`set` and `reset` change the bytes of that one setting: comments, order and spacing stay. A list is given as
`main,develop` or as `'[\"main\", \"develop\"]'`.
";

const AGENT: &str = "
# The agent

`agent.toml` stands beside the user's `config.toml` and says who works here. It is never read from a repository.
`jit config set --global agent.…` and `behavior.…` change it.
";

/// The list that is no key: how an entry of it looks.
fn escalations() -> String {
    let Form::Word(whens) = When::FORM else { panic!("a word") };
    let whens: String =
        whens.iter().map(|choice| format!("- `{}`: {}\n", choice.word, choice.means)).collect();
    format!(
        "
## `[[policy.escalate]]`

What is done when something takes too long or goes wrong ([policies](policies.md)): a list, each entry with `when`, with
`after_secs` (needed where `when` says longer, 0 otherwise), and with either `note` or `run`. The entries of all files count.
`run` is for the user's and the machine's file only. `jit config set` does not change it.

`when`:

{whens}"
    )
}

fn section(section: &Section) -> String {
    let rows: Vec<_> = section.keys.iter().map(row).collect();
    let table = format!("| key | value | default | |\n|---|---|---|---|\n{}", rows.concat());
    let words: Vec<_> = section.keys.iter().filter_map(words).collect();
    let more = if section.path == "policy" { escalations() } else { String::new() };
    format!("\n## `[{}]`\n\n{}\n\n{table}{}{more}", section.path, section.about, words.concat())
}

fn row(key: &Key) -> String {
    let none = if key.name.contains("<kind>") { "as for everybody" } else { "none" };
    let default = (key.default)().map_or(none.to_owned(), |value| format!("`{value}`"));
    let name = key.name.rsplit('.').next().unwrap();
    let value = match key.form {
        Form::Word(_) => key.form.expects().replace('"', "`"),
        _ => key.form.expects(),
    };
    format!("| `{name}` | {value} | {default} | {} |\n", key.about)
}

fn words(key: &Key) -> Option<String> {
    let Form::Word(choices) = key.form else { return None };
    let lines = choices.iter().map(|choice| format!("- `{}`: {}\n", choice.word, choice.means));
    let name = key.name.rsplit('.').next()?;
    Some(format!("\n`{name}`:\n\n{}", lines.collect::<String>()))
}

fn page() -> String {
    let common: String = CONFIG.0.iter().map(section).collect();
    let own: String = keys::AGENT.0.iter().map(section).collect();
    format!("{INTRODUCTION}{common}{AGENT}{own}")
}

#[test]
fn the_manual_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    if std::env::var_os("HOLDFAST_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page(), "HOLDFAST_BLESS=1 cargo nextest run -p holdfast-tracker manual");
}
