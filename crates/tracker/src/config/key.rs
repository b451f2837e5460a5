//! What a key is, and how to find one. The keys themselves are in [`super::keys`].

use super::form::Form;
use super::suggest;
use super::texts;
use super::value::Value;

/// A key, with all that there is to know about it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its full name. `<kind>` stands for any kind of agents.
    pub name: &'static str,
    /// What its value may be.
    pub form: Form,
    /// What holds where no file says anything; none if nothing does.
    pub default: fn() -> Option<Value>,
    /// What it does, in one line.
    pub about: &'static str,
}

/// Keys that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// What their names begin with.
    pub path: &'static str,
    /// What they are about.
    pub about: &'static str,
    /// The keys.
    pub keys: &'static [Key],
}

/// All keys of a kind of file.
#[derive(Clone, Copy, Debug)]
pub struct Schema(pub &'static [Section]);

/// What a path leads to.
pub(super) enum Found {
    /// A key.
    Key(&'static Key),
    /// A table with keys, or tables with keys, in it.
    Table,
    /// Nothing.
    Nothing,
}

impl Schema {
    /// All keys, in the order in which they are shown.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.0.iter().flat_map(|section| section.keys)
    }

    /// The key with this name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        match self.find(&name.split('.').collect::<Vec<_>>()) {
            Found::Key(key) => Some(key),
            Found::Table | Found::Nothing => None,
        }
    }

    pub(super) fn find(&self, path: &[&str]) -> Found {
        let mut found = Found::Nothing;
        for key in self.keys() {
            match key.name.split('.').count() {
                parts if parts < path.len() || !leads_to(path, key) => {}
                parts if parts == path.len() => return Found::Key(key),
                _ => found = Found::Table,
            }
        }
        found
    }

    /// What `name` may have meant: the keys of a table, or those that look like it.
    #[must_use]
    pub fn near(&self, name: &str) -> Vec<&'static str> {
        let path: Vec<_> = name.split('.').collect();
        match self.find(&path) {
            Found::Table => self.keys().filter(|key| leads_to(&path, key)).map(|key| key.name).collect(),
            _ => suggest::near(name, self.keys().map(|key| key.name)),
        }
    }
}

fn leads_to(path: &[&str], key: &Key) -> bool {
    path.iter().zip(key.name.split('.')).all(|(given, wanted)| match wanted {
        "<kind>" => texts::is_kind(given),
        _ => *given == wanted,
    })
}

/// Defines sections of keys: the struct that the program reads, and the table that everything else is
/// derived from, so that neither can say what the other does not.
macro_rules! sections {
    ($(
        #[doc = $topic:literal]
        $name:ident at $path:literal {
            $( #[doc = $about:literal] $field:ident $(as $key:literal)?: $type:ty = $default:expr, $form:expr; )+
        }
    )+) => {$(
        #[doc = $topic]
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $name { $( #[doc = $about] pub $field: $type, )+ }

        impl $name {
            pub(super) const SECTION: Section = Section {
                path: $path,
                about: $topic.trim_ascii(),
                keys: &[$(Key {
                    name: concat!($path, ".", crate::config::key::key_name!($field $($key)?)),
                    form: $form,
                    default: || -> Option<Value> {
                        let default: $type = $default;
                        default.to_value()
                    },
                    about: $about.trim_ascii(),
                }),+],
            };

            /// The section with the values of its keys, and the defaults of those that have none.
            pub(super) fn read<'a>(value: impl Fn(&str) -> Option<&'a Value>) -> Self {
                // The form of a key lets only values of its type through, so what cannot be read is not there.
                Self {$(
                    $field: Typed::from_value(value(concat!($path, ".", crate::config::key::key_name!($field $($key)?))))
                        .unwrap_or_else(|| $default),
                )+}
            }
        }
    )+};
}

/// What a key is called in files: as its field, unless that is no word of its own in Rust.
macro_rules! key_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

pub(crate) use key_name;
pub(super) use sections;
