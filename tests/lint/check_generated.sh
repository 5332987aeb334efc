#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# wardcase(1) and the completions of shells are what the table of options says now, and
# the shells that are here can read them.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}

if [[ ! -x $build/wardcase ]]; then
  echo "$build/wardcase is not built"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r packaging/man packaging/completions "$scratch"
packaging/generate "$build/wardcase" "$scratch"
bad=0
for directory in man completions; do
  diff -r "packaging/$directory" "$scratch/$directory" || bad=1
done
((bad == 0)) || echo 'run packaging/generate'
grep -q -F -e 'Fl -timeout' "$scratch/man/wardcase.1" || { echo 'wardcase.1: no options'; bad=1; }
for shell in bash zsh fish; do
  [[ $shell == bash ]] || command -v "$shell" >/dev/null || continue
  "$shell" -n "packaging/completions/wardcase.$shell" || bad=1
done
exit $bad
