#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# A hook of git, which is a script that git executes itself.
set -euo pipefail

git init -q repository
cd repository
printf '#!/bin/sh\ntouch ran\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
git -c user.name=u -c user.email=u@example.invalid commit -q --allow-empty -m x
[[ -e ran ]]
echo works
