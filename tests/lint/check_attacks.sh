#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Each test that SECURITY.md names is there, and each row of its tables of boundaries
# names one. What the hostile tests declare of themselves is checked when they run.
set -euo pipefail
cd "$(dirname "$0")/../.."

bad=0
complain() {
  printf 'SECURITY.md: %s\n' "$*"
  bad=1
}

# Names are `Suite.Name`, or `Suite.*` for all of a suite.
tick=$'\x60'
mapfile -t named < <(grep -o -E "${tick}[A-Z][A-Za-z0-9]+\.([A-Z][A-Za-z0-9]+|\*)$tick" SECURITY.md |
  tr -d "$tick" | sort -u)
((${#named[@]} > 20)) || complain 'names too few tests'
tests=$(grep -r -h -o -E '^TEST(_[FP])?\([A-Za-z0-9]+, [A-Za-z0-9]+' tests --include='*_test.cc' |
  sed -E 's/^TEST(_[FP])?\(//; s/, /./')
for name in "${named[@]}"; do
  pattern=^${name//./\\.}\$
  grep -q -E -e "${pattern//\*/.+}" <<<"$tests" || complain "there is no test $name"
done

rows=$(sed -n '/^## Boundaries/,/^## /p' SECURITY.md | grep -E '^\| ' | grep -v -E '^\| (boundary|---)')
(($(wc -l <<<"$rows") > 10)) || complain 'has too few boundaries'
while IFS= read -r row; do
  grep -q -E "${tick}[A-Z][A-Za-z0-9]+\." <<<"$row" || complain "names no test that attacks: ${row:0:60}"
done <<<"$rows"
exit $bad
