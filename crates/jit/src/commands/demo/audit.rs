//! What the log says afterwards, and whether it can be true: every issue was done, by one agent at a time,
//! under numbers that only rise.

use std::collections::BTreeMap;

use holdfast_door::{Clean, table};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ground::Ground;
use super::{list, text};
use holdfast_tracker::error::Result;

/// How a grant ended that somebody else took over.
const TAKEN: &str = "taken over";

/// What the log says.
pub(super) struct Audit {
    pub(super) stories: Vec<Story>,
    pub(super) problems: Vec<String>,
}

/// What happened to one issue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Story {
    /// The issue.
    pub issue_id: String,
    /// What it is about.
    pub title: String,
    /// Where it stands.
    pub state: String,
    /// Who held it, in the order of the log.
    pub holders: Vec<Turn>,
}

/// One grant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Turn {
    /// Who got it.
    pub agent_id: String,
    /// The number of the grant.
    pub fence: u64,
    /// How it ended; none if it has not.
    pub end: Option<String>,
}

impl Audit {
    pub(super) fn of(ground: &Ground, issues: &[(String, String)]) -> Result<Self> {
        let history = ground.jit("main", &["claim", "history"])?.document()?;
        let states = ground.jit("main", &["issue", "list"])?.document()?;
        let found = |id: &str| list(&states, "/issues").iter().find(|issue| text(issue, "/id") == id);
        let state = |id: &str| found(id).map_or("missing", |issue| text(issue, "/state")).to_owned();
        let fence = |id: &str| found(id).and_then(|issue| issue.get("fence")).and_then(Value::as_u64);
        let mut turns = turns(list(&history, "/events"));
        let tell = |(id, title): &(String, String)| Story {
            issue_id: id.clone(),
            title: title.clone(),
            state: state(id),
            holders: turns.remove(id).unwrap_or_default(),
        };
        let stories: Vec<Story> = issues.iter().map(tell).collect();
        let mut problems: Vec<String> =
            stories.iter().flat_map(|story| wrong(story, fence(&story.issue_id))).collect();
        let checks = ground.jit("main", &["validate", "all"])?.document()?;
        for check in
            list(&checks, "/checks").iter().filter(|check| check.get("ok") != Some(&Value::Bool(true)))
        {
            problems.push(check.to_string());
        }
        Ok(Self { stories, problems })
    }

    /// Every issue is on the main branch, once.
    pub(super) fn compare(&mut self, landed: &[String]) {
        for story in &self.stories {
            let is_it = |line: &&String| line.split_once(' ').is_some_and(|(_, title)| title == story.title);
            let times = landed.iter().filter(is_it).count();
            if times != 1 {
                self.problems.push(format!("{:?} landed {times} times", story.title));
            }
        }
    }

    /// The stories as a table, and what is wrong with them.
    pub(super) fn text(&self) -> Clean {
        let rows: Vec<_> =
            self.stories.iter().enumerate().map(|(number, story)| story.row(number + 1)).collect();
        let mut page = table(["", "ISSUE", "STATE", "HELD BY (FENCE)"], &rows);
        for problem in &self.problems {
            page += format!("problem: {problem}\n");
        }
        page
    }
}

impl Story {
    fn row(&self, number: usize) -> [String; 4] {
        let mut held = String::new();
        for turn in &self.holders {
            // What an arrow means is the rule: the next one took over.
            let how = match turn.end.as_deref() {
                Some(TAKEN) => " →",
                Some(_) if turn.fence == self.holders.last().map_or(0, |last| last.fence) => "",
                Some(_) => " gave it back,",
                None => " still holds it",
            };
            let name = turn.agent_id.trim_start_matches("agent:");
            held.push_str(&format!("{}{name} ({}){how}", if held.is_empty() { "" } else { " " }, turn.fence));
        }
        [format!("#{number}"), self.title.clone(), self.state.clone(), held]
    }
}

/// The grants of each issue, in the order of the log.
fn turns(events: &[Value]) -> BTreeMap<String, Vec<Turn>> {
    let mut turns: BTreeMap<String, Vec<Turn>> = BTreeMap::new();
    for event in events {
        let issue = text(event, "/payload/issue_id").to_owned();
        let all = turns.entry(issue).or_default();
        match text(event, "/event_type") {
            "claim.acquired" => all.push(Turn {
                agent_id: text(event, "/actor/agent_id").to_owned(),
                fence: event.pointer("/payload/fence").and_then(Value::as_u64).unwrap_or_default(),
                end: None,
            }),
            "claim.released" => end(all, "released"),
            "claim.evicted" => end(all, TAKEN),
            _ => {}
        }
    }
    turns
}

fn end(turns: &mut [Turn], how: &str) {
    if let Some(turn) = turns.last_mut() {
        turn.end = Some(how.to_owned());
    }
}

/// What is wrong with a story. `fence` is that of the last write to the issue.
fn wrong(story: &Story, fence: Option<u64>) -> Vec<String> {
    let mut wrong = Vec::new();
    if story.state != "done" {
        wrong.push(format!("{:?} is {}", story.title, story.state));
    }
    for pair in story.holders.windows(2) {
        let [before, after] = pair else { continue };
        if before.end.is_none() {
            wrong.push(format!("{:?} was held by two", story.title));
        }
        if before.fence >= after.fence {
            wrong.push(format!("the fence of {:?} did not rise", story.title));
        }
    }
    // Whoever gets an issue that was finished a moment before gives it back and writes nothing, so it does not count.
    let has_written = |turn: &&Turn| fence.is_some_and(|last| turn.fence <= last);
    let released = story.holders.iter().filter(|turn| turn.end.as_deref() == Some("released"));
    let finished = released.filter(has_written).count();
    if finished != 1 {
        wrong.push(format!("{:?} was finished {finished} times", story.title));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::{Story, TAKEN, Turn, wrong};

    fn story(turns: &[(u64, &str)]) -> Story {
        let turn = |(fence, end): &(u64, &str)| Turn {
            agent_id: "agent:a".into(),
            fence: *fence,
            end: Some((*end).into()),
        };
        let holders = turns.iter().map(turn).collect();
        Story { issue_id: "1".into(), title: "t".into(), state: "done".into(), holders }
    }

    #[test]
    fn work_that_was_done_twice_is_told_from_an_issue_that_was_given_back() {
        assert!(wrong(&story(&[(1, TAKEN), (2, "released")]), Some(2)).is_empty());
        assert!(wrong(&story(&[(1, "released"), (2, "released")]), Some(1)).is_empty());
        assert_eq!(
            wrong(&story(&[(1, "released"), (2, "released")]), Some(2)),
            ["\"t\" was finished 2 times"]
        );
        assert_eq!(wrong(&story(&[(1, TAKEN)]), Some(1)), ["\"t\" was finished 0 times"]);
    }
}
