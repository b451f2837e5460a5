//! `jvs doctor`: what is wrong, by name, and what was done about it. The exit code tells whether anything is
//! left.

use serde_json::{Value, json};

use crate::context::Context;
use crate::doctor::{Finding, Remedy, find, mend};
use crate::error::Result;
use crate::output::Report;

/// Looks, and repairs if that was asked for.
pub(super) fn run(context: &Context, strict: bool, repair: bool) -> Result<Report> {
    let repo = context.repo()?;
    let findings = find(&repo, strict || repair)?;
    let mut text = listed(&findings);
    let (mut repaired, mut left) = (Vec::new(), findings.clone());
    if repair {
        repaired = mend(&repo, &findings)?.into_iter().cloned().collect();
        left = find(&repo, true)?;
        text.push_str(&format!("{} repaired, {} left\n", repaired.len(), left.len()));
    }
    if left.is_empty() {
        text.push_str("nothing is wrong\n");
    }
    let shown = |findings: &[Finding]| findings.iter().map(document).collect::<Vec<Value>>();
    let json = json!({
        "ok": left.is_empty(), "findings": shown(&findings), "repaired": shown(&repaired), "left": shown(&left),
    });
    Ok(Report::new(text, &json).exit(u8::from(!left.is_empty())))
}

fn listed(findings: &[Finding]) -> String {
    let line = |one: &Finding| {
        let Finding { kind, path, text, remedy } = one;
        format!("{}: {}\n  {text}\n  repair: {}\n", kind.name(), path.display(), remedy.text())
    };
    findings.iter().map(line).collect()
}

fn document(finding: &Finding) -> Value {
    json!({
        "finding": finding.kind.name(),
        "path": finding.path.to_string_lossy(),
        "message": finding.text,
        "repair": finding.remedy.text(),
        "repairable": finding.remedy != Remedy::None,
    })
}
