#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# A source file has at most 400 lines, unless it says `lint: table` near its top.
# (The length of functions is clang-tidy's: `make tidy`.)
set -euo pipefail
cd "$(dirname "$0")/../.."

bad=0
while read -r file; do
  lines=$(wc -l <"$file")
  ((lines <= 400)) || head -n 20 "$file" | grep -q 'lint: table' || {
    printf '%s: %d lines; split it (400 at most)\n' "$file" "$lines"
    bad=1
  }
done < <(find sandbox policies supervisor tests -name '*.cc' -o -name '*.h')
exit $bad
