//! A JSON Schema validator for exactly the keywords that the schemas here use. A keyword that it does not know
//! fails the test: nothing is ever valid because nobody looked.

use serde_json::Value;

/// What is wrong with a document; empty if nothing is.
pub(crate) fn problems(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, document, "", &mut found);
    found
}

fn check(schema: &Value, document: &Value, at: &str, found: &mut Vec<String>) {
    for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
        let fine = match keyword.as_str() {
            "$schema" | "$id" | "title" | "description" => true,
            "type" => is_of(wanted, document),
            "const" => document == wanted,
            "enum" => wanted.as_array().unwrap().contains(document),
            "minLength" => length(document).is_none_or(|length| length >= wanted.as_u64().unwrap()),
            "maxLength" => length(document).is_none_or(|length| length <= wanted.as_u64().unwrap()),
            "minimum" => document.as_i64().is_none_or(|number| number >= wanted.as_i64().unwrap()),
            "maximum" => document.as_i64().is_none_or(|number| number <= wanted.as_i64().unwrap()),
            "pattern" => document.as_str().is_none_or(|text| matches(wanted.as_str().unwrap(), text)),
            "required" => {
                wanted.as_array().unwrap().iter().all(|key| document.get(key.as_str().unwrap()).is_some())
            }
            "properties" => {
                for (key, schema) in wanted.as_object().unwrap() {
                    if let Some(value) = document.get(key) {
                        check(schema, value, &format!("{at}/{key}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                assert_eq!(wanted, false, "only `false` is known");
                let known = schema["properties"].as_object().unwrap();
                document.as_object().is_none_or(|fields| fields.keys().all(|key| known.contains_key(key)))
            }
            unknown => panic!("the keyword {unknown} is not known here"),
        };
        if !fine {
            found.push(format!("{at}: {keyword} {wanted} does not hold for {document}"));
        }
    }
}

fn length(document: &Value) -> Option<u64> {
    document.as_str().map(|text| text.chars().count() as u64)
}

fn is_of(wanted: &Value, document: &Value) -> bool {
    match wanted {
        Value::Array(several) => several.iter().any(|one| is_of(one, document)),
        one => match one.as_str().unwrap() {
            "object" => document.is_object(),
            "string" => document.is_string(),
            "integer" => document.is_u64() || document.is_i64(),
            "boolean" => document.is_boolean(),
            "null" => document.is_null(),
            unknown => panic!("the type {unknown} is not known here"),
        },
    }
}

/// The one pattern there is: a prefix and 64 digits.
fn matches(pattern: &str, text: &str) -> bool {
    assert_eq!(pattern, "^blake3:[0-9a-f]{64}$", "this pattern is not known here");
    let digits = text.strip_prefix("blake3:").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
