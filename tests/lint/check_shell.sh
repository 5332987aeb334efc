#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# There is nothing that shellcheck has to say of any shell script, by suffix or by its first line.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v shellcheck >/dev/null; then
  echo 'shellcheck is not installed (make deps)'
  exit 77
fi
find . -path ./build -prune -o -path ./.git -prune -o -type f -print0 |
  xargs -0 grep -l -I -m1 -E '^#!.*\b(ba)?sh\b' -- | xargs -d '\n' shellcheck
