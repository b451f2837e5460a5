//! Claims that are kept in this clone, although others have clones of the same remote: they do not see them, and may
//! be given the same issue. Whoever looks for something to do is told so, once in a clone; and so is whoever has claims
//! from before all clones shared theirs.

use crate::claims::{chosen, medium_at};
use crate::durable;
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::notice::Notice;
use crate::session::Session;

/// Where it is noted, in the control plane, that it was told.
const TOLD: &str = "alone";

/// Says once that claims are this clone's alone, or which ones nobody else knows of. What goes wrong here is nobody's
/// trouble: then it is said again.
pub(crate) fn tell_once(session: &Session) {
    let told = session.control().join(TOLD);
    if session.claims().shared.is_some() {
        return tell_left_behind(session);
    }
    if durable::is_file(session.sys(), &told).unwrap_or(true) {
        return;
    }
    let (Some(remote), Ok(access)) = (remote(session), session.prepare()) else { return };
    if durable::create(session.sys(), &told, b"", access.file()).unwrap_or(false) {
        session.notice(&Notice::ClaimsAlone { remote });
    }
}

/// Names the claims in force that were made in this clone before all clones shared theirs: nobody else sees them, so they
/// have to be made anew.
fn tell_left_behind(session: &Session) {
    let (sys, control) = (session.sys(), session.control());
    if !matches!(chosen::noted(sys, control), Ok(None)) {
        return;
    }
    let Ok(view) = medium_at(sys, control).view() else { return };
    let in_force = view.table.iter().filter(|lease| !lease.standing(&view.now).is_over());
    let issues = Issues::new(session);
    let named = in_force.filter_map(|lease| {
        let id = IssueId::of(&lease.resource)?;
        Some(format!("{} of {}", issues.handle(id), lease.holder.agent))
    });
    let left: Vec<String> = named.collect();
    if !left.is_empty() {
        session.notice(&Notice::LeftBehind(left));
    }
}

/// The remote that other clones may have been made of: `origin`, else the first one.
fn remote(session: &Session) -> Option<String> {
    session.repository()?;
    let config = session.git_config().ok()?;
    let name = |key: &[u8]| {
        let name = key.strip_prefix(b"remote.")?.strip_suffix(b".url")?;
        Some(String::from_utf8_lossy(name).into_owned())
    };
    let mut names: Vec<String> = config.entries().iter().filter_map(|entry| name(&entry.key)).collect();
    let origin = names.iter().position(|name| name == "origin");
    (!names.is_empty()).then(|| names.swap_remove(origin.unwrap_or(0)))
}
