//! Nobody gets in: each attack that is known, against a real server.

use std::io::{BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use holdfast_trial::has;
use serde_json::json;

use crate::bench::Bench;
use crate::client::{Client, read};

/// A path of each kind.
const PATHS: [&str; 7] = [
    "/healthz",
    "/openapi.json",
    "/api/board",
    "/api/issues",
    "/api/events",
    "/api/claims/status",
    "/nothing",
];

fn refused(reply: &crate::client::Reply) -> (u16, String) {
    let (status, code) = reply.refused();
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(reply.headers.get(name).map(String::as_str), Some(value), "{reply:?}");
    }
    assert!(!reply.headers.keys().any(|name| name.starts_with("access-control")), "{reply:?}");
    (status, code)
}

#[test]
fn a_name_of_somebody_else_leads_nowhere() {
    let bench = Bench::new();
    let server = bench.serve();
    let client = &server.client;
    let port = client.address.rsplit_once(':').unwrap().1;
    let bearer = client.bearer();
    for path in PATHS {
        for host in [
            "evil.example",
            &format!("evil.example:{port}"),
            "127.0.0.1",
            "127.0.0.1:1",
            "",
            &format!("127.0.0.1.evil.example:{port}"),
        ] {
            let reply = client.request("GET", path, &[("Host", host), ("Authorization", &bearer)], None);
            assert_eq!(refused(&reply), (403, "FOREIGN_HOST".into()), "{path} {host}");
        }
        let absolute = format!(
            "GET http://evil.example:{port}{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\nConnection: close\r\n\r\n",
            client.address
        );
        assert_eq!(refused(&client.raw(absolute.as_bytes())), (403, "FOREIGN_HOST".into()), "{path}");
    }
    for hosts in ["", &format!("Host: {0}\r\nHost: evil.example\r\n", client.address)] {
        let text = format!("GET /healthz HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
        assert_eq!(client.raw(text.as_bytes()).status, 400, "{hosts}");
    }
    let localhost = format!("localhost:{port}");
    assert_eq!(client.request("GET", "/healthz", &[("Host", &localhost)], None).status, 200);
}

#[test]
fn a_page_of_somebody_else_changes_and_reads_nothing() {
    let bench = Bench::new();
    let server = bench.serve();
    let client = &server.client;
    let (cookie, bearer, origin) = (client.cookie(), client.bearer(), client.origin());
    let before = bench.snapshot();
    let body = json!({ "title": "mine" }).to_string();
    let post = |headers: &[(&str, &str)]| client.request("POST", "/api/issues", headers, Some(&body));
    let foreign = (403, "FOREIGN_ORIGIN".to_owned());
    for bad in [
        "http://evil.example",
        "null",
        "http://127.0.0.1",
        "",
        &origin.replace("http", "ftp"),
        &format!("{origin}.evil.example"),
    ] {
        assert_eq!(refused(&post(&[("Cookie", &cookie), ("Origin", bad)])), foreign, "{bad}");
        assert_eq!(refused(&post(&[("Authorization", &bearer), ("Origin", bad)])), foreign, "{bad}");
        let read = client.request("GET", "/api/board", &[("Cookie", &cookie), ("Origin", bad)], None);
        assert_eq!(refused(&read), foreign, "{bad}");
        let login = format!("{{\"token\":\"{}\"}}", client.token);
        assert_eq!(
            refused(&client.request("POST", "/api/session", &[("Origin", bad)], Some(&login))),
            foreign
        );
    }
    assert_eq!(refused(&post(&[("Cookie", &cookie)])), foreign, "a browser says which page it is");
    for site in ["cross-site", "same-site"] {
        let headers = [("Cookie", cookie.as_str()), ("Origin", &origin), ("Sec-Fetch-Site", site)];
        assert_eq!(refused(&post(&headers)), foreign);
    }
    for kind in ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", ""] {
        let headers = [("Cookie", cookie.as_str()), ("Origin", &origin), ("Content-Type", kind)];
        assert_eq!(refused(&post(&headers)), (415, "NOT_JSON".into()), "{kind}");
    }
    let options = client.request("OPTIONS", "/api/issues", &[("Origin", &origin), ("Cookie", &cookie)], None);
    assert_eq!((options.status, options.headers["allow"].as_str()), (405, "POST"));
    assert_eq!(bench.snapshot(), before, "nothing was written");

    assert_eq!(post(&[("Cookie", &cookie), ("Origin", &origin)]).status, 200, "our own page may");
    assert_eq!(post(&[("Authorization", &bearer)]).status, 200, "and whoever has the token");
}

#[test]
fn nothing_but_the_token_opens() {
    let bench = Bench::new();
    bench.issue("a secret");
    let server = bench.serve();
    let client = &server.client;
    let (cookie, token) = (client.cookie(), client.token.clone());
    let before = bench.snapshot();
    let wrong = token.chars().rev().collect::<String>();
    let name = cookie.split_once('=').unwrap().0;
    let attempts: Vec<(&str, String)> = vec![
        ("X", String::new()),
        ("Authorization", format!("Bearer {wrong}")),
        ("Authorization", format!("Bearer {}", &token[1..])),
        ("Authorization", "Bearer".into()),
        ("Authorization", token.clone()),
        ("Authorization", format!("Basic {token}")),
        ("Cookie", format!("{name}={token}")),
        ("Cookie", format!("{name}=1")),
        ("Cookie", format!("{name}=99999999999.{}", "0".repeat(64))),
        ("Cookie", format!("{name}={}", &cookie[name.len() + 2..])),
        ("Cookie", cookie.replacen('-', "_", 1)),
        ("Cookie", format!("token={token}")),
    ];
    for (header, value) in &attempts {
        for path in PATHS.iter().filter(|path| **path != "/healthz") {
            let reply = client.request("GET", path, &[(header, value)], None);
            assert_eq!(refused(&reply), (401, "UNAUTHORIZED".into()), "{path} {header}: {value}");
            assert!(!reply.body.contains("secret"));
        }
        let reply = client.request("POST", "/api/issues", &[(header, value)], Some("{\"title\":\"x\"}"));
        assert_eq!(refused(&reply), (401, "UNAUTHORIZED".into()), "{header}: {value}");
    }
    for query in ["token", "access_token", "authorization"] {
        let path = format!("/api/board?{query}={token}");
        assert_eq!(refused(&client.request("GET", &path, &[], None)), (401, "UNAUTHORIZED".into()));
        // Where it would end up in logs it is no use even to whoever may ask.
        assert_eq!(refused(&client.get(&path)), (400, "BAD_REQUEST".into()));
    }
    for body in [format!("{{\"token\":\"{wrong}\"}}"), "{\"token\":\"\"}".into()] {
        let reply = client.request("POST", "/api/session", &[], Some(&body));
        assert_eq!(refused(&reply), (401, "UNAUTHORIZED".into()));
        assert!(!reply.headers.contains_key("set-cookie"));
    }
    assert_eq!(bench.snapshot(), before, "nothing was written");
    assert_eq!(client.request("GET", "/api/board", &[("Cookie", &cookie)], None).status, 200);
    assert_eq!(client.request("GET", "/healthz", &[], None).body, "{\"status\":\"ok\"}", "no data there");
}

#[test]
fn a_cookie_of_one_server_is_none_of_another() {
    let (one, other) = (Bench::new(), Bench::new());
    let (first, second) = (one.serve(), other.serve());
    let value = first.client.cookie().split_once('=').unwrap().1.to_owned();
    let name = second.client.cookie().split_once('=').unwrap().0.to_owned();
    let reply = second.client.request("GET", "/api/board", &[("Cookie", &format!("{name}={value}"))], None);
    assert_eq!(refused(&reply), (401, "UNAUTHORIZED".into()));
}

#[test]
fn paths_queries_and_headers_are_what_they_say() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    let server = bench.serve();
    let client = &server.client;
    for path in [
        "/api/issues/..",
        "/api/issues/%2e%2e",
        "/api/../api/board",
        "//api/board",
        "/api/board/",
        "/api/./board",
        "/api/issues/..%2f..%2fetc%2fpasswd",
        "/..%2f..%2fetc/passwd",
        "/../../etc/passwd",
        "/api/issues/a%00b",
        "/index.html/..",
    ] {
        assert_eq!(refused(&client.get(path)), (404, "NO_ROUTE".into()), "{path}");
    }
    for path in [
        "/api/issues?state=%0d%0aSet-Cookie:%20a=b",
        "/api/issues?state=%ff",
        "/api/issues?x=1",
        "/api/issues?limit=-1",
        "/api/claims/status?kind=x",
        "/api/issues?sort=title&sort=title",
    ] {
        assert_eq!(refused(&client.get(path)), (400, "BAD_REQUEST".into()), "{path}");
    }
    assert_eq!(refused(&client.get("/api/issues?state=nonsense")), (422, "BAD_VALUE".into()));
    assert_eq!(refused(&client.get("/api/issues?since=nonsense")), (422, "BAD_VALUE".into()));
    assert_eq!(refused(&client.get("/api/issues/zzzzzzzz")).0, 404);
    assert_eq!(client.get(&format!("/api/issues/{issue}")).status, 200);
    let head = format!(
        "GET /api/board HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\n",
        client.address,
        client.bearer()
    );
    for (bad, status) in [
        ("A: b\0c\r\n", 400),
        ("A b: c\r\n", 400),
        ("A: b\nC\x01: d\r\n", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", 400),
        (&"A: b\r\n".repeat(100), 431),
        (&format!("A: {}\r\n", "x".repeat(70_000)), 431),
    ] {
        let reply = client.heard(format!("{head}{bad}Connection: close\r\n\r\n").as_bytes());
        assert!(reply.as_ref().is_none_or(|reply| reply.status == status), "{bad:.40} {reply:?}");
    }
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        assert!(client.heard(bytes).is_none_or(|reply| reply.status == 400));
    }
    assert_eq!(client.get("/healthz").status, 200, "it is still there");
}

#[test]
fn bodies_that_are_too_much_are_refused() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    let server = bench.serve();
    let client = &server.client;
    let before = bench.snapshot();
    let post = |body: &str| {
        client.request("POST", "/api/issues", &[("Authorization", &client.bearer())], Some(body))
    };
    let huge = format!("{{\"title\":\"{}\"}}", "x".repeat(2 << 20));
    assert_eq!(refused(&post(&huge)), (413, "TOO_LARGE".into()));
    let (address, bearer) = (&client.address, client.bearer());
    let head = format!(
        "POST /api/issues HTTP/1.1\r\nHost: {address}\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n"
    );
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n")
        + &format!("10000\r\n{}\r\n", "x".repeat(0x10000)).repeat(20)
        + "0\r\n\r\n";
    assert_eq!(refused(&client.raw(chunked.as_bytes())), (413, "TOO_LARGE".into()));
    let endless = format!("{head}Content-Length: 99999999999999\r\n\r\n");
    assert_eq!(refused(&client.raw(endless.as_bytes())), (413, "TOO_LARGE".into()));
    for body in [
        "[".repeat(500_000),
        "{\"title\":".repeat(50_000),
        String::new(),
        "{".into(),
        "null".into(),
        "[]".into(),
        "[\"by its place\"]".into(),
        "\"x\"".into(),
        "{\"title\":1}".into(),
        "{\"title\":\"a\",\"title\":\"b\"}".into(),
        "{\"title\":\"a\",\"more\":1}".into(),
        "{\"title\":\"\u{d7ff}\\ud800\"}".into(),
        "{\"title\":\"a\"} {}".into(),
        "\u{feff}{\"title\":\"a\"}".into(),
    ] {
        assert_eq!(refused(&post(&body)), (400, "BAD_REQUEST".into()), "{body:.40}");
    }
    assert_eq!(post("{\"title\":\"\"}").status, 422);
    assert_eq!(post("{\"title\":\"a\\u0000b\"}").status, 422);
    let deep = client.post(&format!("/api/issues/{issue}/notes"), &json!({ "text": "x".repeat(70_000) }));
    assert_eq!(refused(&deep), (422, "BAD_VALUE".into()));
    assert_eq!(bench.snapshot(), before, "nothing was written");
}

#[test]
fn slow_clients_are_sent_away_and_cost_nobody_anything() {
    let bench = Bench::new();
    let server = bench.serve();
    let client = &server.client;
    let started = Instant::now();
    let mut slow: Vec<_> = (0..40)
        .map(|number| {
            let mut stream = client.connect();
            let head = format!("POST /api/issues HTTP/1.1\r\nHost: {}\r\n", client.address);
            let rest = format!(
                "Authorization: {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
                client.bearer()
            );
            match number % 4 {
                0 => {}
                1 => stream.write_all(b"G").unwrap(),
                2 => stream.write_all(head.as_bytes()).unwrap(),
                _ => stream.write_all(format!("{head}{rest}").as_bytes()).unwrap(),
            }
            (number % 4, BufReader::new(stream))
        })
        .collect();
    let mut asked = Vec::new();
    while started.elapsed() < Duration::from_secs(2) {
        let asking = Instant::now();
        assert_eq!(client.get("/api/claims/status").status, 200);
        asked.push(asking.elapsed());
    }
    asked.sort();
    assert!(asked[asked.len() / 2] < Duration::from_millis(500), "{asked:?}");
    for (kind, stream) in &mut slow {
        let reply = read(stream);
        if *kind == 3 {
            assert_eq!(reply.unwrap().refused(), (408, "TOO_SLOW".into()));
        } else {
            assert!(reply.is_none_or(|reply| reply.status == 408));
        }
    }
    assert!(started.elapsed() < Duration::from_secs(45), "{:?}", started.elapsed());
}

#[test]
fn another_user_of_the_machine_gets_nothing() {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !root || !has("setpriv") || !has("curl") {
        println!("skipped: this needs root, setpriv and curl");
        return;
    }
    let bench = Bench::new();
    bench.issue("a secret");
    for folder in [bench.root().to_owned(), bench.repo(), bench.repo().join(".git")] {
        assert!(Command::new("chmod").args(["0755", folder.to_str().unwrap()]).status().unwrap().success());
    }
    let server = bench.serve();
    let nobody = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).args(words);
        command.output().unwrap()
    };
    let url = format!("http://{}/api/board", server.client.address);
    let told = nobody(&["curl", "-s", "-o", "-", "-w", "%{http_code}", &url]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.ends_with("401") && !told.contains("secret"), "{told}");
    let folder = bench.repo().join(".git/jit/server-0");
    for name in ["token", "server.json"] {
        let path = folder.join(name);
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600, "{name}");
        assert!(!nobody(&["cat", path.to_str().unwrap()]).status.success());
    }
    // Its arguments and its environment, which others may see, do not have it.
    let seen = nobody(&["cat", &format!("/proc/{}/cmdline", server.pid())]);
    assert!(!String::from_utf8_lossy(&seen.stdout).contains(&server.client.token));
}

#[test]
fn a_token_that_others_may_read_is_not_used() {
    let bench = Bench::new();
    let file = bench.root().join("token");
    std::fs::write(&file, format!("{}\n", "a".repeat(40))).unwrap();
    let path = file.to_str().unwrap();
    let start = |args: &[&str]| holdfast_trial::Answer::from(bench.server_command(args).output().unwrap());
    for mode in ["0644", "0640", "0602"] {
        assert!(Command::new("chmod").args([mode, path]).status().unwrap().success());
        let answer = start(&["--token-file", path]).fails(10);
        assert!(answer.stderr.contains("others may read it"), "{answer}");
    }
    assert!(Command::new("chmod").args(["0600", path]).status().unwrap().success());
    std::fs::write(&file, "short\n").unwrap();
    assert!(start(&["--token-file", path]).fails(10).stderr.contains("at least 32 characters"));
    let link = bench.root().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert!(start(&["--token-file", link.to_str().unwrap()]).fails(10).stderr.contains("no file"));
    let far = start(&["--listen", "0.0.0.0:0"]).fails(6);
    assert!(far.stderr.contains("--token-file is needed"), "{far}");

    std::fs::write(&file, format!("{}\n", "a".repeat(40))).unwrap();
    let server = bench.serve_with(&["--token-file", path]);
    let client = Client { token: "a".repeat(40), ..server.client.clone() };
    assert_eq!(client.get("/api/board").status, 200);
}
