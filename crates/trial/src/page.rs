//! The tables of `spec/errors.md`, so that each door can hold its cells against what it does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A page of Markdown with tables.
pub struct Page {
    path: PathBuf,
    text: String,
}

/// A table: its rows by their first cell, each with its cells by their column.
pub type Table = BTreeMap<String, BTreeMap<String, String>>;

impl Page {
    /// `spec/errors.md`.
    ///
    /// # Panics
    /// If it cannot be read.
    #[must_use]
    pub fn errors() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/errors.md");
        let text = std::fs::read_to_string(&path).unwrap();
        Self { path, text }
    }

    /// The table under a heading. First cells are without their backticks.
    ///
    /// # Panics
    /// If there is no such heading, it has no table, or two rows begin alike.
    #[must_use]
    pub fn table(&self, heading: &str) -> Table {
        let mut lines = self.section(heading).lines().filter(|line| line.starts_with('|'));
        let columns = cells(lines.next().unwrap_or_else(|| panic!("no table under '{heading}'")));
        let mut table = Table::new();
        for line in lines.skip(1) {
            let row = cells(line);
            assert_eq!(row.len(), columns.len(), "as many cells as columns: {line}");
            let first = row[0].trim_matches('`').to_owned();
            let row = columns.iter().cloned().zip(row).collect();
            assert!(table.insert(first.clone(), row).is_none(), "two rows of '{first}' under '{heading}'");
        }
        table
    }

    /// The rows of several tables together.
    ///
    /// # Panics
    /// As [`Page::table`] does, and if two tables have the same row.
    #[must_use]
    pub fn tables(&self, headings: &[&str]) -> Table {
        let mut all = Table::new();
        for heading in headings {
            for (first, row) in self.table(heading) {
                assert!(all.insert(first.clone(), row).is_none(), "'{first}' is in two tables");
            }
        }
        all
    }

    /// Compares the table under a heading with what it should be, or writes it if `HOLDFAST_BLESS` is set.
    ///
    /// # Panics
    /// If they differ.
    pub fn compare(&mut self, heading: &str, lines: &[String]) {
        let section = self.section(heading);
        let old: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).collect();
        if std::env::var_os("HOLDFAST_BLESS").is_some() {
            // Another table may begin with the same lines.
            let written = section.replacen(&old.join("\n"), &lines.join("\n"), 1);
            self.text = self.text.replacen(section, &written, 1);
            // Replaced whole: tests of other processes may be reading it.
            let beside = self.path.with_extension(format!("{}.tmp", std::process::id()));
            std::fs::write(&beside, &self.text).unwrap();
            std::fs::rename(&beside, &self.path).unwrap();
            return;
        }
        for (is, should) in old.iter().zip(lines) {
            assert_eq!(is, should, "in spec/errors.md; HOLDFAST_BLESS=1 writes the table anew");
        }
        assert_eq!(old.len(), lines.len(), "rows under '{heading}' in spec/errors.md");
    }

    fn section(&self, heading: &str) -> &str {
        let start = format!("\n## {heading}\n");
        let (_, rest) = self.text.split_once(&start).unwrap_or_else(|| panic!("no heading '{heading}'"));
        rest.split("\n## ").next().unwrap_or_default()
    }
}

fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}
