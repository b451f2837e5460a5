//! What clients read, in real files: every kind of file that people have, and what becomes of it.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::bench::Bench;

const CLIENTS: [&str; 5] = ["claude", "codex", "cursor", "opencode", "agents-md"];

#[test]
fn what_was_set_up_is_there_once_and_goes_without_a_trace() {
    for (end, mark) in [("\n", ""), ("\r\n", "\u{feff}")] {
        let bench = Bench::new();
        let lines = |text: &str| format!("{mark}{}", text.replace('\n', end));
        let json =
            lines("{\n  // ours\n  \"mcpServers\": { \"a\": { \"command\": \"x\" } },\n  \"hooks\": {}\n}\n");
        let files = [
            (".mcp.json", json.clone()),
            (".claude/settings.json", "{\"permissions\":{\"allow\":[\"Bash(ls)\"]}}".to_owned()),
            (".codex/config.toml", lines("model = \"x\" # kept\n\n[mcp_servers.other]\ncommand = \"y\"\n")),
            (".cursor/mcp.json", "{}".to_owned()),
            (".cursor/hooks.json", json),
            ("opencode.jsonc", lines("{\n\t\"mcp\": {\n\t\t\"b\": { \"type\": \"remote\" },\n\t},\n}")),
            ("AGENTS.md", lines("# Rules\nwithout an end")),
            ("CLAUDE.md", String::new()),
        ];
        for (name, text) in &files {
            let path = bench.repo().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        }
        for client in CLIENTS {
            // All of them share the instructions, which are there by then.
            bench.jit(&["setup", client, "--check"]).fails(if client == "agents-md" { 0 } else { 7 });
            bench.jit(&["setup", client]).ok();
            bench.jit(&["setup", client, "--check"]).ok();
            let before: Vec<_> =
                files.iter().map(|(name, _)| std::fs::read(bench.repo().join(name)).unwrap()).collect();
            let again = bench.jit(&["--json", "setup", client]).ok().json();
            let is_same = |file: &serde_json::Value| file["outcome"] == "unchanged";
            assert!(again["setup"]["files"].as_array().unwrap().iter().all(is_same), "{again}");
            let after: Vec<_> =
                files.iter().map(|(name, _)| std::fs::read(bench.repo().join(name)).unwrap()).collect();
            assert_eq!(before, after);
        }
        for client in CLIENTS {
            bench.jit(&["setup", client, "--remove"]).ok();
        }
        for (name, text) in &files {
            let path = bench.repo().join(name);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), *text, "{name}");
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640, "{name}");
        }
    }
}

#[test]
fn what_cannot_be_changed_is_left_alone_and_shown() {
    let bench = Bench::new();
    let at = |name: &str| bench.repo().join(name);
    std::fs::write(at(".mcp.json"), "{}").unwrap();
    std::fs::set_permissions(at(".mcp.json"), std::fs::Permissions::from_mode(0o444)).unwrap();
    symlink("AGENTS.md", at("CLAUDE.md")).unwrap();
    std::fs::create_dir(at("elsewhere")).unwrap();
    symlink("elsewhere", at(".claude")).unwrap();
    std::fs::write(at("AGENTS.md"), [0xff, 0xfe]).unwrap();
    let said = bench.jit(&["--json", "setup", "claude"]).fails(7).json();
    let files = said["setup"]["files"].as_array().unwrap();
    for (file, why) in files.iter().zip(["it is read-only", ".claude is a link", "", "it is not UTF-8"]) {
        assert_eq!(file["reason"].as_str().unwrap_or_default(), why, "{file}");
        // Whoever reads a link to the instructions needs nothing more.
        assert_eq!(file["content"].is_string(), !why.is_empty(), "{file}");
    }
    assert_eq!(std::fs::read(at(".mcp.json")).unwrap(), b"{}");
    assert_eq!(std::fs::read(at("AGENTS.md")).unwrap(), [0xff, 0xfe]);
    assert_eq!(std::fs::read_dir(at("elsewhere")).unwrap().count(), 0);
    std::fs::create_dir(at(".codex")).unwrap();
    for (text, why) in [
        ("model = ", "it is not valid TOML"),
        ("mcp_servers = { a = { command = \"x\" } }\n", "written in one line"),
        ("[mcp_servers.jit]\ncommand = \"other\"\n", "another server 'jit'"),
    ] {
        std::fs::write(at(".codex/config.toml"), text).unwrap();
        let said = bench.jit(&["setup", "codex"]).fails(7).stdout;
        assert!(said.contains(why) && said.contains("[mcp_servers.jit]"), "{said}");
        assert_eq!(std::fs::read_to_string(at(".codex/config.toml")).unwrap(), text);
    }
}
