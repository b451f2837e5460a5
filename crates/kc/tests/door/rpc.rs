//! The procedure calls: what is not understood is refused, and the next line is served all the same.

use serde_json::{Value, json};

use crate::arm::{Op, Rpc, request};
use crate::bench::{Bench, NOW};

#[test]
fn what_is_not_understood_is_refused_and_the_next_line_is_served() {
    let bench = Bench::new(&["doc"]);
    let mut rpc = Rpc::new(&bench);
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let long = "x".repeat(200_000);
    let hostile: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"{}".to_vec(),
        b"\xff\xfe".to_vec(),
        b"{\"method\":\"lineage_lock_status\"".to_vec(),
        b"{\"method\":\"lineage_lock_status\"} x".to_vec(),
        b"{\"method\":7}".to_vec(),
        b"{\"method\":\"no_such\",\"params\":{}}".to_vec(),
        b"{\"method\":\"a\\u001b[31m\",\"params\":{}}".to_vec(),
        b"{\"method\":\"lineage_lock_status\"}".to_vec(),
        b"{\"method\":\"lineage_lock_status\",\"params\":[0]}".to_vec(),
        b"{\"method\":\"lineage_lock_status\",\"params\":{\"now_ms\":0,\"extra\":1}}".to_vec(),
        b"{\"method\":\"lineage_lock_status\",\"params\":{\"now_ms\":0,\"now_ms\":1}}".to_vec(),
        b"{\"method\":\"lineage_lock_status\",\"params\":{\"now_ms\":0},\"id\":1}".to_vec(),
        b"{\"method\":\"lineage_lock_status\",\"params\":{\"now_ms\":1.5}}".to_vec(),
        b"{\"method\":\"lineage_lock_status\",\"params\":{\"now_ms\":1e30}}".to_vec(),
        b"{\"method\":\"lineage_lock_status\",\"params\":{\"now_ms\":\"0\"}}".to_vec(),
        b"{\"method\":\"lineage_lock_status\",\"params\":{\"now_ms\":99999999999999999999}}".to_vec(),
        b"{\"method\":\"lineage_lock_acquire\",\"params\":{\"doc_id\":\"doc\",\"now_ms\":0}}".to_vec(),
        deep.into_bytes(),
        long.into_bytes(),
    ];
    let before = bench.dump();
    for line in &hostile {
        let shown = String::from_utf8_lossy(&line[..line.len().min(90)]).into_owned();
        let reply = rpc.line(line);
        assert_eq!(reply["ok"], false, "{shown}");
        assert_eq!(reply["error"]["code"], "KC_LINEAGE_QUERY_FAILED", "{shown}");
        assert_eq!(reply["error"]["category"], "validation", "{shown}");
        let status =
            rpc.line(request(&Op::Status { doc: Some("doc".into()), now: NOW }).to_string().as_bytes());
        assert_eq!(
            status,
            json!({ "ok": true, "data": { "lock": { "doc_id": "doc", "held": false,
            "owner": null, "fence": null, "acquired_at_ms": null, "expires_at_ms": null } } }),
            "{shown}"
        );
    }
    assert_eq!(bench.dump(), before);
    assert_eq!(rpc.end(), Some(0));
}

#[test]
fn a_change_without_a_token_is_refused_as_one_whose_token_proves_nothing() {
    let bench = Bench::new(&["doc"]);
    let token = bench.acquire("doc", "ann", NOW);
    let mut rpc = Rpc::new(&bench);
    let (doc, edge) = (|| "doc".to_owned(), || "edge".to_owned());
    let add = Op::Add { doc: doc(), from: edge(), evidence: edge(), token: token.clone(), now: NOW };
    let overlay = rpc.line(request(&add).to_string().as_bytes());
    let overlay = overlay["data"]["overlay"]["overlay_id"].as_str().unwrap().to_owned();
    let again = Op::Add { doc: doc(), from: edge(), evidence: "more".into(), token: token.clone(), now: NOW };
    for op in
        [again, Op::Remove { overlay, token: token.clone(), now: NOW }, Op::Release { doc: doc(), token }]
    {
        let mut bare = request(&op);
        let params = bare["params"].as_object_mut().unwrap();
        params.retain(|key, _| key != "token" && key != "lock_token");
        let reply: Value = rpc.line(bare.to_string().as_bytes());
        assert_eq!(reply["error"]["code"], "KC_LINEAGE_LOCK_INVALID", "{op:?}");
    }
}

#[test]
fn a_shell_that_mounts_the_dispatcher_gets_what_the_program_replies() {
    let bench = Bench::new(&["doc"]);
    bench.acquire("doc", "ann", NOW);
    let (mut conn, mut rpc) = (bench.open(), Rpc::new(&bench));
    let doc = || "doc".to_owned();
    for op in [
        Op::Status { doc: Some(doc()), now: NOW },
        Op::Status { doc: None, now: NOW },
        Op::Acquire { doc: doc(), owner: "bob".into(), now: NOW },
        Op::Release { doc: doc(), token: "x".into() },
        Op::List { doc: doc() },
    ] {
        let wanted = request(&op);
        let params = serde_json::value::to_raw_value(&wanted["params"]).unwrap();
        let reply = holdfast_kc::rpc::dispatch(&mut conn, wanted["method"].as_str().unwrap(), &params);
        assert_eq!(serde_json::to_value(reply).unwrap(), rpc.line(wanted.to_string().as_bytes()), "{op:?}");
    }
}

#[test]
fn a_token_that_is_null_is_a_missing_one() {
    let bench = Bench::new(&["doc"]);
    bench.acquire("doc", "ann", NOW);
    let mut rpc = Rpc::new(&bench);
    let (doc, token) = (|| "doc".to_owned(), String::new);
    for op in [
        Op::Add { doc: doc(), from: doc(), evidence: doc(), token: token(), now: NOW },
        Op::Release { doc: doc(), token: token() },
    ] {
        let mut bare = request(&op);
        let key = if bare["params"].get("token").is_some() { "token" } else { "lock_token" };
        bare["params"][key] = Value::Null;
        let reply: Value = rpc.line(bare.to_string().as_bytes());
        assert_eq!(reply["error"]["code"], "KC_LINEAGE_LOCK_INVALID", "{op:?}: {reply}");
        bare["params"][key] = 7.into();
        let reply: Value = rpc.line(bare.to_string().as_bytes());
        assert_eq!(reply["error"]["category"], "validation", "{op:?}: {reply}");
    }
}

#[test]
fn fields_without_their_names_are_refused() {
    let bench = Bench::new(&["doc"]);
    let mut rpc = Rpc::new(&bench);
    let before = bench.dump();
    for line in [
        r#"{"method":"lineage_lock_acquire","params":["doc","ann",0]}"#,
        r#"{"method":"lineage_lock_status","params":[null,0]}"#,
        r#"{"method":"lineage_overlay_list","params":["doc"]}"#,
        r#"["lineage_overlay_list",{"doc_id":"doc"}]"#,
        r#"{"method":"lineage_overlay_list"}"#,
        r#"{"method":"lineage_overlay_list","params":"doc"}"#,
    ] {
        let reply = rpc.line(line.as_bytes());
        assert_eq!(reply["error"]["category"], "validation", "{line}: {reply}");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains("must be an object with named fields"), "{line}: {message}");
    }
    assert_eq!(bench.dump(), before);
}
