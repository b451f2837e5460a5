//! Any bytes as what is remembered of issues, between two looks at them: whatever it is, a list says what the files say.
//! Only a forger who gets its hash right is believed, about issues that look as the forger says; it hinders nobody.

use std::path::PathBuf;
use std::sync::Arc;

use crate::machine::{FOLDER, on_a_machine, path};
use holdfast_kernel::Millis;
use holdfast_sys::{Open, Sys};
use holdfast_tracker::issues::{Issues, Scope, Sets};
use holdfast_tracker::{Caller, Session, Silent};

/// Where it is remembered what the issues are.
pub const CACHE: &str = ".jit/lists/main";

/// What the file begins with, and the hash of everything behind it.
const MAGIC: usize = 8;
const HASH: usize = 32;

/// As many issues as it takes for something to be remembered.
const COUNT: usize = 16;

/// What lists say, and what cannot be read.
type Said = (Vec<String>, Vec<String>);

/// Feeds it.
pub(crate) fn check(input: &[u8]) {
    let (is_forged, bytes) = match input.split_first() {
        Some((b's', rest)) => (true, sealed(rest)),
        Some((_, rest)) => (false, rest.to_vec()),
        None => (false, Vec::new()),
    };
    on_issues(move |sys| {
        let truth = slow(&sys);
        for _ in 0..2 {
            put(&sys, &bytes);
            let said = quick(&sys);
            if is_forged {
                assert_eq!(said.0.len(), truth.0.len(), "a forged cache hides nothing and adds nothing");
            } else {
                assert_eq!(said, truth, "what cannot be used changes nothing");
            }
            let file = sys.files.open(&path(&issue(0)), Open::Write).expect("an issue");
            file.write_all_at(text(0, "gated").as_bytes(), 0).expect("a change");
            let said = quick(&sys);
            // A forger may know how the file will look.
            assert!(is_forged || said == slow(&sys), "a change is seen");
            file.write_all_at(text(0, "ready").as_bytes(), 0).expect("a change back");
        }
    });
}

/// Runs `body` on a machine with some issues, a while after they were written.
pub fn on_issues(body: impl FnOnce(Sys) + Send + 'static) {
    let texts: Vec<(String, String)> =
        (0..COUNT).map(|number| (issue(number), text(number, "ready"))).collect();
    let mut files: Vec<(&str, &[u8])> =
        texts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let labels = format!(".jit/issues/{}/labels.or-set.jsonl", id(1));
    let line = br#"{"id":"1","op":"add","value":"ui","at":"x"}"#;
    files.push((&labels, line));
    on_a_machine(&files, |sys| {
        sys.clock.sleep(Millis::from_secs(1));
        body(sys);
    });
}

/// The answer to whoever needs no more than a glance. Something is remembered of it afterwards.
#[must_use]
pub fn quick(sys: &Sys) -> Said {
    let session = session(sys);
    let said = Issues::new(&session).glance_with(Scope::All, Sets::ALL, |issue| Some(format!("{issue:?}")));
    let said = said.expect("issues that can be read");
    (said.found, said.problems)
}

fn slow(sys: &Sys) -> Said {
    let session = session(sys);
    let said = Issues::new(&session).scan(Scope::All, |seen| Some(format!("{:?}", seen.glance())));
    let said = said.expect("issues that can be read");
    (said.found, said.problems)
}

fn session(sys: &Sys) -> Session {
    let start = PathBuf::from(FOLDER);
    let caller = Caller::in_environment(sys.clone(), start, 1_000, &|_| None, Arc::new(Silent));
    Session::open(&caller).expect("issues are tracked here")
}

fn put(sys: &Sys, bytes: &[u8]) {
    let file = path(CACHE);
    if let Some(above) = file.parent() {
        // It may be there.
        let _ = sys.files.create_dir(above, 0o700);
    }
    let handle = sys.files.open(&file, Open::Create { mode: 0o600 }).expect("a file");
    handle.truncate(0).expect("an empty file");
    handle.write_all_at(bytes, 0).expect("a cache");
}

/// The same with the right hash.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let hash = bytes.get(MAGIC + HASH..).map(blake3::hash);
    if let (Some(hash), Some(room)) = (hash, bytes.get_mut(MAGIC..MAGIC + HASH)) {
        room.copy_from_slice(hash.as_bytes());
    }
    bytes
}

fn id(number: usize) -> String {
    format!("01K742SG0000067JZ1WHCK4{:03}", number + 100)
}

fn issue(number: usize) -> String {
    format!(".jit/issues/{}/issue.json", id(number))
}

fn text(number: usize, state: &str) -> String {
    let (id, at) = (id(number), "2026-01-01T00:00:00.000Z");
    format!(r#"{{"id":"{id}","title":"t","state":"{state}","created_at":"{at}","updated_at":"{at}"}}"#)
}
