#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# The tests of packaging/python, with the command of this build and places of its own.
# They leave nothing behind: no session, no file, and nothing beside the sources.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build}")

[[ -x $build/wardcase ]] || { echo "$build/wardcase is not built" && exit 77; }
work=$(mktemp -d /tmp/wardcase-python.XXXXXX)
export XDG_RUNTIME_DIR=$work/runtime
# Root's are not there, but with those of all his others: the tests end each by its name.
left_sessions() { find "$XDG_RUNTIME_DIR" -type s -path '*/sessions/*.sock' -printf '%f\n' | sed 's/\.sock$//'; }
clean_up() {
  left_sessions | xargs -r "$build/wardcase" session rm >/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
mkdir -m 700 "$work"/{home,runtime,state,cache,configuration,tmp}

unset -v "${!WARDCASE_@}" "${!PYTHON@}" "${!PIP_@}"
export HOME=$work/home TMPDIR=$work/tmp PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8
export XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/configuration
export WARDCASE_BINARY=$build/wardcase PYTHONDONTWRITEBYTECODE=1 OF_THE_CALLER=1

cd packaging/python
# -X dev: it complains of files and sockets that were left open.
/usr/bin/python3 -X dev -W error::ResourceWarning -m unittest discover -t . -s tests -b
left=$(left_sessions && ls -A "$TMPDIR")
[[ -z $left ]] || { echo "sessions or files are left: $left" && exit 1; }
