//! What is sent to etcd's JSON gateway and what comes back. The gateway ignores what it does not know: a field that is
//! misspelt is a question that was never asked, so a test holds every name. Numbers of 64 bits are strings there, false
//! and zero are left out, keys and values are base64.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes, as base64.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = DIGITS.get((bits >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'=');
            text.push(if place <= three.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for four in digits.chunks(4) {
        let mut bits = 0u32;
        for digit in four {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        let [_, a, b, c] = (bits << (6 * (4 - four.len()))).to_be_bytes();
        bytes.extend([a, b, c].iter().take(four.len().checked_sub(1).filter(|more| *more > 0)?));
    }
    Some(bytes)
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&encoded(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        decoded(&text).map(Self).ok_or_else(|| serde::de::Error::custom("it is not base64"))
    }
}

/// A number of 64 bits, as a string. Some versions of the gateway write small ones without quotes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Number(pub(super) u64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Plain(u64),
        }
        match Written::deserialize(from)? {
            Written::Text(text) => text.parse().map(Self).map_err(serde::de::Error::custom),
            Written::Plain(number) => Ok(Self(number)),
        }
    }
}

/// Asks for a key, or for all from `key` to before `range_end`. Linearizable, because nothing says otherwise.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Range {
    pub(super) key: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) range_end: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<Number>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) keys_only: bool,
}

impl Range {
    pub(super) fn one(key: &str) -> Self {
        Self { key: key.into(), range_end: None, limit: None, keys_only: false }
    }
}

/// Sets a key.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Put {
    pub(super) key: Bytes,
    pub(super) value: Bytes,
}

/// Deletes all keys from `key` to before `range_end`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct DeleteRange {
    pub(super) key: Bytes,
    pub(super) range_end: Bytes,
}

/// One act of a transaction.
#[derive(Clone, Debug, Serialize)]
pub(super) enum Act {
    #[serde(rename = "request_put")]
    Put(Put),
    #[serde(rename = "request_range")]
    Range(Range),
    #[serde(rename = "request_delete_range")]
    Delete(DeleteRange),
}

/// A condition of a transaction.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Compare {
    pub(super) key: Bytes,
    pub(super) target: &'static str,
    pub(super) result: &'static str,
    #[serde(flatten)]
    pub(super) with: With,
}

/// What a condition compares with.
#[derive(Clone, Debug, Serialize)]
pub(super) enum With {
    #[serde(rename = "mod_revision")]
    ModRevision(Number),
    #[serde(rename = "create_revision")]
    CreateRevision(Number),
    #[serde(rename = "version")]
    Version(Number),
    #[serde(rename = "value")]
    Value(Bytes),
}

impl Compare {
    /// The key was last changed in that revision.
    pub(super) fn changed_in(key: &str, revision: u64) -> Self {
        let with = With::ModRevision(Number(revision));
        Self { key: key.into(), target: "MOD", result: "EQUAL", with }
    }

    /// There is no such key.
    pub(super) fn is_missing(key: &str) -> Self {
        let with = With::CreateRevision(Number(0));
        Self { key: key.into(), target: "CREATE", result: "EQUAL", with }
    }

    /// The key has this value.
    pub(super) fn is(key: &str, value: &str) -> Self {
        Self { key: key.into(), target: "VALUE", result: "EQUAL", with: With::Value(value.into()) }
    }

    /// What no key ever is.
    pub(super) fn never(key: &str) -> Self {
        Self { key: key.into(), target: "VERSION", result: "LESS", with: With::Version(Number(0)) }
    }
}

/// A transaction.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Txn {
    pub(super) compare: Vec<Compare>,
    pub(super) success: Vec<Act>,
    pub(super) failure: Vec<Act>,
}

/// Asks for a token.
#[derive(Serialize)]
pub(super) struct Login<'a> {
    pub(super) name: &'a str,
    pub(super) password: &'a str,
}

#[derive(Deserialize)]
pub(super) struct Token {
    pub(super) token: String,
}

/// What every answer begins with.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Header {
    #[serde(default, alias = "clusterId")]
    pub(super) cluster_id: Number,
    #[serde(default)]
    pub(super) revision: Number,
}

/// A key and its value.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct KeyValue {
    pub(super) key: Bytes,
    #[serde(default, alias = "modRevision")]
    pub(super) mod_revision: Number,
    #[serde(default)]
    pub(super) value: Bytes,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct RangeAnswer {
    pub(super) header: Header,
    #[serde(default)]
    pub(super) kvs: Vec<KeyValue>,
    #[serde(default)]
    pub(super) more: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct TxnAnswer {
    pub(super) header: Header,
    #[serde(default)]
    pub(super) succeeded: bool,
    #[serde(default)]
    pub(super) responses: Vec<ActAnswer>,
}

/// What came of one act: exactly one of these is there.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ActAnswer {
    #[serde(alias = "responsePut")]
    pub(super) response_put: Option<serde::de::IgnoredAny>,
    #[serde(alias = "responseRange")]
    pub(super) response_range: Option<RangeAnswer>,
    #[serde(alias = "responseDeleteRange")]
    pub(super) response_delete_range: Option<serde::de::IgnoredAny>,
}

impl ActAnswer {
    /// Whether this answers that act.
    pub(super) const fn is_for(&self, act: &Act) -> bool {
        match act {
            Act::Put(_) => self.response_put.is_some(),
            Act::Range(_) => self.response_range.is_some(),
            Act::Delete(_) => self.response_delete_range.is_some(),
        }
    }
}

/// An error of the gateway.
#[derive(Deserialize)]
pub(super) struct Refusal {
    #[serde(default)]
    pub(super) error: String,
    #[serde(default)]
    pub(super) message: String,
}

/// What a member says of itself.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct StatusAnswer {
    #[serde(default)]
    pub(super) version: String,
    #[serde(default, alias = "dbSize")]
    pub(super) db_size: Number,
}

#[cfg(test)]
mod tests {
    use super::{
        Act, ActAnswer, Bytes, Compare, DeleteRange, Login, Number, Put, Range, RangeAnswer, StatusAnswer,
        Token, Txn, TxnAnswer, decoded, encoded,
    };

    #[test]
    fn base64_is_what_everybody_means_by_it() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!((encoded(bytes.as_bytes()), decoded(text)), (text.to_owned(), Some(bytes.into())));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decoded(&encoded(&all)), Some(all));
        for bad in ["Z", "Zm9v!", "Zm 9v"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }

    fn written(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    /// The gateway takes a misspelt field for one that is not there, and a transaction without a condition succeeds.
    #[test]
    fn every_field_is_called_what_the_gateway_calls_it() {
        let put = Put { key: "k".into(), value: "v".into() };
        let all =
            Range { key: "a".into(), range_end: Some("b".into()), limit: Some(Number(7)), keys_only: true };
        let delete = DeleteRange { key: "a".into(), range_end: "b".into() };
        let compare = vec![
            Compare::changed_in("k", 5),
            Compare::is("k", "v"),
            Compare::is_missing("k"),
            Compare::never("k"),
        ];
        let txn = Txn {
            compare,
            success: vec![Act::Put(put), Act::Delete(delete)],
            failure: vec![Act::Range(Range::one("k"))],
        };
        assert_eq!(
            written(&txn),
            concat!(
                r#"{"compare":[{"key":"aw==","target":"MOD","result":"EQUAL","mod_revision":"5"},"#,
                r#"{"key":"aw==","target":"VALUE","result":"EQUAL","value":"dg=="},"#,
                r#"{"key":"aw==","target":"CREATE","result":"EQUAL","create_revision":"0"},"#,
                r#"{"key":"aw==","target":"VERSION","result":"LESS","version":"0"}],"#,
                r#""success":[{"request_put":{"key":"aw==","value":"dg=="}},"#,
                r#"{"request_delete_range":{"key":"YQ==","range_end":"Yg=="}}],"#,
                r#""failure":[{"request_range":{"key":"aw=="}}]}"#
            )
        );
        assert_eq!(written(&all), r#"{"key":"YQ==","range_end":"Yg==","limit":"7","keys_only":true}"#);
        assert_eq!(written(&Login { name: "a", password: "b" }), r#"{"name":"a","password":"b"}"#);
    }

    #[test]
    fn recorded_answers_are_read() {
        let header = r#""header":{"cluster_id":"14841639068965178418","member_id":"1","revision":"9","raft_term":"2"}"#;
        let range = format!(
            r#"{{{header},"kvs":[{{"key":"aw==","create_revision":"2","mod_revision":"9","version":"3","value":"dg=="}}],"count":"1"}}"#
        );
        let range: RangeAnswer = serde_json::from_str(&range).unwrap();
        assert_eq!(
            (range.header.cluster_id, range.header.revision),
            (Number(14_841_639_068_965_178_418), Number(9))
        );
        assert_eq!((range.kvs[0].mod_revision, &range.kvs[0].value), (Number(9), &Bytes(b"v".to_vec())));
        let nothing: RangeAnswer = serde_json::from_str(&format!("{{{header}}}")).unwrap();
        assert!(nothing.kvs.is_empty() && !nothing.more);
        let done = format!(
            r#"{{{header},"succeeded":true,"responses":[{{"response_put":{{"header":{{"revision":"9"}}}}}}]}}"#
        );
        let done: TxnAnswer = serde_json::from_str(&done).unwrap();
        assert!(
            done.succeeded && done.responses[0].is_for(&Act::Put(Put { key: "k".into(), value: "v".into() }))
        );
        let lost = format!(r#"{{{header},"responses":[{{"response_range":{{{header}}}}}]}}"#);
        let lost: TxnAnswer = serde_json::from_str(&lost).unwrap();
        assert!(!lost.succeeded && lost.responses[0].response_range.is_some());
        // A transaction without acts is answered like that, whatever its condition was.
        let empty: TxnAnswer = serde_json::from_str(&format!(r#"{{{header},"succeeded":true}}"#)).unwrap();
        assert!(empty.succeeded && empty.responses.is_empty());
        let token: Token = serde_json::from_str(&format!(r#"{{{header},"token":"abc.9"}}"#)).unwrap();
        assert_eq!(token.token, "abc.9");
        let status: StatusAnswer = serde_json::from_str(r#"{"version":"3.4.23","dbSize":"20480"}"#).unwrap();
        assert_eq!((status.version.as_str(), status.db_size), ("3.4.23", Number(20_480)));
        assert!(serde_json::from_str::<ActAnswer>("{}").unwrap().response_put.is_none());
    }
}
