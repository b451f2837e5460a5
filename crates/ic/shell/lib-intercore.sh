# shellcheck shell=sh
# Named locks for shell scripts. Source it; it sets no options and needs none, nor a certain IFS:
#
#     . lib-intercore.sh
#     intercore_lock deploy prod 30s || exit 1
#     ...
#     intercore_unlock deploy prod
#
# With `ic` it asks `ic`. Without, or if `ic` fails (exit 2 or more), it locks by plain `mkdir`; both ways keep
# each other out, and each releases only what it took itself. Tested with bash and dash.
#
# intercore_lock_available               whether there is an `ic`
# intercore_lock NAME SCOPE [TIMEOUT]    take a lock: 0 taken, 1 not in time, 3 no name for a lock
# intercore_unlock NAME SCOPE            give it back; always 0
# intercore_run NAME SCOPE TIMEOUT COMMAND [ARGUMENT...]
#                                        hold a lock while a command runs; SIGINT, SIGTERM and SIGHUP are passed
#                                        on to it (traps of yours for these are gone afterwards)
# intercore_unlock_on_exit NAME SCOPE    give it back when this shell ends, be it by SIGINT, SIGTERM or SIGHUP
#                                        (sets the traps of EXIT and of these)
# intercore_lock_clean [AGE]             remove locks whose holders are gone
#
# A lock is this shell's ($$), its subshells included, and ends with it. INTERCORE_BIN says where `ic` is,
# IC_LOCK_ROOT where the locks are.

INTERCORE_BIN=${INTERCORE_BIN:-ic}

intercore_lock_available() {
    command -v "$INTERCORE_BIN" >/dev/null 2>&1
}

intercore_lock() {
    _intercore_know_host
    if intercore_lock_available; then
        _ic_rc=0
        "$INTERCORE_BIN" lock acquire --timeout "${3:-1s}" --owner "$$:$_ic_host" --pid "$$" -- "$1" "$2" ||
            _ic_rc=$?
        # Only a failure of `ic` itself is made up for; a signal that ended it ends this too.
        if [ "$_ic_rc" -lt 2 ] || [ "$_ic_rc" -gt 128 ]; then
            return "$_ic_rc"
        fi
    fi
    _intercore_mkdir_lock "$1" "$2" "${3:-1s}"
}

intercore_unlock() {
    if ! _intercore_is_name "${1-}" || ! _intercore_is_name "${2-}"; then
        return 0
    fi
    _intercore_know_host
    _ic_dir=$_ic_root/$1/$2
    if [ -f "$_ic_dir/.fallback" ] && _intercore_know_self && _intercore_is_ours "$_ic_dir" "$_ic_self"; then
        # Nobody takes a lock from a shell that lives, so the marker is still this shell's when it goes.
        rm -f "$_ic_dir/.fallback"
        rmdir "$_ic_dir" 2>/dev/null || :
    elif intercore_lock_available; then
        "$INTERCORE_BIN" lock release --owner "$$:$_ic_host" -- "$1" "$2" >/dev/null 2>&1 || :
    fi
    return 0
}

intercore_unlock_on_exit() {
    _ic_kept="${_ic_kept:+$_ic_kept }$1/$2"
    _intercore_set_traps
}

_intercore_set_traps() {
    trap _intercore_unlock_all EXIT
    for _ic_signal in INT TERM HUP; do
        # shellcheck disable=SC2064
        trap "trap - $_ic_signal EXIT; _intercore_unlock_all; kill -s $_ic_signal $$" "$_ic_signal"
    done
}

intercore_run() {
    _ic_name=$1 _ic_scope=$2
    intercore_lock "$1" "$2" "$3" || return
    shift 3
    _ic_again='' _ic_child='' _ic_unheard=''
    # From here on a signal is the command's, and one that comes before the command waits for it: a shell that
    # ended here would leave the command behind, running without the lock.
    trap '_intercore_pass_on INT' INT
    trap '_intercore_pass_on TERM' TERM
    trap '_intercore_pass_on HUP' HUP
    # A shell starts what runs beside it deaf to SIGINT; the command must hear what is passed on. Not every
    # shell can undo that by itself.
    if env --default-signal=INT,QUIT true 2>/dev/null; then
        env --default-signal=INT,QUIT "$@" &
    else
        (trap - INT QUIT && exec "$@") &
    fi
    _ic_child=$!
    for _ic_signal in INT TERM HUP; do
        case $_ic_unheard in
            *"$_ic_signal"*) _intercore_pass_on "$_ic_signal" ;;
        esac
    done
    _ic_rc=0
    wait "$_ic_child" || _ic_rc=$?
    # A signal ended the wait, not the command; if it came after both, there is nothing to wait for (127).
    while [ -n "$_ic_again" ]; do
        _ic_again='' _ic_code=0
        wait "$_ic_child" 2>/dev/null || _ic_code=$?
        [ "$_ic_code" = 127 ] || _ic_rc=$_ic_code
    done
    trap - INT TERM HUP
    # What is to be given back when this shell ends is so after a command, too.
    [ -z "${_ic_kept-}" ] || _intercore_set_traps
    intercore_unlock "$_ic_name" "$_ic_scope"
    return "$_ic_rc"
}

intercore_lock_clean() {
    if intercore_lock_available; then
        "$INTERCORE_BIN" lock clean --older-than "${1:-5s}" && return 0
    fi
    _intercore_know_host
    _intercore_root_is_ours || return 0
    (
        set +f
        for _ic_dir in "$_ic_root"/*/*; do
            [ -L "$_ic_dir" ] || [ -L "${_ic_dir%/*}" ] || _intercore_break_dead "$_ic_dir"
        done
    )
    return 0
}

_intercore_know_host() {
    _ic_root=${IC_LOCK_ROOT:-/tmp/intercore/locks}
    # With a slash at its end the system would look behind a link.
    while :; do
        case $_ic_root in
            ?*/) _ic_root=${_ic_root%/} ;;
            ?*/.) _ic_root=${_ic_root%/.} ;;
            *) break ;;
        esac
    done
    [ -n "${_ic_host-}" ] || _ic_host=$(uname -n)
}

_intercore_unlock_all() {
    while [ -n "${_ic_kept-}" ]; do
        _ic_lock=${_ic_kept%% *}
        _ic_kept=${_ic_kept#"$_ic_lock"} _ic_kept=${_ic_kept# }
        intercore_unlock "${_ic_lock%%/*}" "${_ic_lock#*/}"
    done
}

_intercore_pass_on() {
    if [ -z "$_ic_child" ]; then
        _ic_unheard="$_ic_unheard $1"
        return
    fi
    _ic_again=yes
    # What looks deaf for ever is no reason to wait for ever: a command that wants no SIGINT, a script that runs
    # itself.
    _ic_tries=20
    while [ "$_ic_tries" -gt 0 ] && _intercore_is_deaf "$1"; do
        _ic_tries=$((_ic_tries - 1))
        sleep 0.01 2>/dev/null || break
    done
    kill -s "$1" "$_ic_child" 2>/dev/null || :
}

# Whether the child would lose a signal: it is still a copy of this shell, traps included, or nobody has undone
# yet that it was started without SIGINT.
_intercore_is_deaf() {
    cmp -s "/proc/$$/cmdline" "/proc/$_ic_child/cmdline" ||
        { [ "$1" = INT ] && grep -q '^SigIgn:.*[2367abef]$' "/proc/$_ic_child/status" 2>/dev/null; }
}

_intercore_is_name() {
    case $1 in
        '' | . | .. | *[!A-Za-z0-9._-]*) return 1 ;;
    esac
    [ "${#1}" -le 128 ]
}

# A root that somebody else prepared is not used: a link, another user's directory or one that others may write to
# or replace. What is above it may belong to the superuser.
_intercore_root_is_ours() {
    _ic_above=$_ic_root/..
    case $_ic_root in
        /*/*) _ic_above=${_ic_root%/*} ;;
    esac
    [ ! -L "$_ic_root" ] && [ -d "$_ic_root" ] && [ -O "$_ic_root" ] &&
        [ -z "$(find "$_ic_root" -prune \( -perm -020 -o -perm -002 \) 2>&1)" ] &&
        { [ -O "$_ic_above" ] || [ -n "$(find "$_ic_above/." -prune -user 0 2>/dev/null)" ]; }
}

# When the process with this number started, in ticks since boot.
_intercore_start() (
    IFS= read -r _ic_stat 2>/dev/null <"/proc/$1/stat" || exit 1
    # Behind the name, which may hold anything, the start is the twentieth field.
    IFS=' '
    # shellcheck disable=SC2086
    set -- ${_ic_stat##*) }
    case ${20-} in
        '' | *[!0-9]*) exit 1 ;;
    esac
    printf '%s\n' "${20}"
)

# What this shell says of itself in the locks that it makes by mkdir; a token for each of them is added.
_intercore_know_self() {
    [ -z "${_ic_self-}" ] || return 0
    _ic_boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null) || :
    _ic_space=$(readlink /proc/$$/ns/pid 2>/dev/null) || :
    _ic_space=${_ic_space#pid:\[} _ic_space=${_ic_space%\]}
    _ic_start=$(_intercore_start "$$") || :
    _ic_self="{\"owner\":\"$$:$_ic_host\",\"pid\":$$,\"host\":\"$_ic_host\""
    if [ -n "$_ic_boot" ] && [ -n "$_ic_space" ] && [ -n "$_ic_start" ]; then
        _ic_self="$_ic_self,\"start\":$_ic_start,\"boot\":\"$_ic_boot\",\"namespace\":$_ic_space"
    fi
}

# What a lock says of its holder: the owner that `ic` wrote, or the marker of a script.
_intercore_holder() {
    cat "$1/owner.json" 2>/dev/null || cat "$1/.fallback" 2>/dev/null
}

# Whether the process that such a text is about is known to be gone.
_intercore_is_dead() {
    _ic_boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null) || return 1
    case $1 in
        *"\"host\":\"$_ic_host\""*'"start":'[0-9]*) ;;
        *) return 1 ;;
    esac
    case $1 in
        *"\"boot\":\"$_ic_boot\""* | *"\"boot\":\"$(printf '%s' "$_ic_boot" | tr -d -)\""*) ;;
        *'"boot":"'[0-9a-f]*) return 0 ;;
        *) return 1 ;;
    esac
    _ic_space=${1#*\"namespace\":} _ic_space=${_ic_space%%[!0-9]*}
    [ "$(readlink /proc/$$/ns/pid 2>/dev/null)" = "pid:[$_ic_space]" ] || return 1
    _ic_pid=${1#*\"pid\":} _ic_pid=${_ic_pid%%[!0-9]*}
    _ic_start=${1#*\"start\":} _ic_start=${_ic_start%%[!0-9]*}
    ! [ "$(_intercore_start "$_ic_pid")" = "$_ic_start" ]
}

# Removes the lock of a process that is gone. Only one may do so at a time, `ic` among them, so it needs the same
# guard; without flock(1) it is left to `ic`.
_intercore_break_dead() {
    command -v flock >/dev/null 2>&1 && _intercore_is_dead "$(_intercore_holder "$1")" || return 0
    (
        umask 077
        exec 9>>"$_ic_root/.guard" && flock 9 || exit 0
        _ic_judged=$(_intercore_holder "$1") || exit 0
        _intercore_is_dead "$_ic_judged" || exit 0
        # A script that gave its lock back and ended meanwhile is gone too, and the lock is another's by then. A
        # marker that outlasts its shell is removed by nobody who has not got the guard.
        [ "$(_intercore_holder "$1")" = "$_ic_judged" ] || exit 0
        _ic_away=${1%/*}/.breaking-sh-$$-$(_intercore_now)
        mv "$1" "$_ic_away" && rm -rf "$_ic_away"
    ) 2>/dev/null
    return 0
}

# Whether a lock's directory is this shell's: its marker is in there, and nobody is taking it away.
_intercore_is_ours() (
    set +f
    for _ic_file in "$1"/owner.json*; do
        [ ! -e "$_ic_file" ] || exit 1
    done
    case $(cat "$1/.fallback" 2>/dev/null) in
        "$2"*) ;;
        *) exit 1 ;;
    esac
)

# The directory keeps others out; the marker, which only one can put into it, makes it this shell's. A shell
# that was too slow in between finds another's marker, an owner, or nothing, and has not got the lock.
_intercore_try() {
    (umask 077 && mkdir "$1") 2>/dev/null && (umask 077 && set -C && printf '%s\n' "$2" >"$1/.fallback") 2>/dev/null
    _intercore_is_ours "$1" "$2"
}

_intercore_mkdir_lock() {
    if ! _intercore_is_name "$1" || ! _intercore_is_name "$2"; then
        printf 'intercore: %s/%s cannot be a lock\n' "$1" "$2" >&2
        return 3
    fi
    [ -e "$_ic_root" ] || [ -L "$_ic_root" ] || (umask 077 && mkdir -p "$_ic_root") 2>/dev/null || :
    if ! _intercore_root_is_ours; then
        printf 'intercore: %s is not a directory of your own\n' "$_ic_root" >&2
        return 2
    fi
    [ -e "$_ic_root/$1" ] || [ -L "$_ic_root/$1" ] || (umask 077 && mkdir "$_ic_root/$1") 2>/dev/null || :
    if [ -L "$_ic_root/$1" ] || [ ! -d "$_ic_root/$1" ]; then
        printf 'intercore: %s is not a directory\n' "$_ic_root/$1" >&2
        return 2
    fi
    _intercore_know_self
    _ic_dir=$_ic_root/$1/$2
    _ic_left=$(_intercore_hundredths "$3") || return 3
    if _intercore_is_ours "$_ic_dir" "$_ic_self"; then
        printf 'intercore: this shell holds %s/%s already\n' "$1" "$2" >&2
        return 1
    fi
    # Two subshells are the same shell, but not the same taker.
    # shellcheck disable=SC2016
    _ic_mark="$_ic_self,\"token\":\"$(sh -c 'echo $$')-$(_intercore_now)\"}"
    _ic_end=$(($(_intercore_now) + _ic_left))
    until _intercore_try "$_ic_dir" "$_ic_mark"; do
        _intercore_break_dead "$_ic_dir"
        _ic_left=$((_ic_end - $(_intercore_now)))
        [ "$_ic_left" -gt 0 ] || return 1
        # The last sleep is cut to what is left.
        [ "$_ic_left" -lt 5 ] || _ic_left=5
        sleep "0.0$_ic_left" 2>/dev/null || sleep 1 || :
    done
}

# Hundredths of a second since some moment.
_intercore_now() {
    if IFS=' ' read -r _ic_up _ 2>/dev/null </proc/uptime; then
        printf '%s\n' "${_ic_up%.*}${_ic_up#*.}"
    else
        printf '%s00\n' "$(date +%s)"
    fi
}

# A time such as 500ms, 1s, 2m or 1h in hundredths of a second.
_intercore_hundredths() {
    case $1 in
        *ms) _ic_number=${1%ms} _ic_factor=0 ;;
        *s) _ic_number=${1%s} _ic_factor=100 ;;
        *m) _ic_number=${1%m} _ic_factor=6000 ;;
        *h) _ic_number=${1%h} _ic_factor=360000 ;;
        *) _ic_number=$1 _ic_factor=100 ;;
    esac
    case $_ic_number in
        '' | *[!0-9]*)
            printf 'intercore: %s is no time: 500ms, 2s, 1m\n' "$1" >&2
            return 1
            ;;
    esac
    if [ "$_ic_factor" = 0 ]; then
        printf '%s\n' "$((_ic_number / 10))"
    else
        printf '%s\n' "$((_ic_number * _ic_factor))"
    fi
}
