//! The table of keys holds together.

use std::collections::BTreeSet;

use super::*;

fn all() -> Vec<&'static Key> {
    CONFIG.keys().chain(keys::AGENT.keys()).collect()
}

#[test]
fn every_key_is_there_once_and_says_what_it_does() {
    let names: BTreeSet<_> = all().iter().map(|key| key.name).collect();
    assert_eq!(names.len(), all().len());
    for key in all() {
        assert!(key.about.ends_with('.') && !key.about.contains('\n'), "{}", key.name);
    }
}

#[test]
fn every_default_can_be_set() {
    for key in all() {
        if let Some(default) = (key.default)() {
            assert_eq!(key.form.parse(&default.bare()), Ok(default), "{}", key.name);
        }
    }
}

/// Values at the edges of what a form lets through.
fn extremes(form: &Form) -> Vec<String> {
    match form {
        Form::Switch => vec!["true".to_owned(), "false".to_owned()],
        Form::Number { least, most } => vec![least.to_string(), most.to_string()],
        Form::Word(choices) => choices.iter().map(|choice| choice.word.to_owned()).collect(),
        Form::Text(text) | Form::List(text) => {
            let samples = [
                "agent:alice",
                "2026-01-03T12:00:00Z",
                "main",
                "refs/worktree/jit/claims",
                "01K8AAAAAADRAW000000000001",
                "http://10.0.0.1:2379",
            ];
            vec![samples.iter().find(|sample| (text.check)(sample)).unwrap().to_string()]
        }
    }
}

/// A value that a form lets through but the type does not would be replaced by the default, silently.
#[test]
fn whatever_a_form_lets_through_reaches_the_program() {
    let home = Home::new();
    home.write("s.toml", "[coordination]\nmin_ttl_secs = 1\nmax_ttl_secs = 3162240000\n");
    for key in CONFIG.keys() {
        for text in extremes(&key.form) {
            let name = key.name.replace("<kind>", "ci");
            let value = home.set(&name, &text).unwrap().after.unwrap();
            let debug = match &value {
                Value::Text(text) => text.replace('-', "").to_lowercase(),
                other => other.to_string(),
            };
            // A word of Rust's own cannot be a field.
            let field = match name.rsplit('.').next().unwrap() {
                "ref" => "register",
                field => field,
            };
            let typed = format!("{:?}", home.load().values).to_lowercase();
            let shown = [
                format!("{field}: {debug}"),
                format!("{field}: some({debug})"),
                format!("{field}: some(\"{debug}\")"),
                format!("{field}: \"{debug}\""),
            ];
            assert!(shown.iter().any(|shown| typed.contains(shown)), "{name} = {text}: {typed}");
            home.reset(&name).unwrap();
        }
    }
}
