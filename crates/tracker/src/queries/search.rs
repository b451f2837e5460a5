//! Full text: every word must be somewhere in the issue, and where it is decides the order. A word in the
//! title counts more than one in a label, that more than one in the description, that more than one in the
//! metadata; a whole word counts more than a part of one. What is open comes before what is over, and among
//! equals the newest comes first.

use std::cmp::Reverse;

use memchr::memmem;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::ids::IssueId;
use crate::issues::{Issues, Priority, Seen, State};

/// How many characters of a description are shown around what was found.
const SNIPPET: usize = 80;

/// Where a word was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// In the id.
    Id,
    /// In the title.
    Title,
    /// In a label.
    Labels,
    /// In the description.
    Description,
    /// In whoever is meant to do it, or in what programs keep with the issue.
    Metadata,
}

impl Field {
    const fn weight(self) -> u32 {
        match self {
            Self::Id => 16,
            Self::Title => 8,
            Self::Labels => 6,
            Self::Description => 2,
            Self::Metadata => 1,
        }
    }
}

/// An issue that was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// Its id.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// Where it stands.
    pub state: State,
    /// How much it matters.
    pub priority: Priority,
    /// How well it fits; only the order means something.
    pub score: u32,
    /// Where the words were found.
    pub matched: Vec<Field>,
    /// What stands around them, if they are in the description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// Its id.
    #[serde(skip)]
    pub issue: Option<IssueId>,
}

/// What was found, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchOutput {
    /// The best ones.
    pub results: Vec<Hit>,
    /// How many are shown.
    pub count: usize,
    /// How many there are.
    pub total: usize,
}

/// What is looked for.
pub struct Words(Vec<String>);

impl Words {
    /// The words that were typed, split at blanks; their case does not matter.
    #[must_use]
    pub fn new(typed: &[String]) -> Self {
        let words = typed.iter().flat_map(|text| text.split_whitespace()).map(str::to_lowercase);
        Self(words.collect())
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Looks for the words in an issue; none if one of them is nowhere.
    #[must_use]
    pub fn find(&self, issues: &Issues<'_>, seen: &Seen<'_>) -> Option<Hit> {
        let fields = fields(seen);
        let mut matched = Vec::new();
        let mut score = 0;
        for word in &self.0 {
            let found = fields.iter().filter_map(|(field, text)| Some((*field, fit(text, word)?)));
            let before = score;
            for (field, fit) in found {
                score += field.weight() * fit;
                matched.push(field);
            }
            if score == before {
                return None;
            }
        }
        matched.sort();
        matched.dedup();
        let description = seen.issue.description.as_deref();
        Some(Hit {
            id: seen.id.to_string(),
            handle: issues.handle(seen.id),
            title: seen.issue.title.to_string(),
            state: seen.issue.state,
            priority: seen.issue.priority,
            score,
            snippet: description
                .filter(|_| matched.contains(&Field::Description))
                .and_then(|d| self.snippet(d)),
            matched,
            issue: Some(seen.id),
        })
    }

    /// What stands around the first word in a description.
    fn snippet(&self, text: &str) -> Option<String> {
        let lower = text.to_lowercase();
        let at = self.0.iter().filter_map(|word| lower.find(word.as_str())).min()?;
        // Lower case may be longer or shorter; a few characters do not matter here.
        let before = lower.get(..at).map_or(0, |begin| begin.chars().count());
        let start = before.saturating_sub(SNIPPET / 4);
        let words: String = text.chars().skip(start).take(SNIPPET).collect();
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let (left, right) = (start > 0, text.chars().count() > start + SNIPPET);
        Some(format!("{}{words}{}", if left { "… " } else { "" }, if right { " …" } else { "" }))
    }
}

/// The texts of an issue, in lower case.
fn fields(seen: &Seen<'_>) -> Vec<(Field, String)> {
    let issue = &seen.issue;
    let mut fields = vec![
        (Field::Id, seen.id.to_string().to_lowercase()),
        (Field::Title, lower(&issue.title)),
        (Field::Labels, seen.labels.members().map(lower).collect::<Vec<_>>().join("\n")),
    ];
    fields.extend(issue.description.as_ref().map(|text| (Field::Description, lower(text))));
    let mut metadata = lower(issue.assignee.as_deref().unwrap_or_default());
    for (key, value) in &issue.metadata {
        metadata.push('\n');
        metadata.push_str(&lower(key));
        values(value, &mut metadata);
    }
    fields.push((Field::Metadata, metadata));
    fields
}

/// The texts in a value, however deep.
fn values(value: &Value, into: &mut String) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                into.push('\n');
                into.push_str(&lower(text));
            }
            Value::Number(number) => {
                into.push('\n');
                into.push_str(&number.to_string());
            }
            Value::Array(values) => open.extend(values),
            Value::Object(members) => open.extend(members.values()),
            Value::Null | Value::Bool(_) => {}
        }
    }
}

fn lower(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() }
}

/// How well a word fits: 1 as a part of a word, 2 as a whole one.
fn fit(text: &str, word: &str) -> Option<u32> {
    let mut best = None;
    for at in memmem::find_iter(text.as_bytes(), word.as_bytes()) {
        let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        if !letter(before) && !letter(after) {
            return Some(2);
        }
        best = Some(1);
    }
    best
}

/// Puts the best ones first.
pub fn sort(hits: &mut [Hit]) {
    hits.sort_by_key(|hit| (Reverse(hit.score), hit.state.is_over(), Reverse(hit.issue)));
}

#[cfg(test)]
mod tests {
    use super::{Words, fit};

    #[test]
    fn a_whole_word_fits_better_than_a_part() {
        assert_eq!(fit("the login page", "login"), Some(2));
        assert_eq!(fit("relogin", "login"), Some(1));
        assert_eq!(fit("relogin, then login", "login"), Some(2));
        assert_eq!(fit("größe", "größe"), Some(2));
        assert_eq!(fit("x", "y"), None);
    }

    #[test]
    fn a_snippet_shows_the_words_and_what_is_around() {
        let words = Words::new(&["NEEDLE".to_owned()]);
        let long = format!("{} the needle {}", "hay ".repeat(40), "stack ".repeat(40));
        let snippet = words.snippet(&long).unwrap();
        assert!(
            snippet.starts_with("… ") && snippet.ends_with(" …") && snippet.contains("needle"),
            "{snippet}"
        );
        assert_eq!(words.snippet("a needle").unwrap(), "a needle");
    }
}
