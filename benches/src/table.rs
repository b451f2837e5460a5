//! The table, for people at a terminal and as Markdown.

use crate::row::{HEADINGS, Row};

/// The rows in columns.
#[must_use]
pub fn text(rows: &[Row]) -> String {
    let cells: Vec<[String; 6]> = lines(rows);
    let widths: [usize; 6] = std::array::from_fn(|column| {
        cells.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    });
    let line = |cells: &[String; 6]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    cells.iter().map(line).collect()
}

/// The rows as a Markdown table.
#[must_use]
pub fn markdown(rows: &[Row]) -> String {
    let line = |cells: &[String; 6]| format!("| {} |\n", cells.join(" | "));
    let mut lines: Vec<String> = lines(rows).iter().map(line).collect();
    lines.insert(1, format!("|{}\n", "---|".repeat(HEADINGS.len())));
    lines.concat()
}

fn lines(rows: &[Row]) -> Vec<[String; 6]> {
    std::iter::once(HEADINGS.map(Into::into)).chain(rows.iter().map(Row::cells)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_every_cell() {
        let rows = [Row::of_rate("simulated calls", 1e6), Row::of_rate("x", 12.0)];
        let text = text(&rows);
        assert_eq!(text.lines().count(), 3);
        assert_eq!(text.lines().nth(1).unwrap().find('–'), text.lines().next().unwrap().find("floor"));
        let page = markdown(&rows);
        assert_eq!(page.lines().nth(1), Some("|---|---|---|---|---|---|"));
        assert_eq!(page.lines().nth(2), Some("| simulated calls | – | 1.00 M/s | – | – | – |"));
    }
}
