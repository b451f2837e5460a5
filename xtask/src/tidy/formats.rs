//! Every format has its number on one page, and the page says what the code says.

use super::{Finding, Tree};

const PAGE: &str = "spec/formats.md";
/// What such a number is called in the code.
const NAMES: [&str; 2] = ["const FORMAT: u64 = ", "const NEWEST: u64 = "];

/// Rows that name a line which is not there or another number, and numbers in the code that no row names.
pub(super) fn unstated(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else { return vec![Finding::new(PAGE, 0, "is missing")] };
    let mut findings = Vec::new();
    let mut known = Vec::new();
    for (index, line) in
        page.lines().enumerate().filter(|(_, line)| line.starts_with("| ") && line.contains("const "))
    {
        let cells: Vec<&str> = line.split(" | ").collect();
        let number = cells.get(1).map_or("", |cell| cell.trim());
        let words: Vec<&str> = cells.get(3).map(|cell| cell.split('`').collect()).unwrap_or_default();
        let (Some(code), Some(file)) = (words.get(1), words.get(3)) else {
            findings.push(Finding::new(PAGE, index + 1, "names no line of code and its file"));
            continue;
        };
        known.push((*file, *code));
        if !tree.text(file).is_some_and(|text| text.lines().any(|line| line.trim() == *code)) {
            findings.push(Finding::new(PAGE, index + 1, format!("`{code}` is not in {file}")));
        }
        if !code.split(|letter: char| !letter.is_ascii_digit()).any(|word| word == number) {
            findings.push(Finding::new(
                PAGE,
                index + 1,
                format!("says {number}, and the code says otherwise"),
            ));
        }
    }
    for (path, text) in tree
        .with_ending(&[".rs"])
        .filter(|(path, _)| path.starts_with("crates/") && !path.starts_with("crates/sim/"))
    {
        for (index, line) in text.lines().enumerate() {
            let names = NAMES.iter().any(|name| line.contains(name));
            if names && !known.contains(&(path, line.trim())) {
                findings.push(Finding::new(
                    path,
                    index + 1,
                    format!("a format whose number {PAGE} does not state"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str, code: &str) -> Vec<String> {
        let tree = Tree::of(&[(PAGE, page), ("crates/a/src/b.rs", code)]);
        unstated(&tree).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn the_page_and_the_code_say_the_same() {
        let row = "| a | 2 | [a](a.md) | `const FORMAT: u64 = 2;` in `crates/a/src/b.rs` | `a` |\n";
        assert_eq!(found(row, "const FORMAT: u64 = 2;\n"), Vec::<String>::new());
        assert_eq!(found(row, "const FORMAT: u64 = 3;\n").len(), 2, "not there, and not stated");
        assert_eq!(found("", "const FORMAT: u64 = 3;\n").len(), 1);
        assert_eq!(found(&row.replace("| 2 |", "| 1 |"), "const FORMAT: u64 = 2;\n").len(), 1);
        assert_eq!(unstated(&Tree::default()).len(), 1);
    }
}
