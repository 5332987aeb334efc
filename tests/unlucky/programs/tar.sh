#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Archives with modes, links, times, names that are not ASCII, and each compression.
set -euo pipefail

mkdir -p tree/deep
echo text >'tree/ä ö.txt'
head -c 300000 /dev/urandom >tree/deep/random
ln -s deep/random tree/link
ln tree/deep/random tree/hard
truncate -s 10M tree/sparse
chmod 750 tree/deep
touch -d '2001-02-03 04:05:06' tree/deep/random
for kind in '' z J j; do
  tar -c -S"${kind:+$kind}" -f archive tree
  rm -rf out
  mkdir out
  tar -x -f archive -C out
  diff -r tree out/tree
  [[ $(stat -c '%a %Y' out/tree/deep out/tree/deep/random) == "$(stat -c '%a %Y' tree/deep tree/deep/random)" ]]
  [[ $(readlink out/tree/link) == deep/random && out/tree/hard -ef out/tree/deep/random ]]
done
tar -c tree | tar -x -C out
python3 -m zipfile -c archive.zip tree/deep
python3 -m zipfile -t archive.zip >/dev/null
find . -name 'random' -newermt 2001-01-01 -print0 | xargs -0 sha256sum >/dev/null
echo works
