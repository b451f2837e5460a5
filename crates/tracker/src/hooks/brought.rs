//! What a holder wrote and committed may come along on other ways: squashed, picked, by a forge that has no hooks. Whoever
//! brings it needs no lease of its own, as long as it is what that holder wrote and nobody has held the issue since.

use holdfast_git::Git;
use holdfast_git::changes::Version;

use super::claim_logs::ClaimLog;
use crate::error::Result;
use crate::ids::IssueId;
use crate::workspace::DATA;

/// Whether a version of an issue's file is what the last holder of the issue has committed under this fence.
pub(super) fn is_as_written(
    git: &Git,
    log: &ClaimLog,
    issue: IssueId,
    version: Version,
    fence: u64,
) -> Result<bool> {
    let granted = log.granted(fence)?.filter(|lease| lease.resource.text() == issue.to_string());
    let Some(lease) = granted else { return Ok(false) };
    if log.successor(lease)?.is_some() {
        return Ok(false);
    }
    let (named, path) =
        (format!("--grep=JIT-Lease: {}", lease.id), format!("{DATA}/issues/{issue}/issue.json"));
    let args =
        ["log", "--all", "--fixed-strings", &named, "--format=", "--raw", "--no-abbrev", "-m", "--", &path];
    let said = git.ask(&args, &[])?;
    let blob = version.1.to_string();
    let lines = said.stdout.split(|byte| *byte == b'\n');
    // A line is `:<mode> <mode> <blob> <blob> <letter>`, a tab and the path.
    let new = |line: &[u8]| line.split(|byte| *byte == b' ').nth(3).map(<[u8]>::to_vec);
    Ok(lines.filter_map(new).any(|new| new == blob.as_bytes()))
}
