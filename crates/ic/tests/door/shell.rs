//! The shell library, with bash and with dash, and with `ic` present, absent and failing.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::{Command, Stdio};

use holdfast_trial::until;

use crate::site::{IC, Said, Site, library, signal};

const SHELLS: [&str; 2] = ["bash", "dash"];

/// The three ways in which `ic` can be there, or not.
fn binaries(site: &Site) -> [String; 3] {
    let failing = site.path("failing");
    fs::write(&failing, "#!/bin/sh\nexit 2\n").unwrap();
    fs::set_permissions(&failing, fs::Permissions::from_mode(0o755)).unwrap();
    [IC.to_owned(), "no-such-ic".to_owned(), failing.display().to_string()]
}

fn shell(site: &Site, shell: &str, binary: &str, script: &str) -> Command {
    // A shell cannot hear what was ignored when it began, as it is where the tests run in the background.
    let mut command = site.program("env");
    let text = format!("set -eu\n. '{}'\n{script}\n", library().display());
    command.env("INTERCORE_BIN", binary).args(["--default-signal=HUP,INT,QUIT,TERM", shell, "-c", &text]);
    command
}

/// Runs a script with every shell and every kind of `ic`.
fn everywhere(script: &str, check: impl Fn(&Site, &str, Said)) {
    for name in SHELLS {
        let site = Site::new();
        for binary in binaries(&site) {
            let said = shell(&site, name, &binary, script).output().unwrap().into();
            check(&site, &format!("{name} with {binary}"), said);
        }
    }
}

#[test]
fn a_lock_is_taken_held_and_given_back() {
    let script = "intercore_lock a x 5s; (intercore_lock a x 50ms) || echo refused $?; ls -A \"$IC_LOCK_ROOT/a\"; \
                  intercore_unlock a x; ls -A \"$IC_LOCK_ROOT/a\"; intercore_lock a x 0; intercore_unlock a x";
    everywhere(script, |site, which, said| {
        assert_eq!((said.code, said.out.as_str()), (0, "refused 1\nx\n"), "{which}: {said:?}");
        assert_eq!(site.list(), Vec::<String>::new(), "{which}");
    });
}

#[test]
fn unlocking_never_fails_its_caller() {
    let script = "intercore_unlock; intercore_unlock a; intercore_unlock a x; intercore_unlock '../..' x; \
                  intercore_lock_clean; echo on";
    everywhere(script, |_, which, said| {
        assert_eq!((said.code, said.out.as_str()), (0, "on\n"), "{which}: {said:?}");
    });
}

#[test]
fn names_that_no_lock_can_have_are_refused() {
    let script = "for n in '' . .. 'a b' a/b ../a; do intercore_lock \"$n\" x 0 2>/dev/null && exit 9; \
                  intercore_lock x \"$n\" 0 2>/dev/null && exit 9; done; echo $?";
    everywhere(script, |site, which, said| {
        assert_eq!((said.code, said.out.as_str()), (0, "3\n"), "{which}: {said:?}");
        assert!(!site.path("a").exists());
    });
}

#[test]
fn a_root_that_is_a_link_is_refused_without_the_binary_too() {
    for name in SHELLS {
        let site = Site::new();
        fs::create_dir(site.path("elsewhere")).unwrap();
        std::os::unix::fs::symlink(site.path("elsewhere"), site.root()).unwrap();
        for binary in binaries(&site) {
            // However it is spelled.
            for root in ["locks", "locks/", "./locks//./"] {
                let mut command = shell(&site, name, &binary, "intercore_lock a x 0");
                let said: Said = command.env("IC_LOCK_ROOT", root).output().unwrap().into();
                assert_eq!(said.code, 2, "{root}, {name} with {binary}: {said:?}");
            }
        }
        // Nor is a link in a root of one's own, or one that leads nowhere.
        fs::remove_file(site.root()).unwrap();
        fs::create_dir(site.root()).unwrap();
        std::os::unix::fs::symlink(site.path("elsewhere"), site.root().join("a")).unwrap();
        std::os::unix::fs::symlink("nowhere", site.root().join("b")).unwrap();
        for binary in binaries(&site) {
            for family in ["a", "b"] {
                let mut command = shell(&site, name, &binary, &format!("intercore_lock {family} x 0"));
                let said: Said = command.output().unwrap().into();
                assert_eq!(said.code, 2, "{family}, {name} with {binary}: {said:?}");
            }
        }
        assert_eq!(fs::read_dir(site.path("elsewhere")).unwrap().count(), 0);
    }
}

#[test]
fn a_root_that_others_can_change_is_refused_without_the_binary_too() {
    for name in SHELLS {
        let site = Site::new();
        fs::create_dir(site.root()).unwrap();
        let refused = |why: &str| {
            for binary in binaries(&site) {
                let said: Said = shell(&site, name, &binary, "intercore_lock a x 0").output().unwrap().into();
                assert_eq!(said.code, 2, "{why}, {name} with {binary}: {said:?}");
                let mut clean = shell(&site, name, &binary, "intercore_lock_clean");
                assert!(clean.output().unwrap().status.success());
            }
            assert!(!site.root().join("a/x").exists(), "{why}");
        };
        for mode in [0o777, 0o720, 0o702] {
            fs::set_permissions(site.root(), fs::Permissions::from_mode(mode)).unwrap();
            refused(&format!("{mode:o}"));
        }
        fs::set_permissions(site.root(), fs::Permissions::from_mode(0o700)).unwrap();
        if fs::metadata(site.root()).unwrap().uid() != 0 {
            println!("only the superuser can make a directory another user's");
            continue;
        }
        chown(site.root(), Some(65_534), None).unwrap();
        refused("another's root");
        chown(site.root(), Some(0), None).unwrap();
        chown(site.around.path(), Some(65_534), None).unwrap();
        refused("below another's directory");
        chown(site.around.path(), Some(0), None).unwrap();
    }
}

#[test]
fn a_script_that_died_is_in_nobodys_way() {
    for name in SHELLS {
        let site = Site::new();
        let [ic, absent, _] = binaries(&site);
        for (dying, next) in [(&ic, &ic), (&absent, &ic), (&absent, &absent)] {
            let died = shell(&site, name, dying, "intercore_lock a x 5s; kill -9 $$").status().unwrap();
            assert!(!died.success());
            let said: Said = shell(&site, name, next, "intercore_lock a x 5s; intercore_unlock a x")
                .output()
                .unwrap()
                .into();
            assert_eq!(said.code, 0, "{name}, {dying} then {next}: {said:?}");
        }
        let died = shell(&site, name, &absent, "intercore_lock a x 5s; kill -9 $$").status().unwrap();
        assert!(!died.success());
        let said: Said = shell(&site, name, &absent, "intercore_lock_clean").output().unwrap().into();
        assert_eq!((said.code, site.list()), (0, Vec::new()), "{name}");
    }
}

#[test]
fn a_command_runs_under_a_lock_and_its_exit_code_is_told() {
    let script = "intercore_run a x 5s sh -c 'ls -A \"$IC_LOCK_ROOT/a\"; exit 7' || echo $?";
    everywhere(script, |site, which, said| {
        assert_eq!((said.code, said.out.as_str()), (0, "x\n7\n"), "{which}: {said:?}");
        assert_eq!(site.list(), Vec::<String>::new(), "{which}");
    });
}

/// Runs a script everywhere, signals it when it is ready, and says how it ended.
fn signalled(script: &str, name: &str, check: impl Fn(&Site, &str, Said)) {
    for shell_name in SHELLS {
        let site = Site::new();
        for binary in binaries(&site) {
            let _ = fs::remove_file(site.path("ready"));
            let mut command = shell(&site, shell_name, &binary, script);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            until("the command", || {
                fs::read_to_string(site.path("ready")).is_ok_and(|text| text == "ready\n")
            });
            assert_eq!(site.list(), ["a/x"]);
            signal(&child, name);
            check(&site, &format!("{name}, {shell_name} with {binary}"), crate::site::end(child));
        }
    }
}

#[test]
fn signals_are_passed_on_to_a_command_that_runs_under_a_lock() {
    for name in ["INT", "TERM", "HUP"] {
        let heard = format!("trap \"exit 7\" {name}; echo ready > ready; while :; do sleep 0.05; done");
        let script = format!("intercore_run a x 5s sh -c '{heard}' || echo $?");
        signalled(&script, name, |site, which, said| {
            assert_eq!((said.code, said.out.as_str()), (0, "7\n"), "{which}: {said:?}");
            assert_eq!(site.list(), Vec::<String>::new(), "{which}");
        });
    }
}

/// Between the start of the command and what a shell does next it hears signals too. Only bash can be stopped
/// there: it runs a trap before each of its steps.
#[test]
fn a_signal_that_comes_while_the_command_starts_is_passed_on_too() {
    for name in ["INT", "TERM", "HUP"] {
        let heard =
            format!("trap \"exit 7\" {name}; i=0; while [ $((i += 1)) -lt 400 ]; do sleep 0.05; done");
        let script = format!(
            "set -T; trap 'case $BASH_COMMAND in *_ic_child=?!) kill -s {name} $$ ;; esac' DEBUG\n\
             intercore_run a x 5s sh -c '{heard}' || echo $?; trap - DEBUG"
        );
        let site = Site::new();
        for binary in binaries(&site) {
            let said: Said = shell(&site, "bash", &binary, &script).output().unwrap().into();
            // The command may not have come to its trap yet.
            let ended = ["7\n", "130\n", "143\n", "129\n"];
            assert!(said.code == 0 && ended.contains(&said.out.as_str()), "{name} with {binary}: {said:?}");
            assert_eq!(site.list(), Vec::<String>::new(), "{name} with {binary}");
        }
    }
}

#[test]
fn scripts_that_split_words_and_match_names_in_their_own_way_are_served_too() {
    let script = "IFS=$(printf '\\n\\t'); set -f; intercore_lock a x 5s; intercore_lock b y 5s; \
                  intercore_unlock_on_exit a x; intercore_unlock_on_exit b y; \
                  (intercore_lock a x 50ms) || echo refused; \
                  [ ! -e \"$IC_LOCK_ROOT/a/x/.fallback\" ] || grep -c '\"start\":[0-9]' \"$IC_LOCK_ROOT/a/x/.fallback\"";
    everywhere(script, |site, which, said| {
        let lines: Vec<&str> = said.out.lines().collect();
        assert!(said.code == 0 && matches!(lines[..], ["refused"] | ["refused", "1"]), "{which}: {said:?}");
        assert_eq!(site.list(), Vec::<String>::new(), "{which}");
    });
    // The locks of the dead are seen and removed.
    for name in SHELLS {
        let site = Site::new();
        let dead = shell(&site, name, "no-such-ic", "intercore_lock a x 0; intercore_lock b y 0").output();
        assert!(dead.unwrap().status.success(), "{name}");
        let script = "IFS=$(printf '\\n\\t'); set -f; intercore_lock_clean";
        let said: Said = shell(&site, name, "no-such-ic", script).output().unwrap().into();
        assert_eq!((said.code, site.list()), (0, Vec::new()), "{name}: {said:?}");
    }
}

#[test]
fn a_command_under_a_lock_leaves_no_traps_but_those_that_were_asked_for() {
    let ready = "echo ready > ready; while :; do sleep 0.05; done";
    let script = format!("intercore_run b y 5s true; intercore_lock a x 5s; {ready}");
    signalled(&script, "TERM", |_, which, said| assert_eq!(said.code, -15, "{which}: {said:?}"));
    let script =
        format!("intercore_lock a x 5s; intercore_unlock_on_exit a x; intercore_run b y 5s true; {ready}");
    signalled(&script, "TERM", |site, which, said| {
        assert_eq!((said.code, site.list()), (-15, Vec::new()), "{which}: {said:?}");
    });
}

#[test]
fn a_signal_that_ended_ic_is_not_made_up_for() {
    let site = Site::new();
    let interrupted = site.path("interrupted");
    fs::write(&interrupted, "#!/bin/sh\nexit 130\n").unwrap();
    fs::set_permissions(&interrupted, fs::Permissions::from_mode(0o755)).unwrap();
    for name in SHELLS {
        let mut command = shell(&site, name, &interrupted.display().to_string(), "intercore_lock a x 0");
        let said: Said = command.output().unwrap().into();
        assert_eq!((said.code, site.root().exists()), (130, false), "{name}: {said:?}");
    }
}

#[test]
fn a_shell_that_a_signal_ends_leaves_no_lock_if_it_asked_for_that() {
    for (name, code) in [("INT", -2), ("TERM", -15), ("HUP", -1)] {
        let script = "intercore_lock a x 5s; intercore_unlock_on_exit a x; echo ready > ready; \
                      while :; do sleep 0.05; done";
        signalled(script, name, |site, which, said| {
            assert_eq!(said.code, code, "{which}: {said:?}");
            assert_eq!(site.list(), Vec::<String>::new(), "{which}");
        });
    }
}

#[test]
fn a_shell_that_ends_or_fails_leaves_no_lock_if_it_asked_for_that() {
    for (end, code) in [("false", 1), ("exit 5", 5), (":", 0), ("$no_such_variable", -1)] {
        let script = format!("intercore_lock a x 5s; intercore_unlock_on_exit a x; {end}");
        everywhere(&script, |site, which, said| {
            assert!(said.code == code || code < 0 && said.code > 0, "{which}, {end}: {said:?}");
            assert_eq!(site.list(), Vec::<String>::new(), "{which}, {end}");
        });
    }
}

#[test]
fn the_example_of_nested_locks_keeps_its_order() {
    for name in SHELLS {
        let site = Site::new();
        for binary in binaries(&site) {
            let example = library().with_file_name("example-sprint.sh");
            let mut command = site.program(name);
            let said: Said =
                command.env("INTERCORE_BIN", &binary).arg(example).arg("7").output().unwrap().into();
            assert_eq!(
                (said.code, said.out.as_str()),
                (0, "sprint 7: planning is done\nsprint 7: building\n")
            );
        }
        assert!(site.lock(0, &["order"]).out.starts_with("sprint-advance/7\tsprint/7\t"));
        assert_eq!(site.list(), Vec::<String>::new());
    }
}

#[test]
fn shellcheck_has_nothing_to_say() {
    let mut shellcheck = Command::new("shellcheck");
    let Ok(said) = shellcheck.args([library(), library().with_file_name("example-sprint.sh")]).output()
    else {
        return println!("shellcheck is not there; the step of the test command says so");
    };
    let said = Said::from(said);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
}
