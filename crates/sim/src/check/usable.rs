//! A medium can always be understood, works when nothing fails, and never panics or hangs. No legal fault
//! leaves files that only a person can mend: a crash never leaves a lock without an owner.

use crate::history::{Call, History, Told};

/// A call that the medium could not serve, if there is one.
#[must_use]
pub fn find(history: &History) -> Option<String> {
    if let Some(trouble) = history.troubles().first() {
        return Some(trouble.clone());
    }
    let call = history.calls().iter().find(|call| is_unserved(history, call))?;
    Some(history.describe(call))
}

fn is_unserved(history: &History, call: &Call) -> bool {
    let calm = history.actor(call.by).is_some_and(|actor| actor.calm);
    match &call.told {
        Told::Unusable(_) => true,
        Told::Failed(_) | Told::Nothing => calm,
        Told::Answer(_) | Told::Wrote | Told::View(_) | Told::Refused(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::check::handmade::Book;
    use crate::history::{Asked, Told};

    #[test]
    fn a_panic_is_found() {
        let mut book = Book::new();
        book.history_mut().trouble("it panicked".to_owned());
        assert_eq!(find(book.history()), Some("it panicked".to_owned()));
    }

    #[test]
    fn damage_is_found_whoever_meets_it() {
        let mut book = Book::new();
        let a = book.actor("a");
        book.call(a, Asked::View, Told::Failed("no space".to_owned()));
        assert_eq!(find(book.history()), None);
        book.call(a, Asked::View, Told::Unusable("an empty lock".to_owned()));
        assert!(find(book.history()).unwrap().contains("an empty lock"));
    }
}
