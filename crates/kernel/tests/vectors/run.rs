//! Runs the files from the JSON alone, the way another language does. Follows `spec/vectors/README.md`, and
//! must never look at the cases in Rust.

use holdfast_kernel::{Policy, Table, apply, decide};
use serde_json::{Map, Value};

use crate::case::outcome_fields;
use crate::decode;
use crate::support::json::Json;
use crate::support::{encode, files};

/// The names of the files.
pub(crate) fn list() -> Vec<String> {
    crate::bless();
    files::list("spec/vectors", ".json")
}

pub(crate) fn read(file: &str) -> Value {
    crate::bless();
    serde_json::from_str(&files::read(&format!("spec/vectors/{file}"))).unwrap()
}

fn value(json: &Json) -> Value {
    serde_json::from_str(&json.line()).unwrap()
}

struct Runner {
    table: Table,
    policy: Policy,
}

impl Runner {
    /// What the step comes to, as the fields that the file must have.
    fn step(&mut self, step: &Value) -> Map<String, Value> {
        if let Some(policy) = step.get("policy") {
            self.policy = decode::policy(policy);
        }
        let fields = if let Some(command) = step.get("command") {
            self.command(step, command)
        } else if let Some(event) = step.get("apply") {
            self.offer(event)
        } else {
            let lease = self.table.get(decode::id(&step["look"])).unwrap();
            vec![("standing", encode::standing(&lease.standing(&decode::stamp(&step["now"]))))]
        };
        fields.iter().map(|(key, json)| ((*key).to_owned(), value(json))).collect()
    }

    fn command(&mut self, step: &Value, command: &Value) -> Vec<(&'static str, Json)> {
        let now = decode::stamp(&step["now"]);
        let command = decode::command(command);
        let outcome = decide(&self.table, &self.policy, &command, &now, decode::fence(&step["next"]));
        for event in outcome.iter().flat_map(|decision| &decision.events) {
            apply(&mut self.table, event).unwrap();
        }
        outcome_fields(&outcome)
    }

    fn offer(&mut self, event: &Value) -> Vec<(&'static str, Json)> {
        let before = self.table.clone();
        let outcome = apply(&mut self.table, &decode::event(event));
        assert!(outcome.is_ok() || self.table == before, "a refused event leaves the table as it was");
        vec![("inconsistent", Json::optional(outcome.err().as_ref(), encode::inconsistent))]
    }
}

#[test]
fn the_files_run_from_the_json_alone() {
    for file in list() {
        let topic = read(&file);
        for case in topic["cases"].as_array().unwrap() {
            let mut runner = Runner { table: Table::new(), policy: decode::policy(&case["policy"]) };
            for (n, step) in case["steps"].as_array().unwrap().iter().enumerate() {
                let asked = ["policy", "now", "next", "command", "apply", "look"];
                let mut meant = step.as_object().unwrap().clone();
                meant.retain(|key, _| !asked.contains(&key.as_str()));
                let came = runner.step(step);
                assert_eq!(came, meant, "step {} of {} in {file}", n + 1, case["name"]);
            }
        }
    }
}
