//! A block of ours at the end of a text of somebody else's, between two lines that say so. Put in and taken out, it
//! leaves every other byte as it was.

use super::json::Edit;

/// A block of ours.
#[derive(Clone, Debug)]
pub struct Block {
    /// The line before it.
    pub begin: &'static str,
    /// The line behind it.
    pub end: &'static str,
    /// The lines in between; each ends.
    pub body: String,
}

impl Block {
    /// The file for a block alone.
    #[must_use]
    pub fn alone(&self) -> String {
        self.written("\n") + "\n"
    }

    fn written(&self, end: &str) -> String {
        format!("{}\n{}{}", self.begin, self.body, self.end).replace('\n', end)
    }

    /// Where the block stands in a text; an error if it is there in part.
    fn find(&self, text: &str) -> Result<Option<std::ops::Range<usize>>, String> {
        let line = |mark: &str| {
            let mut at = 0;
            let starts = text.split_inclusive('\n').filter_map(|line| {
                let start = at;
                at += line.len();
                (line.trim_end() == mark).then_some(start)
            });
            starts.collect::<Vec<_>>()
        };
        match (line(self.begin).as_slice(), line(self.end).as_slice()) {
            ([], []) => Ok(None),
            ([start], [end]) if start < end => Ok(Some(*start..end + self.end.len())),
            _ => Err(format!("the lines '{}' and '{}' do not belong together in it", self.begin, self.end)),
        }
    }

    /// The text with the block in it.
    #[must_use]
    pub fn put(&self, text: &str) -> Edit {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let ours = self.written(end);
        match self.find(text) {
            Err(why) => Edit::Refused(why),
            Ok(Some(span)) => {
                let ours = self.written(end_of_lines(text.get(span.clone()).unwrap_or_default()));
                let (before, after) = (text.get(..span.start), text.get(span.end..));
                let changed = format!("{}{ours}{}", before.unwrap_or_default(), after.unwrap_or_default());
                if changed == text { Edit::Same } else { Edit::Text(changed) }
            }
            // A text without an end of its last line gets it back when the block goes: the block then has none.
            Ok(None) if text.is_empty() || text.ends_with('\n') => {
                Edit::Text(format!("{text}{end}{ours}{end}"))
            }
            Ok(None) => Edit::Text(format!("{text}{end}{end}{ours}")),
        }
    }

    /// The text without the block.
    #[must_use]
    pub fn take_out(&self, text: &str) -> Edit {
        if text == self.alone() {
            return Edit::Gone;
        }
        let span = match self.find(text) {
            Ok(Some(span)) => span,
            Ok(None) => return Edit::Same,
            Err(why) => return Edit::Refused(why),
        };
        let (before, after) =
            (text.get(..span.start).unwrap_or_default(), text.get(span.end..).unwrap_or_default());
        let end = end_of_lines(text.get(span).unwrap_or_default());
        let one = |text| str::strip_suffix(text, end).unwrap_or(text);
        let (before, after) = match after.strip_prefix(end) {
            Some(after) => (one(before), after),
            None => (one(one(before)), after),
        };
        Edit::Text(format!("{before}{after}"))
    }
}

/// How the lines of a block end.
fn end_of_lines(block: &str) -> &'static str {
    if block.contains("\r\n") { "\r\n" } else { "\n" }
}
