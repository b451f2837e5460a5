//! A JSON object that remembers the order of its fields and refuses to have one twice: a merge must neither
//! shuffle a file nor drop one of two values in silence.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

/// A JSON object.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Document(Vec<(String, Value)>);

impl Document {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let mut document = Document::default();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if document.get(&key).is_some() {
                return Err(A::Error::custom("a field is there twice"));
            }
            document.0.push((key, value));
        }
        Ok(document)
    }
}
