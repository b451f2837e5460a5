//! Issues as a project of some years has them: most are done, half have labels, some wait for others. The same
//! number gives the same issues, byte for byte.

use std::fmt::Write as _;
use std::path::Path;

use holdfast_kernel::LeaseId;

use crate::ground::Failure;

const WORDS: [&str; 24] = [
    "parser", "login", "retry", "cache", "session", "token", "worktree", "merge", "lease", "fence", "board",
    "export", "layout", "button", "table", "query", "graph", "search", "slow", "crash", "leak", "review",
    "docs", "release",
];

/// A day in 2025 on which the first issue was made; one more follows every minute.
const FIRST: u64 = 1_760_000_000_000;

/// What can be asked about.
pub(crate) struct Sample {
    /// The id of an issue in the middle.
    pub(crate) one: String,
    /// One behind it that is not finished.
    pub(crate) open: String,
    /// One behind it that is done.
    pub(crate) done: String,
}

/// Numbers that look random and are not.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        // The steps of splitmix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn word(&mut self) -> &'static str {
        let at = usize::try_from(self.below(WORDS.len() as u64)).unwrap_or(0);
        WORDS.get(at).copied().unwrap_or_default()
    }

    fn words(&mut self, count: u64) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn id(&mut self, at: u64) -> String {
        LeaseId::from_parts(at, u128::from(self.next())).to_string()
    }
}

/// Makes so many issues in the repository at `root`.
pub(crate) fn generate(root: &Path, count: usize) -> Result<Sample, Failure> {
    let mut numbers = Numbers(7);
    let mut ids: Vec<String> = Vec::with_capacity(count);
    let (mut open, mut done) = (None, None);
    for number in 0..count as u64 {
        let at = FIRST + number * 60_000;
        let id = numbers.id(at);
        let home = root.join(".jit/issues").join(&id);
        std::fs::create_dir_all(&home)?;
        let text = issue(&mut numbers, &id, number);
        if number >= count as u64 / 2 {
            for (state, first) in [("ready", &mut open), ("done", &mut done)] {
                if first.is_none() && text.contains(&format!("\"state\": \"{state}\"")) {
                    *first = Some(id.clone());
                }
            }
        }
        std::fs::write(home.join("issue.json"), text)?;
        if numbers.below(2) == 0 {
            let labels: Vec<String> = (0..=numbers.below(3)).map(|_| numbers.word().to_owned()).collect();
            std::fs::write(home.join("labels.or-set.jsonl"), set(&mut numbers, at, &labels))?;
        }
        if number > 200 && numbers.below(5) < 2 {
            let near = ids.len() - 1 - usize::try_from(numbers.below(200))?;
            let deps: Vec<String> = ids.get(near..).into_iter().flatten().take(2).cloned().collect();
            std::fs::write(home.join("deps.or-set.jsonl"), set(&mut numbers, at, &deps))?;
        }
        ids.push(id);
    }
    let one = ids.get(count / 2).cloned();
    let none = "there are no issues";
    Ok(Sample { one: one.ok_or(none)?, open: open.ok_or(none)?, done: done.ok_or(none)? })
}

/// So many issues as `jit export` has them, one on each line; each fourth of them waits for one before it.
pub(crate) fn exported(count: usize) -> String {
    let (mut numbers, mut text, mut before) = (Numbers(7), String::new(), String::new());
    for number in 0..count as u64 {
        let id = numbers.id(FIRST + number * 60_000);
        let (title, label, description) = (numbers.words(6), numbers.word(), numbers.words(60));
        let waits = if number % 4 == 1 { format!("\"{before}\"") } else { String::new() };
        // Writing to memory cannot fail.
        let _ = writeln!(
            text,
            "{{\"id\":\"{id}\",\"title\":\"{title}\",\"state\":\"ready\",\"labels\":[\"{label}\"],\
             \"dependencies\":[{waits}],\"description\":\"{description}\",\
             \"created_at\":\"2025-10-01T00:00:00.000Z\",\"updated_at\":\"2025-10-01T00:00:00.000Z\"}}"
        );
        before = id;
    }
    text
}

fn issue(numbers: &mut Numbers, id: &str, number: u64) -> String {
    let state = match numbers.below(20) {
        0..2 => "backlog",
        2..6 => "ready",
        6 => "in_progress",
        7 => "gated",
        8 => "archived",
        _ => "done",
    };
    let priority = ["critical", "high", "normal", "low"];
    let priority = priority.get(usize::try_from(numbers.below(4)).unwrap_or(2)).copied().unwrap_or("normal");
    let (title, long) = (numbers.words(6), 5 + numbers.below(115));
    let description = numbers.words(long);
    let at =
        format!("2025-10-{:02}T{:02}:{:02}:00.000Z", 1 + number / 1_440 % 28, number / 60 % 24, number % 60);
    format!(
        "{{\n  \"id\": \"{id}\",\n  \"title\": \"{title}\",\n  \"type\": \"task\",\n  \"state\": \"{state}\",\n  \
         \"priority\": \"{priority}\",\n  \"description\": \"{description}\",\n  \"created_at\": \"{at}\",\n  \
         \"updated_at\": \"{at}\"\n}}\n"
    )
}

fn set(numbers: &mut Numbers, at: u64, members: &[String]) -> String {
    let mut text = String::new();
    for member in members {
        let id = numbers.id(at);
        // Writing to memory cannot fail.
        let _ = writeln!(
            text,
            "{{\"id\":\"{id}\",\"op\":\"add\",\"value\":\"{member}\",\"at\":\"2025-10-01T00:00:00.000Z\",\
             \"agent_id\":\"agent:one\"}}"
        );
    }
    text
}
