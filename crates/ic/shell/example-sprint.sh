#!/bin/sh
# Nested locks, in one order. Everywhere in these scripts it is
#
#     sprint-advance/<id>, then sprint/<id>
#
# and never the other way round: sprint_advance holds the first while it calls what takes the second, so nothing
# that holds sprint/<id> may call sprint_advance. `ic lock order` shows what was seen, and `ic` warns whoever
# turns it round.
#
# usage: example-sprint.sh ID
set -eu

# shellcheck source=/dev/null
. "$(dirname "$0")/lib-intercore.sh"

# Takes sprint/<id>.
sprint_record_phase_completion() {
    intercore_lock sprint "$1" 5s || return 1
    echo "sprint $1: $2 is done"
    intercore_unlock sprint "$1"
}

# Takes sprint-advance/<id>, and sprint/<id> within it.
sprint_advance() {
    intercore_lock sprint-advance "$1" 5s || return 1
    sprint_record_phase_completion "$1" planning
    echo "sprint $1: building"
    intercore_unlock sprint-advance "$1"
}

sprint_advance "${1:?which sprint?}"
