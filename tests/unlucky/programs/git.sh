#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# git as people use it: commits, branches, a merge, a clone, packing, a worktree, hooks.
set -euo pipefail

git config --global user.name 'A user'
git config --global user.email user@example.invalid
git config --global init.defaultBranch main
git init -q first
cd first
echo 1 >one
git add one
git commit -q -m 'first ä'
git switch -q -c side
echo 2 >two
git add .
git commit -q -m second
git switch -q main
echo 3 >>one
git commit -q -a -m third
git merge -q side -m merged
[[ $(git log --format=%s | sort | paste -sd,) == 'first ä,merged,second,third' ]]
git gc -q
git fsck --strict 2>/dev/null
cd ..
git clone -q first second
git clone -q "file://$PWD/first" third
[[ $(git -C second rev-parse HEAD) == "$(git -C third rev-parse HEAD)" ]]
echo 4 >second/one
git -C second commit -q -a -m fourth
git -C second push -q origin HEAD:side
git -C first worktree add -q ../tree side
[[ $(<tree/one) == 4 ]]
git -C first stash list
[[ -z $(git -C first status --short) ]]
echo works
