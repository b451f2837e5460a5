//! One server per repository, which comes back as it was.

use holdfast_trial::Answer;

use crate::bench::{Bench, SERVER};

#[test]
fn there_is_one_server_per_repository() {
    let bench = Bench::new();
    let server = bench.serve();
    let linked = bench.worktree("linked");
    for at in [bench.repo(), linked] {
        let mut command = bench.server_command(&[]);
        let second = Answer::from(command.current_dir(at).output().unwrap()).fails(4);
        assert_eq!(second.json()["error"]["code"], "SERVER_RUNS");
        assert!(second.stderr.contains(&server.client.address), "{second}");
    }
}

#[test]
fn killed_and_started_again_it_is_where_it_was() {
    let bench = Bench::new();
    let first = bench.serve();
    let (address, cookie) = (first.client.address.clone(), first.client.cookie());
    first.kill();
    let again = bench.serve();
    assert_eq!(again.client.address, address, "the port of last time");
    let reply = again.client.request("GET", "/api/board", &[("Cookie", &cookie)], None);
    assert_eq!(reply.status, 200, "a page that is open goes on");
}

#[test]
fn a_port_that_somebody_took_is_not_waited_for() {
    let bench = Bench::new();
    let first = bench.serve();
    let address = first.client.address.clone();
    first.kill();
    let _taken = std::net::TcpListener::bind(&address).unwrap();
    assert_ne!(bench.serve().client.address, address);
}

#[test]
fn jit_serve_becomes_the_server_beside_it() {
    let bench = Bench::new();
    let mut command = bench.dressed(std::process::Command::new(Bench::program()));
    command.args(["serve", "--json"]).current_dir(bench.repo()).env("JIT_AGENT_ID", "agent:a");
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    let schema = bench.jit(&["schema", "serve"]).ok().json();
    let names = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&said["server"]), names(&schema["$defs"]["Served"]["properties"]));
    assert_eq!(
        (&said["server"]["agent_id"], said["server"]["pid"].as_u64()),
        (&"agent:a".into(), Some(child.id().into()))
    );
    let ended = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(ended.success());
    assert!(child.wait().unwrap().success(), "asked to end, it ends well");
}

#[test]
fn without_the_server_jit_serve_says_what_is_missing() {
    let bench = Bench::new();
    let alone = bench.root().join("jit");
    std::fs::copy(Bench::program(), &alone).unwrap();
    let mut command = bench.dressed(std::process::Command::new(&alone));
    command.args(["serve", "--json"]).current_dir(bench.repo());
    let answer = Answer::from(command.output().unwrap()).fails(1);
    assert_eq!(answer.json()["error"]["code"], "NO_PROGRAM");
    assert!(answer.stderr.contains("cargo xtask install"), "{answer}");
}

#[test]
fn who_acts_is_somebody_even_if_nobody_says() {
    let bench = Bench::new();
    let mut command = bench.dressed(std::process::Command::new(SERVER));
    command.arg("--json").current_dir(bench.repo()).env("USER", "ann b/");
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(said["server"]["agent_id"], "person:annb");
}

/// Also when the later version comes while the server runs.
#[test]
fn a_repository_of_a_later_format_gets_no_server_and_no_answer() {
    let bench = Bench::new();
    let server = bench.serve();
    std::fs::write(bench.repo().join(".jit/config.toml"), "[repository]\nformat = 2\n").unwrap();
    let before = bench.snapshot();
    let told = format!("jit {} is too old for it", env!("CARGO_PKG_VERSION"));
    let asked = server.post("/api/issues", &serde_json::json!({ "title": "more" }));
    assert_eq!(asked.refused(), (500, "NEWER_FORMAT".to_owned()));
    assert!(asked.json().to_string().contains(&told), "{}", asked.json());
    assert_eq!(bench.snapshot(), before);
    server.kill();
    let refused = Answer::from(bench.server_command(&[]).output().unwrap()).fails(10);
    assert_eq!(refused.json()["error"]["code"], "NEWER_FORMAT");
    assert!(refused.stderr.contains(&told), "{refused}");
}
