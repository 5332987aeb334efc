#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# All C++ and C is formatted as .clang-format says, by the one version that CI has.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v clang-format-14 >/dev/null; then
  echo 'clang-format-14 is not installed (make deps)'
  exit 77
fi
find sandbox policies supervisor tests \( -name '*.cc' -o -name '*.h' -o -name '*.c' \) -print0 |
  xargs -0 clang-format-14 --dry-run --Werror --ferror-limit=1
