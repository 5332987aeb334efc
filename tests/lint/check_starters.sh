#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# What is shipped compiled for the Python that is here is what that Python makes of the one line in
# packaging/python-starters.
set -euo pipefail
cd "$(dirname "$0")/../.."

python=/usr/bin/python3
if [[ ! -x $python ]]; then
  echo "$python is not installed (make deps)"
  exit 77
fi
tag=$("$python" -I -c 'import sys; print(sys.implementation.cache_tag)')
table=supervisor/languages/python_starters.cc
row() { sed -n "/{\"$tag\",/,/},/p"; }
if ! grep -q -F "{\"$tag\"," "$table"; then
  echo "$table has no row for $tag; add it with packaging/python-starters"
  exit 1
fi
diff <(row <"$table") <(packaging/python-starters "$python" | row)
