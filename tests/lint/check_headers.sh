#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Each header compiles on its own and says #pragma once; each source says its licence.
# Where the source of the same name begins with it, that one's compilation has shown it.
set -euo pipefail
cd "$(dirname "$0")/../.."

bad=0
complain() {
  printf '%s\n' "$*"
  bad=1
}

mapfile -t headers < <(find sandbox policies supervisor tests -name '*.h' | sort)
for header in "${headers[@]}"; do
  [[ $(sed -n 3p "$header") == '#pragma once' ]] || complain "$header:3: not '#pragma once'"
done
is_first_in_its_source() { # HEADER
  local source=${1%.h}.cc
  [[ -f $source && $(grep -m 1 '^#include' "$source") == "#include \"$1\"" ]]
}
for header in "${headers[@]}"; do
  is_first_in_its_source "$header" || printf '%s\n' "$header"
done |
  xargs -P"$(nproc)" -I{} g++ -std=c++20 -fsyntax-only -Wall -Wextra -I. -include {} -x c++ /dev/null ||
  complain 'a header does not compile on its own (see above)'

# Sources, and scripts without a suffix.
while read -r file; do
  case $file in
    *.cc | *.h | *.c | *.sh | *.py | *.toml | Makefile) ;;
    *) [[ $(head -c 2 "$file" | tr -d '\0') == '#!' ]] || continue ;;
  esac
  head -n 4 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || complain "$file: no SPDX line at its top"
  head -n 4 "$file" | grep -q 'Copyright The wardcase authors' || complain "$file: no copyright line at its top"
done < <(find . -path ./build -prune -o -path ./.git -prune -o -type f -printf '%P\n' | sort)
exit $bad
