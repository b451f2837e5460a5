//! Answers that are too large to be held twice: text that is told piece by piece.

use std::fmt;
use std::ops::ControlFlow;

use holdfast_door::Clean;
use holdfast_tracker::error::Result;
use serde::Serialize;

/// Takes the pieces of an answer; whether it takes more.
pub type Take<'a> = dyn FnMut(&Clean) -> ControlFlow<()> + 'a;

/// What became of an answer that is made while it is told: whether all of it was taken.
pub type Told = Result<ControlFlow<()>>;

/// The pieces of an answer. They may be made only while they are told.
pub struct Pieces(Box<dyn Fn(&mut Take<'_>) -> Told>);

impl Pieces {
    /// An answer that is made while it is told. Whoever makes it must tell nothing before all is there that can fail.
    pub fn new(tell: impl Fn(&mut Take<'_>) -> Told + 'static) -> Self {
        Self(Box::new(tell))
    }

    /// Tells all pieces, as long as somebody takes them.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn tell(&self, take: &mut Take<'_>) -> Told {
        (self.0)(take)
    }

    /// All of them together.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn text(&self) -> Result<Clean> {
        let mut text = Clean::default();
        let _ = self.tell(&mut |piece| {
            text += piece.clone();
            ControlFlow::Continue(())
        })?;
        Ok(text)
    }
}

impl From<Vec<Clean>> for Pieces {
    fn from(pieces: Vec<Clean>) -> Self {
        Self::new(move |take| Ok(pieces.iter().try_for_each(take)))
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pieces")
    }
}

/// An object with one more member. `object` is the JSON of an object that has some.
#[must_use]
pub fn with_member(object: &Clean, name: &str, value: &impl Serialize) -> Clean {
    let open = object.as_str().strip_suffix('}').unwrap_or(object.as_str());
    Clean::from(open) + format!(",\"{name}\":") + Clean::json(value) + "}"
}

/// `{"<name>":[<objects>],"count":<their number>}`, told object by object, and `"more"` if some were left out.
pub struct List<'t, 'a> {
    take: &'t mut Take<'a>,
    name: &'static str,
    count: usize,
}

impl<'t, 'a> List<'t, 'a> {
    /// One without objects. Nothing is told before there is the first, or the end.
    pub fn new(name: &'static str, take: &'t mut Take<'a>) -> Self {
        Self { take, name, count: 0 }
    }

    /// One more object.
    pub fn put(&mut self, object: &Clean) -> ControlFlow<()> {
        let before = if self.count == 0 { self.head() } else { ",".into() };
        self.count += 1;
        (self.take)(&before)?;
        (self.take)(object)
    }

    /// There are no more objects; so many were left out.
    pub fn end(mut self, more: usize) -> ControlFlow<()> {
        if self.count == 0 {
            let head = self.head();
            (self.take)(&head)?;
        }
        let more = if more > 0 { format!(",\"more\":{more}") } else { String::new() };
        (self.take)(&format!("],\"count\":{}{more}}}", self.count).into())
    }

    fn head(&mut self) -> Clean {
        format!("{{\"{}\":[", self.name).into()
    }
}

/// The pieces of such a list.
#[must_use]
pub fn listed(name: &'static str, objects: Vec<Clean>, more: usize) -> Pieces {
    Pieces::new(move |take| {
        let mut list = List::new(name, take);
        Ok(match objects.iter().try_for_each(|object| list.put(object)) {
            ControlFlow::Continue(()) => list.end(more),
            enough => enough,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{listed, with_member};

    #[test]
    fn pieces_make_one_document() {
        for (objects, text) in [
            (vec![], r#"{"issues":[],"count":0}"#),
            (vec!["1".into(), "2".into()], r#"{"issues":[1,2],"count":2}"#),
        ] {
            assert_eq!(listed("issues", objects, 0).text().unwrap().as_str(), text);
        }
        assert_eq!(with_member(&r#"{"a":1}"#.into(), "b", &[2]).as_str(), r#"{"a":1,"b":[2]}"#);
    }
}
