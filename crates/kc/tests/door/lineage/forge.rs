//! A token cannot be made from what everybody can see.

use holdfast_kc::secret::Secret;
use holdfast_kernel::{Fence, Name};
use serde_json::Value;

use crate::bench::{Bench, NOW};

/// Everything that status, refusals and the database's public columns show, in one text.
fn public(bench: &Bench, token: &str) -> String {
    let now = NOW.to_string();
    let asked: [&[&str]; 6] = [
        &["lineage", "lock", "status", "VAULT", "--now-ms", &now],
        &["lineage", "lock", "status", "VAULT", "doc", "--now-ms", &now],
        &["lineage", "lock", "acquire", "VAULT", "doc", "bob", "--now-ms", &now],
        &["lineage", "lock", "release", "VAULT", "doc", "blake3:00"],
        &["lineage", "overlay", "list", "VAULT", "doc"],
        &["vault", "check", "VAULT"],
    ];
    let said: Vec<String> = asked.iter().map(|words| format!("{:?}", bench.run(words))).collect();
    let said = said.join("\n");
    let digits = token.strip_prefix("blake3:").unwrap();
    assert!(!said.contains(digits), "a token leaked: {said}");
    let secret = std::fs::read_to_string(bench.vault().join("secret")).unwrap();
    assert!(!said.contains(secret.trim()), "the secret leaked: {said}");
    said
}

/// What somebody would try who knows the recipe and everything but the secret.
fn guesses(status: &Value, secret_id: &str) -> Vec<String> {
    let lock = &status["lock"];
    let (doc, owner) = (lock["doc_id"].as_str().unwrap(), lock["owner"].as_str().unwrap());
    let (at, fence) = (lock["acquired_at_ms"].as_u64().unwrap(), lock["fence"].as_u64().unwrap());
    let name = |text| Name::new(text).unwrap();
    let keys = [[0; 32], [0xff; 32], *blake3::hash(b"").as_bytes(), *blake3::hash(doc.as_bytes()).as_bytes()];
    let id = *blake3::Hash::from_hex(secret_id).unwrap().as_bytes();
    let keyed = keys
        .into_iter()
        .chain([id])
        .map(|key| Secret::new(key).token(doc, &name(owner), at, Fence::new(fence).unwrap()).to_string());
    let mut plain = blake3::Hasher::new();
    for field in [doc.as_bytes(), owner.as_bytes(), &at.to_le_bytes(), &fence.to_le_bytes()] {
        plain.update(&(field.len() as u64).to_le_bytes());
        plain.update(field);
    }
    let joined = blake3::hash(format!("{doc}{owner}{at}{fence}").as_bytes());
    let unkeyed = [plain.finalize(), joined].map(|hash| format!("blake3:{hash}"));
    keyed.chain(unkeyed).collect()
}

#[test]
fn a_token_cannot_be_made_from_what_everybody_can_see() {
    let bench = Bench::new(&["doc"]);
    let token = bench.acquire("doc", "ann", NOW);
    public(&bench, &token);
    let status = bench.run(&["lineage", "lock", "status", "VAULT", "doc", "--now-ms", &NOW.to_string()]).ok();
    let conn = rusqlite::Connection::open(bench.database()).unwrap();
    let secret_id: String = conn.query_row("SELECT secret_id FROM vault", [], |row| row.get(0)).unwrap();
    for guess in guesses(&status, &secret_id) {
        assert_ne!(guess, token);
        let refused = bench.run(&["lineage", "lock", "release", "VAULT", "doc", &guess]);
        assert_eq!(refused.failed(), "KC_LINEAGE_LOCK_INVALID");
    }
    bench.run(&["lineage", "lock", "release", "VAULT", "doc", &token]).ok();
}

#[test]
fn another_vault_gives_another_token_and_a_copy_the_same() {
    let (one, two) = (Bench::new(&["doc"]), Bench::new(&["doc"]));
    let copy = one.copy();
    let token = one.acquire("doc", "ann", NOW);
    assert_eq!(copy.acquire("doc", "ann", NOW), token);
    assert_ne!(two.acquire("doc", "ann", NOW), token);
}
