#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Between clone and exec another thread's locks may be held for ever, so what runs
# there calls nothing but what child_calls.allowed lists, and needs no constructor
# to have run. Looked up in objects of one fixed build, since sanitizers, stack
# protectors and fortified calls add symbols of their own.
set -euo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

shopt -s nullglob
sources=(sandbox/child*.cc sandbox/init_process.cc)
for source in "${sources[@]}"; do
  object=$scratch/$(basename "$source" .cc).o
  g++ -std=c++20 -O2 -fno-pie -fno-exceptions -fno-stack-protector -fcf-protection=none \
    -U_FORTIFY_SOURCE -I. -c -o "$object" "$source"
done

nm --defined-only --format=just-symbols "$scratch"/*.o | sort -u >"$scratch/defined"
nm --undefined-only --format=just-symbols "$scratch"/*.o | sort -u >"$scratch/undefined"
sed 's/[[:space:]]*#.*//; /^$/d' tests/lint/child_calls.allowed | sort -u >"$scratch/allowed"
sort -u "$scratch/defined" "$scratch/allowed" >"$scratch/known"

bad=0
while read -r symbol; do
  printf 'called between clone and exec, but not in tests/lint/child_calls.allowed: %s (by %s)\n' \
    "$(c++filt "$symbol")" "$(cd "$scratch" && grep -l -w -F -e "$symbol" -- *.o | xargs)"
  bad=1
done < <(comm -23 "$scratch/undefined" "$scratch/known")

while read -r symbol; do
  printf 'in tests/lint/child_calls.allowed, but nothing calls it: %s\n' "$symbol"
  bad=1
done < <(comm -13 "$scratch/undefined" "$scratch/allowed")

for object in "$scratch"/*.o; do
  if objdump -h "$object" | grep -q -E '\.(init_array|ctors)'; then
    printf 'has a static initialiser: sandbox/%s\n' "$(basename "$object" .o).cc"
    bad=1
  fi
done
exit $bad
