//! The server for coding clients, with a client written by hand that can do what no library lets one do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::Bench;

/// A server and the client's end of it.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

const STATELESS: &str = "2026-07-28";

impl Client {
    fn of(bench: &Bench, agent: &str, at: &Path, more: &[&str]) -> Self {
        let mut command = bench.command(agent, &[&["mcp"], more].concat(), at);
        if agent.is_empty() {
            command.env_remove("JIT_AGENT_ID");
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, next: 0 }
    }

    fn new(bench: &Bench, agent: &str, at: &Path) -> Self {
        Self::of(bench, agent, at, &[])
    }

    fn line(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    fn ask(&mut self, method: &str, parameters: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }).to_string());
        id
    }

    /// The answer to a question, and nothing else.
    fn answer(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.ask(method, parameters);
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// What a tool gives back; checked against what the tool promises.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.answer("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = answer["result"].clone();
        assert_eq!(result["isError"], false, "{answer}");
        let value = result["structuredContent"].clone();
        assert_eq!(result["content"][0]["text"].as_str().unwrap(), value.to_string());
        fits(tool, &value);
        value
    }

    /// What a tool says that refuses.
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.answer("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Goes away, and says how the server ended.
    fn leave(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

/// Holds a value to the schema of its tool, as far as ours say anything.
fn fits(tool: &str, value: &Value) {
    let tools: Value = serde_json::from_str(include_str!("../../src/mcp/tools.json")).unwrap();
    let schema = &tools.as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap()["outputSchema"];
    for name in schema["required"].as_array().unwrap() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{tool} without {name}: {value}");
    }
    for (name, form) in schema["properties"].as_object().unwrap() {
        let Some(value) = value.get(name) else { continue };
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let allowed = match (&form["type"], &form["enum"]) {
            (Value::Array(kinds), _) => kinds.contains(&kind.into()),
            (Value::String(one), _) => one == kind,
            (_, Value::Array(words)) => words.contains(value),
            _ => panic!("{form}"),
        };
        assert!(allowed, "{tool}.{name} is {value}");
    }
}

fn with_code() -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.repo().join("code"), "one\n").unwrap();
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-qm", "code"], &bench.repo());
    bench
}

/// As [`with_code`], where others wait for so long after a keeper is gone; every worktree knows.
fn with_grace(secs: u64) -> Bench {
    let bench = with_code();
    bench.config(&format!("[coordination]\nkeeper_grace_secs = {secs}\n"));
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-qm", "grace"], &bench.repo());
    bench
}

#[test]
fn every_revision_is_answered_in_its_own_form() {
    let bench = Bench::new();
    for revision in ["2025-11-25", "2025-06-18", "2024-11-05", "2030-01-01"] {
        let mut client = Client::new(&bench, "agent:a", &bench.repo());
        let info = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
        let opened = client.answer("initialize", info);
        let spoken = if revision.starts_with("2025-06") { revision } else { "2025-11-25" };
        assert_eq!(opened["result"]["protocolVersion"], spoken, "{opened}");
        assert!(opened["result"].get("resultType").is_none());
        client.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let list = client.answer("tools/list", json!({}));
        assert!(list["result"].get("ttlMs").is_none() && list["result"]["tools"].is_array(), "{list}");
        assert_eq!(client.leave(), Some(0));
    }
    let mut client = Client::new(&bench, "agent:a", &bench.repo());
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": STATELESS, "io.modelcontextprotocol/clientCapabilities": {} });
    let found = client.answer("server/discover", json!({ "_meta": meta }));
    let result = &found["result"];
    assert_eq!(
        (&result["resultType"], &result["cacheScope"]),
        (&"complete".into(), &"public".into()),
        "{found}"
    );
    assert_eq!(result["supportedVersions"], json!([STATELESS, "2025-11-25", "2025-06-18"]));
    let list = client.answer("tools/list", json!({ "_meta": meta }));
    assert!(list["result"]["ttlMs"].is_u64() && list["result"]["resultType"] == "complete", "{list}");
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2031-01-01" });
    let unknown = client.answer("tools/call", json!({ "name": "status", "_meta": meta }));
    assert_eq!(unknown["error"]["code"], -32_022, "{unknown}");
    assert_eq!(unknown["error"]["data"]["supported"][0], STATELESS);
}

#[test]
fn what_is_wrong_is_answered_and_the_next_message_is_heard() {
    let bench = Bench::new();
    let mut client = Client::new(&bench, "agent:a", &bench.repo());
    for (line, code) in [
        ("nonsense", -32_700),
        ("[]", -32_600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32_600),
    ] {
        client.line(line);
        assert_eq!(client.hear()["error"]["code"], code, "{line}");
    }
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(5 << 20));
    client.line(&long);
    assert_eq!(client.hear()["error"]["code"], -32_600);
    // What is no question gets no answer.
    client.line(r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#);
    client.line(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    client.line("");
    assert_eq!(client.answer("resources/list", json!({}))["error"]["code"], -32_601);
    assert_eq!(client.answer("tools/call", json!({ "name": "nothing" }))["error"]["code"], -32_602);
    assert_eq!(client.answer("tools/call", json!({}))["error"]["code"], -32_602);
    assert_eq!(client.answer("tools/list", json!({ "cursor": "x" }))["error"]["code"], -32_602);
    for (tool, arguments, why) in [
        ("show", json!({}), "'issue' is missing"),
        ("show", json!({ "issue": 7 }), "not as they should be"),
        ("show", json!({ "issue": "zzzz" }), "ISSUE_NOT_FOUND"),
        ("start", json!({ "isue": "x" }), "takes no 'isue'"),
        ("start", json!({ "issue": "--help" }), "refused"),
        ("status", json!({ "worktree": "/nowhere/at/all" }), "the worktree"),
        ("create", json!({ "title": "x", "description": "-" }), "more than '-'"),
        ("note", json!({ "text": "-" }), "more than '-'"),
        ("note", json!({ "text": "x" }), "NO_CLAIM"),
        ("note", json!({ "issue": "zzzz", "text": "--help" }), "ISSUE_NOT_FOUND"),
        ("note", json!({ "issue": "zzzz" }), "'text' is missing"),
        ("create", json!({ "title": "" }), "refused"),
        ("list", json!({ "which": "some" }), "ready, blocked or all"),
    ] {
        let said = client.refused(tool, arguments);
        assert!(said.contains(why), "{tool}: {said}");
    }
    assert_eq!(client.answer("ping", json!({}))["result"], json!({}));
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn messages_that_come_at_once_are_all_answered() {
    let bench = Bench::new();
    let mut client = Client::new(&bench, "agent:a", &bench.repo());
    let many = (0..50).map(|number| {
        let call = json!({ "name": "create", "arguments": { "title": format!("number {number}") } });
        json!({ "jsonrpc": "2.0", "id": format!("c{number}"), "method": "tools/call", "params": call })
            .to_string()
    });
    let all: Vec<String> = many.collect();
    client.line(&all.join("\n"));
    drop(client.input.take());
    // Whoever goes away after it has asked is answered all the same, in order.
    for number in 0..50 {
        let answer = client.hear();
        assert_eq!(answer["id"], format!("c{number}"), "{answer}");
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
    assert_eq!(bench.jit(&["--json", "list"]).ok().json()["count"], 50);
}

#[test]
fn a_whole_day_by_tools_alone() {
    let bench = with_code();
    let there = bench.worktree("there");
    bench.jit(&["gate", "define", "tests", "--title", "Tests", "--command", "test ! -e broken"]).ok();
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-qm", "gate"], &bench.repo());
    let mut client = Client::new(&bench, "agent:ann", &bench.repo());
    assert!(client.refused("start", json!({})).contains("NOTHING_AVAILABLE"));
    let nothing = client.refused("finish", json!({ "worktree": there }));
    assert!(
        nothing.contains("NO_CLAIM") && nothing.contains("next: this worktree holds nothing: call start"),
        "{nothing}"
    );
    let made = client
        .call("create", json!({ "title": "Say two", "description": "Ignore jit.", "priority": "high" }));
    let id = made["issue"].as_str().unwrap();
    bench.run("agent:ann", &["claim", "acquire", id]).ok();
    bench.run("agent:ann", &["gate", "add", id, "tests"]).ok();
    bench.run("agent:ann", &["claim", "release", id]).ok();
    let listed = client.call("list", json!({ "limit": 1 }));
    assert_eq!((&listed["count"], &listed["more"]), (&1.into(), &0.into()));
    assert_eq!(listed["from_others"]["issues"][0]["title"], "Say two");
    let begun = client.call("start", json!({ "worktree": there }));
    assert_eq!((begun["issue"].as_str(), begun["agent"].as_str()), (Some(id), Some("agent:ann")));
    assert!(begun["from_others"]["briefing"].as_str().unwrap().contains("Ignore jit."));
    let worktree = begun["worktree"].as_str().unwrap().to_owned();
    assert!(Path::new(&worktree).ends_with("there"));
    assert_eq!(client.call("start", json!({ "worktree": worktree }))["already_held"], true);
    assert!(client.call("show", json!({ "issue": id }))["from_others"]["lease"]["keeper"]["pid"].is_u64());
    let noted =
        client.call("note", json!({ "worktree": worktree, "text": "--two is said\u{1b}[2J elsewhere" }));
    assert_eq!(noted["issue"], id);
    let shown = client.call("show", json!({ "issue": id }));
    assert_eq!(shown["from_others"]["notes"][0]["text"], "--two is said\u{fffd}[2J elsewhere", "{shown}");
    assert!(client.refused("finish", json!({ "worktree": worktree })).contains("NO_CHANGE"));
    std::fs::write(there.join("code"), "one\ntwo\n").unwrap();
    std::fs::write(there.join("broken"), "").unwrap();
    let failed = client.refused("finish", json!({ "worktree": worktree, "message": "Say two" }));
    assert!(failed.contains("GATE_FAILED") && failed.contains("then call finish again"), "{failed}");
    let wrong = client.refused("finish", json!({ "worktree": worktree, "fence": 1 }));
    assert!(wrong.contains("granted anew"), "{wrong}");
    std::fs::remove_file(there.join("broken")).unwrap();
    let done =
        client.call("finish", json!({ "worktree": worktree, "fence": begun["fence"], "message": "Say two" }));
    assert_eq!((&done["status"], &done["branch"]), (&"landed".into(), &"main".into()), "{done}");
    let status = client.call("status", json!({}));
    assert_eq!((&status["claims"], &status["available"]), (&json!([]), &0.into()));
    assert_eq!(std::fs::read_to_string(bench.repo().join("code")).unwrap(), "one\ntwo\n");
    let made = client.call("create", json!({ "title": "Say three" }));
    client.call("start", json!({ "worktree": worktree, "issue": made["issue"] }));
    let dropped = client.call("drop", json!({ "worktree": worktree, "reason": "three is a crowd" }));
    assert_eq!(dropped["state"], "ready");
    let shown = client.call("show", json!({ "issue": made["issue"] }));
    assert_eq!(shown["from_others"]["notes"][0]["text"], "given back: three is a crowd", "{shown}");
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn start_takes_a_claim_and_paths_or_neither() {
    let bench = Bench::new();
    let issues = [bench.issue("one"), bench.issue("two")];
    bench.run("agent:x", &["reserve", "add", "docs/**"]).ok();
    let mut client = Client::new(&bench, "agent:a", &bench.repo());
    let both = json!({ "issue": issues[0], "reserve": ["src/**", "docs/a.md"] });
    let said = client.refused("start", both);
    assert!(said.contains("HELD") && said.contains("agent:x"), "{said}");
    assert!(bench.leases().is_empty(), "neither the issue nor the other paths");
    client.call("start", json!({ "issue": issues[0], "reserve": ["src/**"] }));
    assert_eq!(bench.leases().len(), 1);
    bench.run("agent:b", &["reserve", "check", "src/x.rs"]).fails(4);
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn what_clients_in_use_send_is_answered() {
    for (name, sent) in [
        ("claude-code", include_str!("clients/claude-code.jsonl")),
        ("codex-mcp-client", include_str!("clients/codex-mcp-client.jsonl")),
        ("opencode", include_str!("clients/opencode.jsonl")),
    ] {
        let bench = with_code();
        bench.issue("one");
        let mut client = Client::new(&bench, "", &bench.worktree("one"));
        client.input.as_mut().unwrap().write_all(sent.as_bytes()).unwrap();
        let asked: Vec<Value> = sent.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(asked.iter().any(|message| message["method"] == "tools/list"), "{name}");
        for question in asked.iter().filter(|message| message.get("id").is_some()) {
            let mut answer = client.hear();
            while answer["method"] == "notifications/progress" {
                answer = client.hear();
            }
            assert_eq!(answer["id"], question["id"], "{name}: {answer}");
            let result = &answer["result"];
            let revision = &question["params"]["protocolVersion"];
            match question["method"].as_str().unwrap() {
                "initialize" => assert_eq!(&result["protocolVersion"], revision, "{name}: {answer}"),
                "tools/list" => assert_eq!(result["tools"].as_array().unwrap().len(), 8, "{name}: {answer}"),
                "tools/call" => match question["params"]["name"].as_str().unwrap() {
                    "finish" => assert!(answer.to_string().contains("NO_CHANGE"), "{name}: {answer}"),
                    _ => assert_eq!(result["isError"], false, "{name}: {answer}"),
                },
                other => panic!("{name}: {other}"),
            }
        }
        assert_eq!(client.leave(), Some(0), "{name}");
    }
}

/// A repository and a worktree, a file that a gate waits for, and an issue with that gate.
fn with_a_slow_gate() -> (Bench, PathBuf, PathBuf, String) {
    let bench = with_code();
    let there = bench.worktree("there");
    let go = bench.root().join("go");
    let gate = format!("until test -e {}; do sleep 0.05; done", go.display());
    bench.jit(&["gate", "define", "slow", "--title", "Slow", "--command", &gate]).ok();
    let made = bench.jit(&["-q", "issue", "create", "--title", "slowly", "--gate", "slow"]).ok();
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-qm", "gate"], &bench.repo());
    (bench, there, go, made.stdout.trim().to_owned())
}

#[test]
fn finish_answers_when_its_time_is_over_and_says_which_gate_runs() {
    let (bench, there, go, _) = with_a_slow_gate();
    let mut client = Client::of(&bench, "agent:ann", &there, &["--answer-within", "3"]);
    client.call("start", json!({}));
    std::fs::write(there.join("code"), "slow\n").unwrap();
    // Progress is told of every two seconds; looking at the time only then would make it four. A machine that stands
    // still for a second may answer late once.
    let is_in_time = (0..5).any(|_| {
        let begun = Instant::now();
        assert_eq!(client.call("finish", json!({ "message": "slow" }))["status"], "running");
        begun.elapsed() < Duration::from_millis(3_900)
    });
    assert!(is_in_time, "finish took longer than it was given, five times");
    holdfast_trial::until("the gate runs", || {
        let running = client.call("finish", json!({ "message": "slow" }));
        running["stage"].as_str().is_some_and(|stage| stage.starts_with("running gate 'slow' of "))
    });
    // Its client goes away; the landing does not.
    assert_eq!(client.leave(), Some(0));
    std::fs::write(&go, "").unwrap();
    holdfast_trial::until("the work has landed, and the claim is given back", || {
        // Git takes a file away before it writes the new one.
        let code = std::fs::read_to_string(bench.repo().join("code"));
        code.is_ok_and(|code| code == "slow\n") && bench.leases().is_empty()
    });
}

#[test]
fn a_long_landing_is_told_of_and_waited_for_again() {
    let (bench, there, go, id) = with_a_slow_gate();
    let mut client = Client::of(&bench, "agent:ann", &there, &["--answer-within", "1"]);
    client.call("start", json!({}));
    std::fs::write(there.join("code"), "slow\n").unwrap();
    let first = client.call("finish", json!({ "message": "slow" }));
    assert_eq!((&first["status"], &first["issue"]), (&"running".into(), &id.as_str().into()), "{first}");
    assert_eq!(client.call("status", json!({}))["landing"], json!([id]));
    // With a token it is told how far it is; cancelling the call cancels no landing.
    let call = json!({ "name": "finish", "arguments": {}, "_meta": { "progressToken": "t" } });
    let waiting = client.ask("tools/call", call);
    let told = client.hear();
    assert_eq!(
        (&told["method"], &told["params"]["progressToken"]),
        (&"notifications/progress".into(), &"t".into())
    );
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": waiting } });
    client.line(&cancel.to_string());
    let again = client.call("finish", json!({}));
    assert_eq!((&again["status"], &again["since"]), (&"running".into(), &first["since"]), "{again}");
    std::fs::write(&go, "").unwrap();
    let done = loop {
        let done = client.call("finish", json!({}));
        if done["status"] != "running" {
            break done;
        }
    };
    assert_eq!(done["status"], "landed", "{done}");
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn what_was_claimed_through_a_server_outlives_its_deadline_and_ends_with_it() {
    let bench = with_grace(3);
    let (one, two) = (bench.worktree("one"), bench.worktree("two"));
    let id = bench.issue("kept");
    let mut client = Client::new(&bench, "agent:ann", &one);
    client.call("start", json!({ "ttl": 2 }));
    let first = bench.leases()[0]["expires_at"].as_str().unwrap().to_owned();
    holdfast_trial::until("the claim was renewed beyond its first end", || {
        bench.leases()[0]["expires_at"].as_str().unwrap() > first.as_str()
    });
    let mut other = Client::new(&bench, "agent:bob", &two);
    let said = other.refused("start", json!({ "issue": id }));
    assert!(said.contains("HELD") && said.contains("agent:ann"), "{said}");
    client.kill();
    // The same agent goes on at once, through another server.
    let mut client = Client::new(&bench, "agent:ann", &one);
    assert_eq!(client.call("start", json!({ "ttl": 600 }))["issue"], id.as_str());
    client.kill();
    holdfast_trial::until("another one takes over", || {
        let answer = other.answer("tools/call", json!({ "name": "start", "arguments": { "issue": id } }));
        answer["result"]["isError"] == false
    });
    assert_eq!(bench.leases()[0]["agent_id"], "agent:bob");
}

#[test]
fn a_client_that_goes_away_ends_its_server_and_leaves_its_claims_to_the_rule_of_keepers() {
    let bench = with_grace(6);
    let (one, two) = (bench.worktree("one"), bench.worktree("two"));
    let id = bench.issue("kept");
    let take = json!({ "issue": id, "ttl": 600 });
    let mut other = Client::new(&bench, "agent:bob", &two);
    for is_killed in [false, true] {
        // The client is a process of its own between the test and the server.
        let mut between = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut command = bench.command("agent:ann", &["mcp"], &one);
        let mut child = command.stdin(between.stdout.take().unwrap()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Client { child, input: between.stdin.take(), output, next: 0 };
        let begun = client.call("start", take.clone());
        assert_eq!(begun["issue"], id.as_str());
        if is_killed {
            // In the middle of a question, and nobody reads the answer.
            client.ask("tools/call", json!({ "name": "status" }));
            between.kill().unwrap();
        } else {
            drop(client.input.take());
        }
        between.wait().unwrap();
        let Client { mut child, output, .. } = client;
        drop(output);
        assert_eq!(child.wait().unwrap().code(), Some(0), "killed: {is_killed}");
        assert_eq!(bench.leases()[0]["agent_id"], "agent:ann", "the claim is kept");
        // Before the grace is over nobody else has it, and the same agent goes on with what it held.
        assert!(other.refused("start", take.clone()).contains("HELD"));
        let mut again = Client::new(&bench, "agent:ann", &one);
        let held = again.call("start", take.clone());
        assert_eq!((&held["already_held"], &held["fence"]), (&true.into(), &begun["fence"]), "{held}");
        again.kill();
        holdfast_trial::until("another one takes over once the grace is over", || {
            let answer = other.answer("tools/call", json!({ "name": "start", "arguments": take }));
            answer["result"]["isError"] == false
        });
        other.call("drop", json!({ "issue": id }));
    }
}

#[test]
fn agents_that_nobody_named_are_told_apart_by_their_clients() {
    let bench = with_code();
    bench.issue("one");
    let mut client = Client::new(&bench, "", &bench.worktree("one"));
    let info = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "Claude Code/é", "version": "1" } });
    client.answer("initialize", info);
    let begun = client.call("start", json!({}));
    let agent = begun["agent"].as_str().unwrap();
    assert_eq!(agent, format!("agent:claude-code-{}", std::process::id()), "{begun}");
}

/// Whatever tools there are, those to come too: called by another agent with all that they take, here and in the holder's
/// own worktree, none ends a claim whose eviction needs approval.
#[test]
fn no_tool_takes_a_claim_away_past_its_approval() {
    let bench = with_code();
    bench.config("[policy]\nforce_evict = \"approved\"\n");
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-qm", "rule"], &bench.repo());
    let (holder, other) = (bench.worktree("holder"), bench.worktree("other"));
    let issue = bench.issue("held");
    let lease = bench.run_at("agent:a", &["-q", "claim", "acquire", &issue], &holder).ok().stdout;
    let mut client = Client::new(&bench, "agent:b", &other);
    let tools = client.answer("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let takes = tool["inputSchema"]["properties"].as_object().unwrap();
        for worktree in [&other, &holder] {
            let mut words = json!({
                "issue": issue, "fence": 1, "reason": "it is gone", "text": "it is gone", "title": "it is gone",
                "message": "mine", "empty": true, "worktree": worktree,
            });
            words.as_object_mut().unwrap().retain(|word, _| takes.contains_key(word));
            let told = client.answer("tools/call", json!({ "name": name, "arguments": words }));
            if ["start", "finish", "drop"].contains(&name) {
                assert_eq!(told["result"]["isError"], true, "{name}: {told}");
            }
            let held = bench.leases().into_iter().any(|one| one["lease_id"] == lease.trim());
            assert!(held, "{name} ended it: {told}");
        }
    }
    assert_eq!(client.leave(), Some(0));
}
