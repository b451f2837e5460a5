//! The page and its files. They are the same for everybody and have no data, so no token is asked for; what the page then
//! asks for goes the way of all questions.
//!
//! The scripts are what the compiler of `packages/dashboard` made of their sources, committed: whoever builds this program
//! needs no Node. A test of that package compares them with what it makes.

use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::body::Answer;

/// A file: its path, what it is, and what is in it.
pub(crate) struct File {
    pub(crate) path: &'static str,
    kind: &'static str,
    text: &'static str,
}

/// Names files as they are in the folder of the page.
macro_rules! files {
    ($($path:literal $kind:literal $file:literal,)+) => {
        /// All of them.
        const FILES: &[File] = &[$(File {
            path: $path,
            kind: $kind,
            text: include_str!(concat!("../../../packages/dashboard/page/", $file)),
        },)+];
    };
}

files! {
    "/" "text/html; charset=utf-8" "index.html",
    "/style.css" "text/css; charset=utf-8" "style.css",
    "/icon.svg" "image/svg+xml" "icon.svg",
    "/js/actions.js" "text/javascript; charset=utf-8" "js/actions.js",
    "/js/api.js" "text/javascript; charset=utf-8" "js/api.js",
    "/js/app.js" "text/javascript; charset=utf-8" "js/app.js",
    "/js/board.js" "text/javascript; charset=utf-8" "js/board.js",
    "/js/delta.js" "text/javascript; charset=utf-8" "js/delta.js",
    "/js/dom.js" "text/javascript; charset=utf-8" "js/dom.js",
    "/js/graph.js" "text/javascript; charset=utf-8" "js/graph.js",
    "/js/history.js" "text/javascript; charset=utf-8" "js/history.js",
    "/js/issue.js" "text/javascript; charset=utf-8" "js/issue.js",
    "/js/layers.js" "text/javascript; charset=utf-8" "js/layers.js",
    "/js/live.js" "text/javascript; charset=utf-8" "js/live.js",
    "/js/locks.js" "text/javascript; charset=utf-8" "js/locks.js",
    "/js/now.js" "text/javascript; charset=utf-8" "js/now.js",
    "/js/parts.js" "text/javascript; charset=utf-8" "js/parts.js",
    "/js/route.js" "text/javascript; charset=utf-8" "js/route.js",
    "/js/spans.js" "text/javascript; charset=utf-8" "js/spans.js",
    "/js/store.js" "text/javascript; charset=utf-8" "js/store.js",
    "/js/time.js" "text/javascript; charset=utf-8" "js/time.js",
    "/js/types.js" "text/javascript; charset=utf-8" "js/types.js",
}

/// The file at a path.
pub(crate) fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

/// A file, unless whoever asks has it already.
pub(crate) fn answer(file: &'static File, head: &Parts) -> Response<Answer> {
    let hash = blake3::hash(file.text.as_bytes()).to_hex();
    let tag = format!("\"{}\"", hash.as_str().get(..32).unwrap_or_default());
    let given = head.headers.get(IF_NONE_MATCH).and_then(|tag| tag.to_str().ok());
    let mut response = Response::new(Answer::Whole(None));
    if given == Some(tag.as_str()) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        response = Response::new(Answer::Whole(Some(Bytes::from_static(file.text.as_bytes()))));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    }
    if let Ok(tag) = HeaderValue::try_from(tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    // Another version of the server has other files at the same paths.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the folder that the files come from")]
    fn every_file_of_the_page_is_here() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages/dashboard/page");
        let mut found = Vec::new();
        for (at, before) in [(folder.clone(), "/"), (folder.join("js"), "/js/")] {
            for entry in std::fs::read_dir(at).unwrap().map(Result::unwrap) {
                if entry.path().is_file() {
                    found.push(format!("{before}{}", entry.file_name().to_str().unwrap()));
                }
            }
        }
        let mut known: Vec<&str> =
            FILES.iter().map(|file| if file.path == "/" { "/index.html" } else { file.path }).collect();
        found.sort();
        known.sort_unstable();
        assert_eq!(found, known);
    }

    #[test]
    fn the_page_has_nothing_inline_and_nothing_from_elsewhere() {
        for file in FILES {
            assert!(!file.text.contains("innerHTML"), "{}", file.path);
            let elsewhere =
                file.text.matches("://").count() - file.text.matches("http://www.w3.org/2000/svg").count();
            assert!(elsewhere == 0, "{} names another place", file.path);
        }
        let page = find("/").unwrap().text;
        assert!(!page.contains("style=") && !page.contains("onclick") && !page.contains("<style"));
        assert_eq!(
            page.matches("<script").count(),
            page.matches("<script type=\"module\" src=\"/js/").count()
        );
    }
}
