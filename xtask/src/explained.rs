//! Pages that explain, in a table, what a measurement found: a row for each finding, and none besides.

/// The names in the first cells of a page's tables: "| `name` | why |". A bar in a name has a backslash before it there.
pub(crate) fn rows(page: &str) -> Vec<String> {
    let cells = page.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once("` |")?.0));
    cells.map(|cell| cell.replace("\\|", "|")).collect()
}

/// What was `said`, if each finding has a row of the page and, where `stray` says what to call them, there are no others.
pub(crate) fn judge(
    said: String,
    found: Vec<String>,
    rows: Vec<String>,
    page: &str,
    stray: Option<&str>,
) -> Result<String, String> {
    let (missing, extra) = compare(found, rows);
    let mut wrong: Vec<String> = missing.iter().map(|name| format!("not explained: {name}")).collect();
    if let Some(stray) = stray {
        wrong.extend(extra.iter().map(|row| format!("{stray}: {row}")));
    }
    if wrong.is_empty() {
        Ok(said)
    } else {
        Err(format!("{said}; {page} is not right:\n{}", wrong.join("\n")))
    }
}

/// The findings without a row, and the rows without a finding. Two of the same name need two rows.
fn compare(found: Vec<String>, mut rows: Vec<String>) -> (Vec<String>, Vec<String>) {
    let mut missing = found;
    missing.retain(|name| match rows.iter().position(|row| row == name) {
        Some(at) => {
            rows.remove(at);
            false
        }
        None => true,
    });
    (missing, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_explains_one_finding() {
        let page = "# Page\n\n| what | why |\n|---|---|\n| `a \\| b` | reason |\n| `c` | `code` |\n| d | no name |\n";
        assert_eq!(rows(page), ["a | b", "c"]);
        let found = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(compare(found(&["c", "a | b"]), rows(page)), (found(&[]), found(&[])));
        assert_eq!(compare(found(&["c", "c"]), rows(page)), (found(&["c"]), found(&["a | b"])));
    }
}
