//! What `lib-intercore.sh` does without `ic`, call by call: `mkdir`, a marker that only one can put there, a
//! look whether nobody is taking the directory away; back by removing the marker and `rmdir`.

use std::path::Path;

use holdfast_kernel::Millis;
use holdfast_sys::{Open, Sys};

use crate::stage::{LOCK, LONG, Stage, work};

pub(crate) fn quick_script(sys: &Sys, stage: &Stage) {
    script(sys, stage, "script", Millis::ZERO);
}

/// Comes when the lock of a slow one is old.
pub(crate) fn other_script(sys: &Sys, stage: &Stage) {
    sys.clock.sleep(LONG);
    script(sys, stage, "other script", Millis::ZERO);
}

/// Sleeps right after `mkdir`, until its directory is old.
pub(crate) fn slow_script(sys: &Sys, stage: &Stage) {
    script(sys, stage, "slow script", LONG);
}

fn script(sys: &Sys, stage: &Stage, who: &'static str, pause: Millis) {
    if sys.files.create_dir(Path::new(LOCK), 0o700).is_err() {
        return;
    }
    if pause > Millis::ZERO {
        sys.clock.sleep(pause);
    }
    let marker = Path::new(LOCK).join(".fallback");
    let text = marker_of(sys, who);
    let Ok(file) = sys.files.open(&marker, Open::New { mode: 0o600 }) else { return };
    file.write_all_at(text.as_bytes(), 0).unwrap();
    drop(file);
    if !is_ours(sys, &text) {
        return;
    }
    let owning = stage.enter(who);
    work(sys);
    drop(owning);
    let _ = sys.files.remove_file(&marker);
    let _ = sys.files.remove_dir(Path::new(LOCK));
}

fn marker_of(sys: &Sys, who: &str) -> String {
    let me = sys.processes.me().unwrap();
    let (pid, host, start, boot) = (me.pid, me.host, me.start, me.boot.unwrap());
    let namespace = me.namespace;
    format!(
        r#"{{"owner":"{who}","pid":{pid},"host":"{host}","start":{start},"boot":"{boot}","namespace":{namespace},"token":"{who}"}}"#
    )
}

fn is_ours(sys: &Sys, text: &str) -> bool {
    let Ok(names) = sys.files.list(Path::new(LOCK)) else { return false };
    let broken = names.iter().any(|name| name.to_string_lossy().starts_with("owner.json"));
    let marker = sys.files.open(&Path::new(LOCK).join(".fallback"), Open::Read);
    let said = marker.and_then(|file| file.read_from(0, 4_096)).unwrap_or_default();
    !broken && said == text.as_bytes()
}
