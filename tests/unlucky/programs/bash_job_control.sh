#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Job control without a terminal: background jobs, stopped and continued ones, process
# groups of their own, traps, wait for the next.
set -euo pipefail
set -m

sleep 60 &
first=$!
[[ $(ps -o pgid= -p "$first" 2>/dev/null || cut -d' ' -f5 "/proc/$first/stat") -eq $first ]]
[[ $(jobs) == *Running*sleep* ]]
kill -STOP %1
until [[ $(jobs %1) == *Stopped* ]]; do sleep 0.02; done
bg %1 >/dev/null
[[ $(jobs %1) == *Running* ]]
kill %1
status=0
wait "$first" || status=$?
((status == 143))

# `wait -n` is for the next to end: one that has ended before it is called is none.
(sleep 60) &
(sleep 1 && exit 7) &
status=0
wait -n || status=$?
((status == 7))
kill %%
wait || true

sleep 0.05 &
fg %% >/dev/null

caught=no
trap 'caught=yes' USR1
kill -USR1 $$
[[ $caught == yes ]]
trap 'echo works' EXIT
