//! Size and first lines of files.

use super::{Finding, Tree};

const MOST_LINES: usize = 600;

/// What people write by hand and read from top to bottom.
const WRITTEN: [&str; 7] = [".rs", ".ts", ".tsx", ".mjs", ".js", ".sh", ".md"];

/// How a page begins that a test writes and compares.
const GENERATED: &str = "<!-- generated";

/// How the first comment of a file begins, by what the file is called.
const HEADERS: [(&str, &[&str]); 2] = [("//!", &[".rs"]), ("//", &[".ts", ".tsx", ".mjs", ".js"])];

/// Files that are asked what they hide.
pub(super) fn too_long(tree: &Tree) -> Vec<Finding> {
    let written = tree.with_ending(&WRITTEN).filter(|(_, text)| !text.starts_with(GENERATED));
    let long = written.filter(|(_, text)| text.lines().count() > MOST_LINES);
    let what = |text: &str| format!("{} lines are more than {MOST_LINES}: split it", text.lines().count());
    long.map(|(path, text)| Finding::new(path, 0, what(text))).collect()
}

/// Source files whose first line does not say why they exist.
pub(super) fn without_header(tree: &Tree) -> Vec<Finding> {
    HEADERS.into_iter().flat_map(|(mark, endings)| silent(tree, mark, endings)).collect()
}

fn silent(tree: &Tree, mark: &str, endings: &[&str]) -> Vec<Finding> {
    let says = |text: &str| {
        let first = text.lines().find(|line| !line.starts_with("#!/"));
        let why = first.and_then(|line| line.strip_prefix(mark)?.strip_prefix(' '));
        why.is_some_and(|why| !why.is_empty())
    };
    let what = format!("the first line is no `{mark}` comment that says why the file exists");
    tree.with_ending(endings)
        .filter(|(_, text)| !says(text))
        .map(|(path, _)| Finding::new(path, 1, what.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_found() {
        let (fits, long) = ("x\n".repeat(600), "x\n".repeat(601));
        let tree = Tree::of(&[("fits.rs", &fits), ("long.rs", &long), ("data.json", &long)]);
        let found = too_long(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "long.rs: 601 lines are more than 600: split it");
    }

    #[test]
    fn a_source_file_without_a_first_word_is_found() {
        let tree =
            Tree::of(&[("a.rs", "//! Why.\n"), ("b.rs", "use x;\n"), ("c.rs", "//! \nx"), ("d.rs", "")]);
        let found: Vec<String> = without_header(&tree).into_iter().map(|finding| finding.file).collect();
        assert_eq!(found, ["b.rs", "c.rs", "d.rs"]);
        let tree = Tree::of(&[
            ("a.ts", "// Why.\n"),
            ("b.ts", "import x;\n"),
            ("c.mjs", "// \n"),
            ("d.js", ""),
            ("e.js", "#!/usr/bin/env node\n// Why.\n"),
        ]);
        let found: Vec<String> = without_header(&tree).into_iter().map(|finding| finding.file).collect();
        assert_eq!(found, ["b.ts", "c.mjs", "d.js"]);
    }
}
