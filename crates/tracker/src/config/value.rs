//! What a setting is worth, between the text of a file and the type that the rest of the program sees.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A value that its key's form has approved of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Switch(bool),
    /// A whole number.
    Number(u64),
    /// A text, or one word of several.
    Text(String),
    /// Texts in an order that matters.
    List(Vec<String>),
}

impl fmt::Display for Value {
    /// As a file would have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(yes) => yes.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => quoted(text).fmt(f),
            Self::List(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                write!(f, "[{}]", texts.join(", "))
            }
        }
    }
}

/// A text as a file would have it.
pub(super) fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

impl Value {
    /// As a script wants it: a text without its quotes, everything else as in a file.
    #[must_use]
    pub fn bare(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// A type that a setting can have.
pub(super) trait Typed: Sized {
    /// As a value; none if there is nothing to say.
    fn to_value(&self) -> Option<Value>;

    /// From what the files say, if it can be of this type.
    fn from_value(value: Option<&Value>) -> Option<Self>;
}

impl Typed for bool {
    fn to_value(&self) -> Option<Value> {
        Some(Value::Switch(*self))
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Switch(yes)) => Some(*yes),
            _ => None,
        }
    }
}

impl Typed for String {
    fn to_value(&self) -> Option<Value> {
        Some(Value::Text(self.clone()))
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

impl Typed for Vec<String> {
    fn to_value(&self) -> Option<Value> {
        Some(Value::List(self.clone()))
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::List(texts)) => Some(texts.clone()),
            _ => None,
        }
    }
}

macro_rules! number {
    ($($type:ty),+) => {$(
        impl Typed for $type {
            fn to_value(&self) -> Option<Value> {
                Some(Value::Number((*self).into()))
            }

            fn from_value(value: Option<&Value>) -> Option<Self> {
                match value {
                    Some(Value::Number(number)) => (*number).try_into().ok(),
                    _ => None,
                }
            }
        }
    )+};
}

number!(u8, u32, u64);

impl<T: Typed> Typed for Option<T> {
    fn to_value(&self) -> Option<Value> {
        self.as_ref().and_then(Typed::to_value)
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(_) => T::from_value(value).map(Some),
            None => Some(None),
        }
    }
}
