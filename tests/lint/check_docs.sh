#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# What a user may meet is written down: each long option in README.md or
# wardcase(1), each status in README.md, each make target in `make help`, each policy key
# in policies/README.md (of manual pages see check_manuals.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}

bad=0
complain() {
  printf '%s\n' "$*"
  bad=1
}

if [[ ! -x $build/wardcase ]]; then
  echo "$build/wardcase is not built"
  exit 77
fi
for document in README.md packaging/man/wardcase.1; do
  [[ -f $document ]] || { echo "$document is missing" && exit 1; }
done
# mdoc writes --option as `Fl -option`, man as \-\-option.
documents=$(sed 's/\\-/-/g; s/Fl -/--/g' README.md packaging/man/wardcase.1)
for option in $("$build/wardcase" run --help | grep -o -E -e '--[a-z][a-z0-9-]+' | sort -u); do
  grep -q -E -e "$option([^a-z0-9-]|$)" <<<"$documents" ||
    complain "neither README.md nor packaging/man/wardcase.1 tells of $option"
done

service=$(sed 's/Fl -/--/g' packaging/man/wardcased.8)
for option in $("$build/wardcase" serve --help | grep -o -E -e '^ +--[a-z][a-z0-9-]+' | sort -u); do
  grep -q -E -e "$option([^a-z0-9-]|$)" <<<"$service" ||
    complain "packaging/man/wardcased.8 does not tell of $option"
done

# A code stands in a Problem or behind refuse(.
codes=$(sed -n -E 's/.*(\{[0-9]{3}, |refuse\(([45][0-9]{2}, )?)"([a-z_]+)".*/\3/p; s/.*fail\([0-9]{3}, "([a-z_]+)".*/\1/p' \
  supervisor/server/*.cc | sort -u)
(($(wc -w <<<"$codes") > 15)) || complain 'supervisor/server: found too few codes of problems'
for code in $codes; do
  grep -q -w -F "$code" <<<"$service" ||
    complain "packaging/man/wardcased.8 does not tell of the code $code"
done

statuses=$(sed -n '/^enum class RunStatus/,/^};/s/^  \([a-z_]*\),$/\1/p' supervisor/run/run_record.h)
[[ -n $statuses ]] || complain 'supervisor/run/run_record.h: found no statuses'
for status in $statuses; do
  grep -q -F "\`$status\`" README.md || complain "README.md does not tell of the status \`$status\`"
done

# Rows of the reader's tables begin with {"KEY", those of the limits have .key = "KEY".
keys=$(sed -n -E 's/^    \{"([a-z_]+)",.*/\1/p' policies/policy_reader.cc policies/install_keys.cc policies/host_root_keys.cc
  sed -n -E 's/^     \.key = "([a-z_]+)",/\1/p' policies/limits.cc)
(($(wc -w <<<"$keys") > 30)) || complain 'policies/policy_reader.cc: found too few keys'
for key in $keys; do
  grep -q -w -F "$key" policies/README.md || complain "policies/README.md does not tell of the policy key $key"
done

help=$(make help)
mapfile -t targets < <(sed -n "s/^\.PHONY: //p" Makefile | tr " " "\n" | grep -v -x -E "tests|fuzz-targets|FORCE")
for target in "${targets[@]}"; do
  grep -q -E "^make $target " <<<"$help" || complain "\`make help\` does not tell of $target"
done
exit $bad
