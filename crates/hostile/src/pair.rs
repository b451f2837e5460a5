//! Two files from one input: the first line is one, the rest is the other. An empty part is no file.

/// The two parts.
#[must_use]
pub(crate) fn pair(input: &[u8]) -> (&[u8], &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').map_or(input.len(), |at| at + 1);
    let (first, rest) = input.split_at(end);
    (if first == b"\n" { &[] } else { first }, rest)
}

/// Those of the files that are there.
#[must_use]
pub(crate) fn present<'a>(files: [(&'static str, &'a [u8]); 2]) -> Vec<(&'static str, &'a [u8])> {
    files.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect()
}
