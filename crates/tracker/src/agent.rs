//! Who asks: `type:name`, given by a flag, the environment or the user's file, in that order. A name that
//! could lead out of a directory or upset a terminal is refused here.

use std::fmt;

use holdfast_kernel::Name;

const LONGEST: usize = 128;

/// A text that is no agent id.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{text}' is not an agent id: {why}")]
pub struct BadAgent {
    /// The text.
    pub text: String,
    /// Why not.
    pub why: &'static str,
}

/// The id of an agent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AgentId(Name);

impl AgentId {
    /// The id, if the text is one.
    ///
    /// # Errors
    /// When it does not have the form `type:name`.
    pub fn new(text: &str) -> Result<Self, BadAgent> {
        let bad = |why| BadAgent { text: text.to_owned(), why };
        let (kind, name) = text.split_once(':').ok_or_else(|| bad("it has the form type:name"))?;
        if kind.is_empty()
            || !kind.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'))
        {
            return Err(bad("its type is lower-case letters, digits, - and _"));
        }
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(bad("its name is letters, digits, and any of . _ - + @"));
        }
        if text.len() > LONGEST {
            return Err(bad("it is longer than 128 bytes"));
        }
        Name::new(text).map(Self).map_err(|_| bad("it holds a control character"))
    }

    /// As the rules know it.
    #[must_use]
    pub const fn name(&self) -> &Name {
        &self.0
    }

    /// What stands before the colon.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.0.as_str().split_once(':').map(|(kind, _)| kind)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@')
}

/// The agent that stands for a user who is called so, where nobody says who acts.
#[must_use]
pub fn person(user: Option<&str>) -> String {
    let name: String = user.unwrap_or_default().chars().filter(|c| is_plain(*c)).take(64).collect();
    format!("person:{}", if name.is_empty() { "somebody" } else { &name })
}

#[cfg(test)]
mod tests {
    use super::{AgentId, person};

    #[test]
    fn a_user_stands_for_itself_whatever_it_is_called() {
        for (user, expected) in [
            (Some("ann"), "person:ann"),
            (Some("DOMAIN\\ann b"), "person:DOMAINannb"),
            (Some("///"), "person:somebody"),
            (None, "person:somebody"),
        ] {
            assert_eq!(person(user), expected);
            assert!(AgentId::new(expected).is_ok());
        }
    }

    #[test]
    fn an_agent_has_a_type_and_a_name() {
        for text in ["agent:copilot-1", "human:jürgen", "ci:github_actions", "a:b", "agent:a.b+c@d"] {
            assert_eq!(AgentId::new(text).unwrap().to_string(), text);
        }
        let long = format!("agent:{}", "x".repeat(200));
        for text in [
            "",
            ":",
            "agent",
            "agent:",
            ":x",
            "agent:a/b",
            "agent:a b",
            "agent:a\n",
            "Agent:x",
            "agent:a:b",
            "agent:\x1b[m",
            &long,
        ] {
            assert!(AgentId::new(text).is_err(), "{text:?}");
        }
    }
}
