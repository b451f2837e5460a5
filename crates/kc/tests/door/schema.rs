//! Real output is what the schemas say, and what is not is found out.

use holdfast_kc::schemas::{REGISTRY, find};
use serde_json::{Value, json};

use crate::arm::{Op, Rpc, request};
use crate::bench::{Bench, LEASE, NOW};
use crate::validate::problems;

fn schema(name: &str) -> Value {
    serde_json::from_str(find(name).unwrap().text).unwrap()
}

fn valid(name: &str, document: &Value) {
    assert_eq!(problems(&schema(name), document), Vec::<String>::new(), "{name}");
}

#[test]
fn schema_registry_is_whole_and_can_be_printed() {
    let bench = Bench::empty();
    let listed = bench.run(&["schema"]).ok()["schemas"].clone();
    assert_eq!(listed.as_array().unwrap().len(), REGISTRY.len());
    for registered in REGISTRY {
        let schema = schema(registered.name);
        assert_eq!(schema["$id"], registered.name);
        assert_eq!(schema["additionalProperties"], false);
        let required = schema["required"].as_array().unwrap().len();
        assert_eq!(required, schema["properties"].as_object().unwrap().len(), "every field is always there");
        assert_eq!(bench.run(&["schema", registered.name]).stdout, registered.text);
        assert!(listed.as_array().unwrap().contains(&registered.name.into()));
    }
    assert_eq!(bench.run(&["schema", "no\x1bsuch"]).failed(), "KC_LINEAGE_QUERY_FAILED");
}

#[test]
fn schema_of_everything_that_is_really_said() {
    let bench = Bench::new(&["doc"]);
    let now = NOW.to_string();
    let lease = bench.run(&["lineage", "lock", "acquire", "VAULT", "doc", "ann", "--now-ms", &now]).ok();
    valid("lineage_lock.v1", &lease["lease"]);
    let token = lease["lease"]["token"].as_str().unwrap().to_owned();
    for at in [NOW, NOW + LEASE] {
        let status = bench.run(&["lineage", "lock", "status", "VAULT", "--now-ms", &at.to_string()]).ok();
        valid("lineage_lock_status.v1", &status["locks"][0]);
        assert_eq!(status["locks"][0]["held"], at == NOW);
    }
    let mut rpc = Rpc::new(&bench);
    let mut say = |op: &Op| rpc.line(request(op).to_string().as_bytes());
    let (doc, from) = ("doc".to_owned(), "from".to_owned());
    let add = Op::Add { doc: doc.clone(), from, evidence: "ü".repeat(9), token: token.clone(), now: NOW };
    valid("lineage_overlay.v1", &say(&add)["data"]["overlay"]);
    let list = say(&Op::List { doc: doc.clone() });
    valid("lineage_overlay.v1", &list["data"]["overlays"][0]);
    let errors = [
        (add, "KC_LINEAGE_OVERLAY_CONFLICT"),
        (Op::Acquire { doc: doc.clone(), owner: "bob".into(), now: NOW }, "KC_LINEAGE_LOCK_HELD"),
        (Op::Acquire { doc: doc.clone(), owner: "bob".into(), now: -1 }, "KC_LINEAGE_QUERY_FAILED"),
        (Op::List { doc: "no-such".into() }, "KC_LINEAGE_DOC_NOT_FOUND"),
        (Op::Release { doc: doc.clone(), token: String::new() }, "KC_LINEAGE_LOCK_INVALID"),
        (
            Op::Add {
                doc: doc.clone(),
                from: "a".into(),
                evidence: "e".into(),
                token: token.clone(),
                now: NOW + LEASE,
            },
            "KC_LINEAGE_LOCK_EXPIRED",
        ),
        (
            Op::Add {
                doc: doc.clone(),
                from: String::new(),
                evidence: "e".into(),
                token: token.clone(),
                now: NOW,
            },
            "KC_LINEAGE_OVERLAY_INVALID",
        ),
        (Op::Remove { overlay: "x".into(), token: token.clone(), now: NOW }, "KC_LINEAGE_OVERLAY_NOT_FOUND"),
    ];
    for (op, code) in errors {
        let reply = say(&op);
        assert_eq!((&reply["ok"], &reply["error"]["code"]), (&false.into(), &code.into()), "{op:?}");
        valid("app_error.v1", &reply["error"]);
    }
    let codes = schema("app_error.v1")["properties"]["code"]["enum"].as_array().unwrap().len();
    assert_eq!(codes, 8, "every code was seen above");
    say(&Op::Release { doc: doc.clone(), token });
    valid("lineage_lock_status.v1", &say(&Op::Status { doc: Some(doc), now: NOW })["data"]["lock"]);
}

#[test]
fn schema_violations_are_found_out() {
    let token = format!("blake3:{}", "0".repeat(64));
    let lock = json!({ "doc_id": "d", "owner": "o", "token": token, "fence": 1, "acquired_at_ms": 0,
                       "expires_at_ms": 900_000 });
    valid("lineage_lock.v1", &lock);
    let wrong = [
        ("doc_id", json!("")),
        ("owner", json!("x".repeat(257))),
        ("owner", json!(null)),
        ("token", json!("blake3:0")),
        ("token", json!(token.to_uppercase())),
        ("fence", json!(0)),
        ("fence", json!(1.5)),
        ("acquired_at_ms", json!(-1)),
        ("expires_at_ms", json!("900000")),
        ("extra", json!(1)),
    ];
    for (key, value) in wrong {
        let mut changed = lock.clone();
        changed[key] = value;
        assert_eq!(problems(&schema("lineage_lock.v1"), &changed).len(), 1, "{changed}");
    }
    for key in lock.as_object().unwrap().keys() {
        let mut missing = lock.clone();
        missing.as_object_mut().unwrap().remove(key);
        assert_eq!(problems(&schema("lineage_lock.v1"), &missing).len(), 1, "{missing}");
    }
    let status = json!({ "doc_id": "d", "held": false, "owner": null, "fence": null, "acquired_at_ms": null,
                         "expires_at_ms": null, "token": token });
    assert_eq!(problems(&schema("lineage_lock_status.v1"), &status).len(), 1, "a status never has a token");
}
