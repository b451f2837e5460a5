//! The manual pages of every command of a program, as the program prints them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::child::Child;

/// A page by its name, as `jit-claim-acquire`.
pub(super) type Pages = BTreeMap<String, String>;

/// Programs that have the flags of a command of another one, which starts them.
const HELPERS: [(&str, &str); 1] = [("jit-server", "jit-serve")];

/// Asks a program for its pages. One that is a helper gets a page that leads to the command that starts it.
pub(super) fn collect(program: &Path, name: &str, pages: &mut Pages) -> Result<(), String> {
    if is_helper(name, pages) {
        let starter = HELPERS.iter().find(|(helper, _)| *helper == name).map(|(_, page)| *page);
        if let Some(page) = starter {
            pages.insert(name.into(), format!(".so man1/{page}.1\n"));
        }
        return Ok(());
    }
    below(program, name, &[], pages)
}

/// Whether a program is started by another one, which has its page: as `jit-server`, or as `jit-NAME` where `jit NAME` is a
/// command.
pub(super) fn is_helper(name: &str, pages: &Pages) -> bool {
    HELPERS.iter().any(|(helper, _)| *helper == name) || pages.contains_key(name)
}

/// The page of one command, then those of the commands that it names.
fn below(program: &Path, name: &str, words: &[&str], pages: &mut Pages) -> Result<(), String> {
    let path = program.display().to_string();
    let said = Child::new(Path::new("."), &path, &[&["man"][..], words].concat()).quiet().run();
    if !said.ok {
        let typed = [&[name, "man"][..], words].concat().join(" ");
        return Err(format!("`{typed}` {}: {}", said.how, said.err.trim()));
    }
    let page = [&[name][..], words].concat().join("-");
    for word in commands(&page, &said.out) {
        below(program, name, &[words, &[&word]].concat(), pages)?;
    }
    pages.insert(page, said.out);
    Ok(())
}

/// The commands that a page names, as `jit\-claim(1)`.
fn commands(page: &str, text: &str) -> Vec<String> {
    let below = text.split_once(".SH SUBCOMMANDS").map_or("", |(_, rest)| rest);
    let section = below.split("\n.SH ").next().unwrap_or(below);
    let named = section.lines().filter_map(|line| line.strip_suffix("(1)"));
    named
        .filter_map(|line| Some(line.replace('\\', "").strip_prefix(page)?.strip_prefix('-')?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_below_are_read() {
        let text = ".SH OPTIONS\nx(1)\n.SH SUBCOMMANDS\n.TP\njit\\-claim\\-force\\-evict(1)\nEvict\n\
                    .TP\njit\\-claim\\-list(1)\nList\n.SH VERSION\njit\\-claim\\-no(1)\n";
        assert_eq!(commands("jit-claim", text), ["force-evict", "list"]);
        assert!(commands("jit-claim", ".SH NAME\n").is_empty());
    }

    #[test]
    fn a_program_that_another_one_starts_has_its_page() {
        let mut pages = Pages::from([("jit-board".into(), String::new())]);
        assert!(
            is_helper("jit-board", &pages) && is_helper("jit-server", &pages) && !is_helper("ic", &pages)
        );
        collect(Path::new("no-such-program"), "jit-server", &mut pages).unwrap();
        assert_eq!(pages.get("jit-server").map(String::as_str), Some(".so man1/jit-serve.1\n"));
        assert!(collect(Path::new("no-such-program"), "ic", &mut pages).unwrap_err().contains("`ic man`"));
    }
}
