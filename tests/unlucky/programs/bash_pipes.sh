#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Everything that bash joins with pipes: process substitution, coprocesses, here documents,
# named pipes, descriptors of its own.
set -euo pipefail

[[ $(paste -sd, <(seq 3) <(seq 4 6)) == $'1,2,3\n4,5,6' ]]
seq 5 | tee >(wc -l >counted) >/dev/null
until [[ -s counted ]]; do sleep 0.02; done
(($(<counted) == 5))

coproc { while read -r line; do echo "got $line"; done; }
process=$COPROC_PID
echo one >&"${COPROC[1]}"
read -r answer <&"${COPROC[0]}"
[[ $answer == 'got one' ]]
exec {COPROC[1]}>&-
wait "$process"

value=inserted
[[ $(cat <<END
$value
END
) == inserted ]]
[[ $(cat <<'END'
$value	`tabs` !! "quotes"
END
) == '$value	`tabs` !! "quotes"' ]]
[[ $(tr a-z A-Z <<<here) == HERE ]]
# Longer than a pipe holds: bash takes a temporary file.
long=$(seq 40000)
[[ $(tail -n 1 <<<"$long") == 40000 ]]

mkfifo fifo
echo through >fifo &
[[ $(<fifo) == through ]]
exec 5>file
echo kept >&5
exec 5>&-
[[ $(<file) == kept ]]
echo seen >/dev/null 2>/dev/stderr
[[ $(echo out >/dev/stdout) == out ]]
[[ $(timeout 0.2 sleep 60 || echo $?) == 124 ]]
echo works
