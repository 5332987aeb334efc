#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Programs that like to ask a person, or to show page by page: each ends by itself.
set -uo pipefail

git init -q repository && cd repository || exit 1
export GIT_AUTHOR_NAME=u GIT_AUTHOR_EMAIL=u@example.invalid
export GIT_COMMITTER_NAME=u GIT_COMMITTER_EMAIL=u@example.invalid
for n in $(seq 100); do git commit -q --allow-empty -m "number $n"; done
(($(git log --oneline | wc -l) == 100)) || exit 1
git log >/dev/null || exit 1
git --paginate log --oneline | tail -n 1
seq 500 | less | tail -n 1
man ls >/dev/null 2>&1
sudo -k true && exit 1
ssh -o ConnectTimeout=30 nohost && exit 1
git clone https://example.invalid/x.git && exit 1
python3 -c 'input("name? ")' && exit 1
read -r -p 'name? ' && exit 1
echo works
