//! Installs each package where nothing else is, and uses it: a package that was never installed is a guess.

use std::path::Path;

use super::root::{self, Scratch};
use super::{Built, Made, shown};
use crate::child::Child;
use crate::programs::{self, PROGRAMS};

/// What has to work wherever the programs were installed to. `$prefix` is the directory above `bin`.
const USE: &str = r#"
for program in $programs; do
    test "$("$program" --version)" = "$program $version"
done
git init -q -b main repository
(
    cd repository
    git config user.name me && git config user.email me@example.org
    export JIT_AGENT_ID=person:me
    jit init >/dev/null
    jit issue create --title 'It works' >/dev/null
    git add -A && git commit -q -m 'Track issues'
    jit status >/dev/null && jit validate all >/dev/null
)
jit demo >demo.out || { cat demo.out; exit 1; }
tail -n 1 demo.out
for page in $programs jit-serve; do
    man "$page" >page.out 2>page.err && test -s page.out && ! test -s page.err || { cat page.err; echo "$page"; exit 1; }
done
man jit-claim-acquire | grep -q 'jit claim acquire'
man jit-server | grep -q -- '--listen'
for program in $programs; do
    script="$prefix/share/bash-completion/completions/$program"
    test -f "$script" || continue
    bash -c '. "$0" && complete -p "$1"' "$script" "$program" >/dev/null
    if command -v zsh >/dev/null; then zsh -n "$prefix"/share/zsh/*/"_$program"; fi
    if command -v fish >/dev/null; then fish -n "$prefix/share/fish/vendor_completions.d/$program.fish"; fi
done
"#;

/// Checks everything that was made.
pub(super) fn all(root: &Path, made: &Made) -> Result<(), String> {
    let target = programs::target(root);
    named("SHA256SUMS", || sums(&made.folder))?;
    for built in &made.targets {
        named(built.target.triple, || tarball(&target, made, built))?;
        if let Some(deb) = &built.deb {
            named("deb", || debian(&target, made, deb))?;
        }
    }
    named("npm", || npm(&target, made))?;
    named("the launcher of npm", || launcher(root, &target))
}

fn named(name: &str, check: impl FnOnce() -> Result<String, String>) -> Result<(), String> {
    let how = check().map_err(|why| format!("{name}: {why}"))?;
    println!("ok      {name}: {how}");
    Ok(())
}

fn sums(folder: &Path) -> Result<String, String> {
    let ended = Child::new(folder, "sha256sum", &["--check", "--strict", "--quiet", "SHA256SUMS"]).run();
    if ended.ok { Ok("verified".into()) } else { Err(ended.how) }
}

/// The script with what it needs to know.
fn script(prefix: &str, version: &str, before: &str) -> String {
    let names: Vec<&str> = PROGRAMS.iter().map(|(_, program)| *program).collect();
    format!(
        "set -eu\nprefix='{prefix}'\nversion='{version}'\nprograms='{}'\nexport MANPATH=\"$prefix/share/man\"\n{before}\n{USE}",
        names.join(" ")
    )
}

/// In a Debian of its own, else in a directory.
fn tarball(target: &Path, made: &Made, built: &Built) -> Result<String, String> {
    let scratch = Scratch::new(target, "tarball")?;
    let from = shown(&built.tarball);
    let unpack = |to: &Path| {
        let unpacked =
            Child::new(target, "tar", &["-xzf", &from, "-C", &shown(to), "--strip-components=1"]).run();
        if unpacked.ok { Ok(()) } else { Err(format!("tar {}", unpacked.how)) }
    };
    match root::debian(target, &scratch) {
        Ok(()) => {
            unpack(&scratch.path().join("usr/local"))?;
            root::inside(scratch.path(), &script("/usr/local", &made.version, "cd /root"))?;
            Ok("unpacked and used in a fresh Debian".into())
        }
        Err(why) => {
            unpack(scratch.path())?;
            let prefix = shown(scratch.path());
            root::with(scratch.path(), &scratch.path().join("bin"), &script(&prefix, &made.version, ""))?;
            Ok(format!("unpacked into a directory, and used there, for want of a Debian of its own ({why})"))
        }
    }
}

/// What systemd says of the units, where it is.
const UNITS: &str = "mkdir -p /run/user/0; export XDG_RUNTIME_DIR=/run/user/0\n\
    for unit in jit-serve jit-heartbeat; do systemd-analyze --user verify $unit@root.service; done";

/// In a Debian of its own, else unpacked into a directory.
fn debian(target: &Path, made: &Made, deb: &Path) -> Result<String, String> {
    let scratch = Scratch::new(target, "deb")?;
    let from = shown(deb);
    match root::debian(target, &scratch) {
        Ok(()) => {
            let inside = scratch.path().join("tmp/holdfast.deb");
            std::fs::copy(deb, &inside).map_err(|why| format!("{}: {why}", inside.display()))?;
            let install = "cd /root\ndpkg --install /tmp/holdfast.deb >/dev/null\ndpkg --verify holdfast";
            let remove = "dpkg --remove holdfast >/dev/null\n! command -v jit";
            let whole = format!("{}\n{UNITS}\n{remove}\n", script("/usr", &made.version, install));
            root::inside(scratch.path(), &whole)?;
            Ok("installed, used and removed in a fresh Debian".into())
        }
        Err(why) => {
            let folder = Scratch::new(target, "deb-unpacked")?;
            let unpacked = Child::new(target, "dpkg-deb", &["-x", &from, &shown(folder.path())]).run();
            if !unpacked.ok {
                return Err(unpacked.how);
            }
            let usr = folder.path().join("usr");
            root::with(folder.path(), &usr.join("bin"), &script(&shown(&usr), &made.version, ""))?;
            Ok(format!("unpacked into a directory, and used there, for want of a Debian of its own ({why})"))
        }
    }
}

/// Without a network, from the packed files alone.
fn npm(target: &Path, made: &Made) -> Result<String, String> {
    let scratch = Scratch::new(target, "npm")?;
    let files: Vec<String> = made.npm.iter().map(|path| format!("'{}'", shown(path))).collect();
    let script = format!(
        "export npm_config_cache=\"$PWD/cache\" npm_config_offline=true npm_config_update_notifier=false\n\
         npm install --no-audit --no-fund --silent {}\n\
         test \"$(npx @holdfast/jit --version)\" = 'jit {}'\n\
         npx @holdfast/jit demo >demo.out || {{ cat demo.out; exit 1; }}\n\
         tail -n 1 demo.out\n\
         status=0; npx @holdfast/jit frob 2>/dev/null || status=$?; test $status = 2\n\
         test -x \"$(dirname \"$(node -p 'require.resolve(\"@holdfast/jit-linux-x64/bin/jit\")')\")/jit-server\"\n",
        files.join(" "),
        made.version
    );
    root::with(scratch.path(), scratch.path(), &script)?;
    Ok("installed without a network, and npx ran the demo".into())
}

/// With a program in place of jit that says what reaches it.
const LAUNCHER: &str = r#"
kind=$(node -p 'process.platform + "-" + process.arch')
mkdir -p "node_modules/@holdfast/jit-$kind/bin" node_modules/@holdfast/jit
cp "$launcher" node_modules/@holdfast/jit/jit.js
program="node_modules/@holdfast/jit-$kind/bin/jit"
run() { node node_modules/@holdfast/jit/jit.js "$@"; }
status=0; run 2>missing || status=$?
test $status = 127 && grep -q 'hint: npm install' missing

printf '#!/bin/sh\nprintf "%%s|" "$@"; exit 42\n' >"$program"; chmod +x "$program"
status=0; said=$(run 'a b' '' '*') || status=$?
test $status = 42 && test "$said" = 'a b||*|'

printf '#!/bin/sh\nkill -TERM $$\n' >"$program"
status=0; run || status=$?
test $status = 143

for signal in TERM INT HUP; do
    mkfifo "ready-$signal"
    printf '#!/bin/sh\ntrap "exit 7" %s\necho >"ready-%s"\nwhile :; do sleep 0.1; done\n' $signal $signal >"$program"
    # A shell has what it starts beside itself ignore SIGINT; node takes it back by listening.
    node node_modules/@holdfast/jit/jit.js </dev/null >/dev/null 2>&1 &
    started=$!
    read -r _ <"ready-$signal"
    kill -$signal $started
    status=0; wait $started || status=$?
    test $status = 7 || { echo "$signal: $status"; exit 1; }
done
"#;

fn launcher(root: &Path, target: &Path) -> Result<String, String> {
    let scratch = Scratch::new(target, "launcher")?;
    let script = format!("launcher='{}'\n{LAUNCHER}", shown(&root.join("packages/jit/jit.js")));
    root::with(scratch.path(), scratch.path(), &script)?;
    Ok("passes on words, exit codes and signals".into())
}
