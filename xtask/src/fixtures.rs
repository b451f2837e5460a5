//! `cargo xtask fixtures`: what the programs of this version write, kept as `spec/fixtures/<version>/<name>.tar.gz`, so that
//! later versions can be held to reading it. What is there already is never written again: it is what people have.

use std::path::{Path, PathBuf};

use crate::child::Child;
use crate::package::{Work, root, table};
use crate::programs;

/// What is kept, and the scripts that make it in an empty directory, one after the other.
pub(crate) const KEPT: [(&str, &[&str]); 6] = [
    ("jit", &[JIT]),
    ("clones", &[CLONES]),
    ("branches", &[CLONES, BRANCHES]),
    ("jvs", &[JVS]),
    ("kc", &[KC]),
    ("ic", &[IC]),
];

/// One repository: issues with everything that they can have, events, claims of every kind (in force without an end, given
/// back, taken away, on paths), a linked worktree at work, and an update that was killed before its event was written.
const JIT: &str = r#"
git init -q --template= -b main repository
cd repository
jit init && jit hooks install
jit config set coordination.default_ttl_secs 300
jit gate define review --manual && jit gate define tests --command true
first=$(jit -q issue create --title 'First of all' --label api --priority high)
second=$(jit -q issue create --title 'Second, after the first' --gate review --gate tests --depends-on "$first")
third=$(jit -q issue create --title 'Third, cut off')
jit note "$first" 'seen on a Friday'
git add -A && git commit -q -m 'Track issues'
jit claim acquire "$first" && jit issue update "$first" --description 'What there is to do'
echo design >design.md && jit doc add "$first" design.md --label design
jit claim release "$first"
lease=$(jit -q claim acquire "$second") && jit gate pass "$second" review --note 'looks good'
JIT_AGENT_ID=person:eve jit claim force-evict "$lease" --reason 'it was mine'
jit reserve add 'src/**' --ttl 604800 --reason kept
git add -A && git commit -q --no-verify -m 'Begin'
git worktree add -q -b work ../work
( cd ../work && export JIT_AGENT_ID=agent:bob && jit claim acquire "$first" --ttl 0 --reason kept && jit issue update "$first" --state in_progress )
jit claim acquire "$third" --ttl 0 --reason kept
call=0 cut=
until test -n "$cut"; do
    call=$((call + 1)) && test $call -lt 40
    strace -f -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:signal=KILL:when=$call \
        jit issue update "$third" --title "Third, cut off at $call" || :
    left=$(find .git/jit/locks -name '*.outbox' -size +1c)
    if test -n "$left" && grep -q "cut off at $call" ".jit/issues/$third/issue.json"; then cut=$call; fi
done
"#;

/// Two clones whose claims a git server keeps.
const CLONES: &str = r#"
git init -q --template= -b main --bare server.git
git init -q --template= -b main one
cd one
git remote add origin ../server.git
jit init
jit issue create --title 'First of all' && jit issue create --title 'Second'
git add -A && git commit -q -m 'Track issues' && git push -q origin main
jit engine init git && git add -A && git commit -q -m 'Share claims' && git push -q origin main
cd ..
git clone -q --template= server.git two && git -C two remote set-url origin ../server.git
( cd one && jit claim next --ttl 0 --reason kept )
( cd two && JIT_AGENT_ID=agent:bob jit claim next --ttl 0 --reason kept )
"#;

/// What one of them does then: it pushes a branch under its claim.
const BRANCHES: &str = r#"
cd two
git switch -q -c work && echo work >work && git add work && git commit -q --no-verify -m 'Half of it'
JIT_AGENT_ID=agent:bob jit push
"#;

/// A repository with two snapshots, a pin and a lock that nobody gave back.
const JVS: &str = r#"
jvs init vault
cd vault/main
echo hello >greeting
jvs lock acquire --lease-ms 5000
first=$(jvs snapshot 'the first words' | head -n 1)
echo more >>greeting
jvs snapshot 'and more'
jvs pin "$first" --reason kept
"#;

/// A vault with two documents, an overlay and a turn that has not been given back.
const KC: &str = r#"
kc_cli vault init notes.vault
kc_cli doc add notes.vault chapter-1 && kc_cli doc add notes.vault chapter-2
token=$(kc_cli lineage lock acquire -q notes.vault chapter-1 ann)
kc_cli lineage overlay add notes.vault chapter-1 page-4 page-9 cites 'see the footnote' "$token" --created-by ann
kc_cli lineage lock release notes.vault chapter-1 "$token"
kc_cli lineage lock acquire -q notes.vault chapter-2 ann >token
"#;

/// A lock of a process that is gone, and one that was given back.
const IC: &str = r#"
export IC_LOCK_ROOT="$PWD/locks"
mkdir -m 700 locks
ic lock run deploy prod -- true
sh -c 'ic lock acquire build main --timeout 1s'
"#;

/// Makes what is missing for the version of the workspace, and says where it is.
#[must_use]
pub fn run(at: &Path) -> bool {
    let done = make(at, &at.join("spec/fixtures"));
    match &done {
        Ok(made) => made.iter().for_each(|path| println!("{}", path.display())),
        Err(why) => eprintln!("{why}"),
    }
    done.is_ok()
}

/// Makes what is missing below a directory.
pub(crate) fn make(at: &Path, kept: &Path) -> Result<Vec<PathBuf>, String> {
    let version = table::version(at)?;
    let folder = kept.join(&version);
    let missing: Vec<_> = KEPT.iter().filter(|(name, _)| !place(&folder, name).exists()).collect();
    if missing.is_empty() {
        return Err(format!(
            "{} has everything; what a release wrote is never written again",
            folder.display()
        ));
    }
    if !Child::linting_cargo(at, &["build", "--workspace", "--all-features"]).run().ok {
        return Err("the programs do not build".into());
    }
    let programs = programs::target(at).join("debug");
    std::fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let work = Work { root: at, folder: &folder, version: &version, moment: "0".into() };
    missing.into_iter().map(|(name, scripts)| one(&work, &programs, name, &scripts.concat())).collect()
}

/// Where one of them is kept.
pub(crate) fn place(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.tar.gz"))
}

/// Runs a script with the programs that were built, and packs what it leaves.
fn one(work: &Work, built: &Path, name: &str, script: &str) -> Result<PathBuf, String> {
    let scratch = root::Scratch::new(&std::env::temp_dir(), name)?;
    let tree = scratch.path().join("tree");
    std::fs::create_dir_all(&tree).map_err(|why| format!("{}: {why}", tree.display()))?;
    let identity = "export GIT_CONFIG_NOSYSTEM=1 JIT_AGENT_ID=person:ann\n\
                    git config --global user.name ann; git config --global user.email ann@example.org\n\
                    cd tree\n";
    root::with(scratch.path(), built, &format!("{identity}{script}"))
        .map_err(|why| format!("{name}: {why}"))?;
    let tar = work.folder.join(format!("{name}.tar"));
    let (to, from) = (tar.display().to_string(), tree.display().to_string());
    let owners = ["--sort=name", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner"];
    work.run("tar", &[&["-c", "-f", &to, "-C", &from][..], &owners, &["."]].concat())?;
    work.run("gzip", &["-9", "-n", &to])?;
    Ok(place(work.folder, name))
}
