#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# The manual pages are right: groff and mandoc have nothing to say of them, the pages that
# they name are there, and they tell of exactly the keys that the reader of policies and
# configurations knows, and of each boundary that SECURITY.md has.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
pages=packaging/man

bad=0
complain() {
  printf '%s\n' "$*"
  bad=1
}

for tool in groff mandoc; do
  command -v $tool >/dev/null || { echo "$tool is not installed (make deps)" && exit 77; }
done
for page in "$pages"/*; do
  [[ -z $(groff -man -mdoc -ww -z -Tutf8 "$page" 2>&1 | tee /dev/stderr) ]] || bad=1
  mandoc -Tlint -W warning "$page" || bad=1
  while read -r name section; do
    [[ -e $pages/$name.$section ]] || complain "$page: names $name($section), which is not there"
  done < <(sed -n -E 's/^\.Xr (wardcase[a-z.-]*) ([0-9]).*/\1 \2/p' "$page")
  grep -q -F "packaging/man/$(basename "$page")=" Makefile || complain "$page: make install does not install it"
done

# Rows of the reader's tables begin with {"KEY", those of the limits have .key = "KEY".
keys=$(sed -n -E 's/^    \{"([a-z_]+)",.*/\1/p' policies/policy_reader.cc policies/install_keys.cc policies/host_root_keys.cc
  sed -n -E 's/^     \.key = "([a-z_]+)",/\1/p' policies/limits.cc)
(($(wc -w <<<"$keys") > 30)) || complain 'policies/policy_reader.cc: found too few keys'
told_in() { # PAGE: all that it sets as a key or has a section for
  sed -n -E 's/^\.(It )?Ic //p' "$1" | sed -E 's/ (No|Ta) .*//; s/[(].*//' | grep -o -E '[a-z_]+'
  sed -n -E 's/^\.Ss //p' "$1" | tr -c 'a-z_\n' '\n'
}
compare() { # PAGE KEYS...
  local page=$1 key told
  shift
  told=$(told_in "$page")
  for key in "$@"; do
    grep -q -x -F -e "$key" <<<"$told" || complain "$page does not tell of the key $key"
  done
  while read -r key; do
    grep -q -x -F -e "$key" <(printf '%s\n' "$@") || complain "$page tells of the key $key, which there is not"
  done < <(sed -n -E 's/^\.It Ic //p' "$page" | sed -E 's/ (No|Ta) .*//' | grep -o -E '[a-z_]+')
}
# What is a configuration's alone.
service_keys=$(sed -n -E 's/^    \{"([a-z_]+)",.*/\1/p' policies/service_keys.cc
  sed -n -E 's/^    \{(ServerOption|QuotaKey)::[a-z_]+, "([a-z_]+)".*/\2/p' policies/service_settings.cc)
(($(wc -w <<<"$service_keys") > 20)) || complain 'policies/service_keys.cc: found too few keys'
mapfile -t policy_keys < <(grep -v -x -E 'server|access|quota' <<<"$keys")
mapfile -t configuration_keys < <(grep -v -x -E 'name|description|extends' <<<"$keys" && echo "$service_keys")
compare "$pages/wardcase-policy.5" "${policy_keys[@]}"
compare "$pages/wardcase.toml.5" "${configuration_keys[@]}"

# What the table of boundaries has, the short form has, too.
boundaries=$(sed -n '/^## Boundaries/,/^## What is not/s/^| \([^|]*[^ |]\) *|.*/\1/p' SECURITY.md | grep -v -x -E 'boundary|-+')
(($(wc -l <<<"$boundaries") > 10)) || complain 'SECURITY.md: found too few boundaries'
while IFS= read -r boundary; do
  grep -q -x -F ".It Sy $boundary" "$pages/wardcase-security.7" || complain "wardcase-security.7 has no: $boundary"
done <<<"$boundaries"

# The examples are files that are taken.
if [[ -x $build/wardcase ]]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  mkdir "$scratch/wardcase"
  for page in wardcase-policy wardcase.toml; do
    sed -n '/^\.Bd -literal/,/^\.Ed/p' "$pages/$page.5" | grep -v '^\.' >"$scratch/wardcase/${page%.toml}.toml"
  done
  "$build/wardcase" policy check "$scratch/wardcase/wardcase-policy.toml" >/dev/null || bad=1
  shown=$(XDG_CONFIG_HOME=$scratch "$build/wardcase" config show --origin) || bad=1
  grep -q -F "$scratch/wardcase/wardcase.toml" <<<"$shown" || complain 'wardcase.toml.5: its example sets nothing'
fi
exit $bad
