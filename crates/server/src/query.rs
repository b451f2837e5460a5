//! What stands behind the question mark of an address. Whatever a route does not take is refused: a token there would be
//! kept by logs and histories, and a word that is not read would mislead.

use crate::problem::Problem;

/// More than anybody asks at once.
const MOST: usize = 64;
/// Longer than any value can be.
const LONGEST: usize = 2_000;

/// Names and values, in their order.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// The names and values of a text; all names are among `known`.
    pub(crate) fn parse(text: &str, known: &[&str]) -> Result<Self, Problem> {
        let mut all = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            if !known.contains(&name.as_str()) {
                let name: String = name.chars().take(40).collect();
                return Err(Problem::bad(format!("this path takes no '{name}'")));
            }
            if all.len() == MOST || value.len() > LONGEST {
                return Err(Problem::bad("too much is asked at once"));
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    /// The one value of a name.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(Problem::bad(format!("'{name}' is given more than once"))),
            (value, None) => Ok(value),
        }
    }

    /// All values of a name; several can stand in one, with commas.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(known, _)| known == name);
        values.flat_map(|(_, value)| value.split(',')).filter(|v| !v.is_empty()).map(Into::into).collect()
    }
}

/// The text that an encoded one stands for.
fn decoded(text: &str) -> Result<String, Problem> {
    let bad = || Problem::bad("a part of the address is not encoded as it should be");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next()), digit(rest.next()));
                let value = high.zip(low).map(|(high, low)| high * 16 + low).ok_or_else(bad)?;
                bytes.push(u8::try_from(value).map_err(|_| bad())?);
            }
            byte => bytes.push(byte),
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| bad())?;
    if text.chars().any(char::is_control) { Err(bad()) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn names_have_values() {
        let query = Query::parse("state=ready,done&label=a%2Fb&label=c+d&", &["state", "label"]).unwrap();
        assert_eq!(query.all("state"), ["ready", "done"]);
        assert_eq!(query.all("label"), ["a/b", "c d"]);
        assert_eq!(query.one("state").unwrap(), Some("ready,done"));
        assert!(query.one("label").is_err());
        assert_eq!(query.one("other").unwrap(), None);
    }

    #[test]
    fn what_is_not_known_or_not_encoded_is_refused() {
        let many = "a=1&".repeat(70);
        let long = format!("a={}", "x".repeat(3_000));
        for text in ["token=x", "a=%", "a=%4", "a=%zz", "a=%00", "a=%0a", "a=%ff", "%61b=1", &many, &long] {
            assert!(Query::parse(text, &["a"]).is_err(), "{text:.40}");
        }
    }
}
