//! The demonstration is no show: it ends in a check of what the log says.

use crate::bench::Bench;
use crate::schema::fits;

#[test]
fn nothing_is_lost_and_nothing_is_done_twice() {
    let bench = Bench::empty();
    let shown = bench.run_at("agent:a", &["--json", "demo"], bench.root()).ok().json();
    fits(&shown, &bench.run_at("agent:a", &["schema", "demo"], bench.root()).ok().json(), "demo");
    let demo = &shown["demo"];
    assert_eq!((&demo["ok"], &demo["late_write_refused"]), (&true.into(), &true.into()), "{shown}");
    let issues = demo["issues"].as_array().unwrap();
    assert_eq!(issues.len(), 9, "{shown}");
    let taken_over = issues.iter().filter(|issue| issue["holders"].as_array().unwrap().len() > 1).count();
    assert!(taken_over >= 2, "one agent was killed and one stopped: {shown}");
}
