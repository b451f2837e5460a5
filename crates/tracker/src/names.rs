//! What issues are called where people read. The tracker names an issue by its id, which programs need; people know its
//! handle.

use std::sync::{Arc, OnceLock};

use crate::caller::Caller;
use crate::ids::{Handles, IssueId};
use crate::issues::Issues;
use crate::notice::Silent;
use crate::session::Session;

/// How long an id is.
const LENGTH: usize = 26;

/// What issues are called where somebody asks from; looked up when a text names one, and kept.
#[derive(Default)]
pub struct Names {
    caller: Option<Caller>,
    handles: OnceLock<Option<Handles>>,
}

impl Names {
    /// The names that whoever asks can see.
    #[must_use]
    pub fn new(caller: Caller) -> Self {
        // Whoever looks for names is not to be told what stands in the way.
        let caller = Caller { listener: Arc::new(Silent), ..caller };
        Self { caller: Some(caller), handles: OnceLock::new() }
    }

    /// The text with handles in place of ids, and without the ids of leases, which nobody types. What is part of a
    /// path stays as it is.
    #[must_use]
    pub fn put(&self, text: &str) -> String {
        let mut named = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, id, after)) = next_id(rest) {
            named.push_str(before);
            let is_path = before.ends_with(['/', '=']) || after.starts_with('/');
            match self.handle(id).filter(|_| !is_path) {
                Some(handle) => named.push_str(&handle),
                None if !is_path && named.ends_with("lease ") => drop(named.pop()),
                None => named.push_str(&id.to_string()),
            }
            rest = after;
        }
        named + rest
    }

    fn handle(&self, id: IssueId) -> Option<String> {
        let find = || {
            let session = Session::find(self.caller.as_ref()?).ok()?;
            Some(Issues::new(&session).handles().clone())
        };
        self.handles
            .get_or_init(find)
            .as_ref()
            .filter(|handles| handles.has(id))
            .map(|handles| handles.of(id))
    }
}

/// The first id in a text, with what stands before and after it.
fn next_id(text: &str) -> Option<(&str, IssueId, &str)> {
    let mut from = 0;
    while let Some(word) = text.get(from..)?.split(|c: char| !c.is_ascii_alphanumeric()).next() {
        let end = from + word.len();
        if word.len() == LENGTH
            && let Some(id) = IssueId::parse(word)
        {
            return Some((text.get(..from)?, id, text.get(end..)?));
        }
        from = end + text.get(end..)?.chars().next()?.len_utf8();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Names, next_id};

    #[test]
    fn ids_are_found_wherever_they_stand() {
        let id = "01K8ZZZZZZ0000000000000001";
        for (text, before, after) in [
            (format!("é {id}: x"), "é ", ": x"),
            (id.to_owned(), "", ""),
            (format!("'{id}'"), "'", "'"),
            (format!("01K8 {id}X {id}"), &format!("01K8 {id}X "), ""),
        ] {
            let (found, parsed, rest) = next_id(&text).unwrap();
            assert_eq!((found, parsed.to_string().as_str(), rest), (before, id, after));
        }
        assert!(next_id("nothing here, not even ……").is_none());
    }

    #[test]
    fn what_nobody_knows_stays_but_for_leases() {
        let id = "01K8ZZZZZZ0000000000000001";
        let names = Names::default();
        assert_eq!(names.put(&format!("the lease {id} on {id}")), format!("the lease on {id}"));
        let path = format!("git log -- .jit/issues/{id}/issue.json");
        assert_eq!(names.put(&path), path);
    }
}
