//! What `llvm-cov export` says: how often which part of which file was run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::places::Span;

/// What was counted, file by file, by their paths in the repository.
#[derive(Debug, Default)]
pub(super) struct Counts {
    files: BTreeMap<String, File>,
}

#[derive(Debug, Default)]
struct File {
    /// Where a part begins, and how often it was run; none if there is no code in it.
    parts: Vec<((usize, usize), Option<u64>)>,
    lines: Lines,
}

/// Lines with code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) all: u64,
    pub(super) run: u64,
}

impl Counts {
    /// Reads them. The paths begin with that of the repository.
    pub(super) fn read(text: &str, root: &str) -> Result<Self, String> {
        let document: Value = serde_json::from_str(text).map_err(|why| format!("llvm-cov: {why}"))?;
        let mut counts = Self::default();
        let files = document.pointer("/data/0/files").and_then(Value::as_array);
        for file in files.ok_or("llvm-cov names no files")? {
            let path = file.get("filename").and_then(Value::as_str).ok_or("llvm-cov names no path")?;
            let path = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
            let lines = |what: &str| file.pointer(what).and_then(Value::as_u64).unwrap_or_default();
            let lines = Lines { all: lines("/summary/lines/count"), run: lines("/summary/lines/covered") };
            let segments =
                file.get("segments").and_then(Value::as_array).ok_or("llvm-cov has no segments")?;
            let parts = segments.iter().map(part).collect::<Option<Vec<_>>>();
            let parts = parts.ok_or_else(|| format!("{path}: a segment of llvm-cov is not understood"))?;
            counts.files.insert(path.into(), File { parts, lines });
        }
        Ok(counts)
    }

    /// How often this code was run. None if nothing was counted in it: what is made without any code is not always part of
    /// what is counted, but whatever is put into it is.
    pub(super) fn within(&self, file: &str, code: &Span) -> Option<u64> {
        let parts = &self.files.get(file)?.parts;
        let first = parts.partition_point(|(start, _)| *start <= code.start);
        let end = parts.partition_point(|(start, _)| *start < code.end);
        let around = first.checked_sub(1).and_then(|at| parts.get(at)?.1);
        around.or_else(|| parts.get(first..end)?.iter().filter_map(|(_, count)| *count).max())
    }

    /// The lines of all files whose paths begin like this.
    pub(super) fn lines(&self, folder: &str) -> Lines {
        let files = self.files.iter().filter(|(path, _)| path.starts_with(folder));
        files.fold(Lines::default(), |sum, (_, file)| Lines {
            all: sum.all + file.lines.all,
            run: sum.run + file.lines.run,
        })
    }
}

/// `[line, column, count, has a count, begins a region, is a gap]`.
fn part(segment: &Value) -> Option<((usize, usize), Option<u64>)> {
    let number = |at: usize| segment.get(at).and_then(Value::as_u64);
    let place = |at: usize| number(at).and_then(|number| usize::try_from(number).ok());
    let has_count = segment.get(3).and_then(Value::as_bool)?;
    Some(((place(0)?, place(1)?), number(2).filter(|_| has_count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = r#"{"data": [{"files": [
        {"filename": "/r/crates/a/src/x.rs",
         "segments": [[2, 1, 5, true, true, false], [3, 9, 0, true, true, false], [4, 1, 0, false, false, false]],
         "summary": {"lines": {"count": 4, "covered": 3}}},
        {"filename": "/r/crates/a/src/y.rs", "segments": [], "summary": {"lines": {"count": 6, "covered": 0}}}
    ]}]}"#;

    #[test]
    fn the_part_that_code_is_in_says_how_often_it_was_run() {
        let counts = Counts::read(SAID, "/r").unwrap();
        let at = |line, column| counts.within("crates/a/src/x.rs", &((line, column)..(line, column + 1)));
        assert_eq!((at(1, 1), at(2, 1), at(3, 8)), (None, Some(5), Some(5)));
        assert_eq!((at(3, 9), at(3, 99), at(4, 1)), (Some(0), Some(0), None));
        assert_eq!(counts.within("crates/a/src/y.rs", &((1, 1)..(1, 2))), None);
        assert_eq!(counts.within("crates/b/src/x.rs", &((2, 1)..(2, 2))), None);
    }

    #[test]
    fn where_nothing_is_counted_around_it_what_is_in_it_says_so() {
        let counts = Counts::read(SAID, "/r").unwrap();
        let within = |start, end| counts.within("crates/a/src/x.rs", &(start..end));
        assert_eq!(within((1, 1), (2, 2)), Some(5));
        assert_eq!(within((1, 1), (2, 1)), None);
        assert_eq!(within((4, 1), (9, 1)), None);
    }

    #[test]
    fn lines_are_summed_by_folder() {
        let counts = Counts::read(SAID, "/r").unwrap();
        assert_eq!(counts.lines("crates/a/"), Lines { all: 10, run: 3 });
        assert_eq!(counts.lines("crates/b/"), Lines::default());
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        assert!(Counts::read("", "/r").is_err() && Counts::read("{}", "/r").is_err());
        assert!(Counts::read(&SAID.replace("true, true", "1, true"), "/r").is_err());
    }
}
