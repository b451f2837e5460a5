//! Claims that are kept in this clone, although others have clones of the same remote: they do not see them, and may
//! be given the same issue. Whoever looks for something to do is told so, once in a clone.

use holdfast_git::Config as GitConfig;

use crate::durable;
use crate::notice::Notice;
use crate::session::Session;

/// Where it is noted, in the control plane, that it was told.
const TOLD: &str = "alone";

/// Says once that claims are this clone's alone. What goes wrong here is nobody's trouble: then it is said again.
pub(crate) fn tell_once(session: &Session) {
    let told = session.control().join(TOLD);
    if session.claims().shared.is_some() || durable::is_file(session.sys(), &told).unwrap_or(true) {
        return;
    }
    let (Some(remote), Ok(access)) = (remote(session), session.prepare()) else { return };
    if durable::create(session.sys(), &told, b"", access.file()).unwrap_or(false) {
        session.notice(&Notice::ClaimsAlone { remote });
    }
}

/// The remote that other clones may have been made of: `origin`, else the first one.
fn remote(session: &Session) -> Option<String> {
    let repository = session.repository()?;
    let config = GitConfig::read(&*session.sys().files, &session.caller.git, Some(repository)).ok()?;
    let name = |key: &[u8]| {
        let name = key.strip_prefix(b"remote.")?.strip_suffix(b".url")?;
        Some(String::from_utf8_lossy(name).into_owned())
    };
    let mut names: Vec<String> = config.entries().iter().filter_map(|entry| name(&entry.key)).collect();
    let origin = names.iter().position(|name| name == "origin");
    (!names.is_empty()).then(|| names.swap_remove(origin.unwrap_or(0)))
}
