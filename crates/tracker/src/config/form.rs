//! What the value of a key may look like: read from a file and from a command line by the same rules.

use toml::de::{DeInteger, DeValue};

use super::problem::{Fault, ProblemKind, shown};
use super::suggest;
use super::value::{Value, quoted};

/// A list with more entries than this is a mistake.
const MOST: usize = 64;

/// One word that a key knows.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The word.
    pub word: &'static str,
    /// What it does.
    pub means: &'static str,
}

/// What a text must be.
#[derive(Clone, Copy, Debug)]
pub struct TextForm {
    /// What it is about, with an example where that helps.
    pub what: &'static str,
    /// Whether a text can be that.
    pub check: fn(&str) -> bool,
}

/// What the value of a key may be.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Number {
        /// The smallest one.
        least: u64,
        /// The largest one.
        most: u64,
    },
    /// One of these words.
    Word(&'static [Choice]),
    /// A text of a certain kind.
    Text(TextForm),
    /// At least one text of a certain kind, none twice.
    List(TextForm),
}

impl Form {
    /// What is expected, for a person.
    #[must_use]
    pub fn expects(&self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Number { least, most } => format!("a whole number from {least} to {most}"),
            Self::Word(choices) => {
                let words: Vec<_> = choices.iter().map(|choice| quoted(choice.word)).collect();
                words.join(" or ")
            }
            Self::Text(text) => text.what.to_owned(),
            Self::List(text) => format!("a list, each entry {}", text.what),
        }
    }

    /// The value that a file gives.
    pub(super) fn read(&self, value: &DeValue<'_>) -> Result<Value, Fault> {
        match (self, value) {
            (Self::Switch, DeValue::Boolean(yes)) => Ok(Value::Switch(*yes)),
            (Self::Number { .. }, DeValue::Integer(number)) => self.number(integer(number)),
            (Self::Word(_) | Self::Text(_), DeValue::String(text)) => self.text(text),
            (Self::List(_), DeValue::Array(entries)) => {
                let texts: Option<Vec<_>> = entries.iter().map(|entry| entry.get_ref().as_str()).collect();
                self.list(&texts.ok_or_else(|| self.wrong_type("an entry that is no text"))?)
            }
            (_, other) => Err(self.wrong_type(found(other))),
        }
    }

    /// The value that a command line gives.
    pub(super) fn parse(&self, text: &str) -> Result<Value, Fault> {
        match self {
            Self::Switch => match text {
                "true" => Ok(Value::Switch(true)),
                "false" => Ok(Value::Switch(false)),
                _ => Err(self.wrong_type(&shown(text))),
            },
            Self::Number { .. } => match text.strip_prefix(['-', '+']).unwrap_or(text) {
                "" => Err(self.wrong_type("nothing")),
                digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => self.number(text.parse().ok()),
                _ => Err(self.wrong_type(&shown(text))),
            },
            Self::Word(_) | Self::Text(_) => self.text(text),
            Self::List(_) if text.trim_start().starts_with('[') => match DeValue::parse(text) {
                Ok(value) => self.read(value.get_ref()),
                Err(error) => Err(Fault::new(ProblemKind::Syntax, error.message())),
            },
            Self::List(_) => self.list(&text.split(',').map(str::trim).collect::<Vec<_>>()),
        }
    }

    /// A number within the bounds; none is one that no computer can count to.
    fn number(&self, number: Option<i128>) -> Result<Value, Fault> {
        let Self::Number { least, most } = *self else { return Err(self.wrong_type("a number")) };
        let number = number.and_then(|number| u64::try_from(number).ok());
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Value::Number(number)),
            None => {
                let what = format!("it must be from {least} to {most}");
                Err(Fault::new(ProblemKind::OutOfRange, what))
            }
        }
    }

    fn text(&self, text: &str) -> Result<Value, Fault> {
        match self {
            Self::Word(choices) if choices.iter().all(|choice| choice.word != text) => {
                let what =
                    format!("{} is no word it knows; expected {}", quoted(&shown(text)), self.expects());
                let near = suggest::near(text, choices.iter().map(|choice| choice.word));
                Err(Fault::new(ProblemKind::UnknownWord, what).did_you_mean(&near))
            }
            Self::Text(form) if !(form.check)(text) => Err(unfit(form, text)),
            _ => Ok(Value::Text(text.to_owned())),
        }
    }

    fn list(&self, texts: &[&str]) -> Result<Value, Fault> {
        let Self::List(form) = self else { return Err(self.wrong_type("a list")) };
        if !(1..=MOST).contains(&texts.len()) {
            let what = format!("it must have from 1 to {MOST} entries, not {}", texts.len());
            return Err(Fault::new(ProblemKind::OutOfRange, what));
        }
        for (at, text) in texts.iter().enumerate() {
            if !(form.check)(text) {
                return Err(unfit(form, text));
            }
            if texts.iter().take(at).any(|earlier| earlier == text) {
                return Err(Fault::new(ProblemKind::BadText, format!("{} is there twice", quoted(text))));
            }
        }
        Ok(Value::List(texts.iter().map(|text| (*text).to_owned()).collect()))
    }

    fn wrong_type(&self, found: &str) -> Fault {
        Fault::new(ProblemKind::WrongType, format!("expected {}, found {found}", self.expects()))
    }
}

fn unfit(form: &TextForm, text: &str) -> Fault {
    Fault::new(ProblemKind::BadText, format!("{} cannot be {}", quoted(&shown(text)), form.what))
}

fn integer(number: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(number.as_str(), number.radix()).ok()
}

const fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
