#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# The examples of README.md that call wardcase run as they are written: each line of those
# blocks, one after the other, in one shell and an empty directory. `# exits N` and
# `# prints TEXT` are what has to come of one (TEXT: up to the end, its lines joined by a
# blank); without a word of it, it exits 0. Lines that need a person are left out.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build}")

[[ -x $build/wardcase ]] || { echo "$build/wardcase is not built" && exit 77; }
work=$(mktemp -d /tmp/wardcase-examples.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp README.md "$work"
ln -s "$build" "$work/build"
# What one keeps is no business of the next.
export XDG_CACHE_HOME=$work/cache XDG_STATE_HOME=$work/state PATH=/usr/local/bin:/usr/bin:/bin

awk '/^```sh$/ { block = ""; reading = 1; next }
     /^```$/ { if (reading && block ~ /(^|[ (])wardcase (run|exec|session|check)/) printf "%s", block; reading = 0 }
     reading { block = block $0 "\n" }' README.md | grep -v -e 'run -t' -e systemctl >"$work/.lines"
# What this host can't give its ordinary users is not asked for.
"$build/wardcase" run -q --policy strict -- true || sed -i '/--policy strict/d' "$work/.lines"
(($(wc -l <"$work/.lines") > 20)) || { echo "README.md: found too few examples" && exit 1; }

cd "$work"
bad=0
while read -r line <&3; do
  wanted=$(grep -o -P '  # (.*; )?exits \K[0-9]+' <<<"$line" || echo 0)
  prints=$(grep -o -P '  # prints \K.*' <<<"$line" || true)
  status=0
  # In this shell: it may set what the next ones use.
  eval "$line" >"$work/.out" 2>"$work/.err" </dev/null || status=$?
  if [[ $status != "$wanted" ]] ||
    [[ -n $prints && $(tr '\n' ' ' <"$work/.out" | sed 's/ $//') != "$prints" ]]; then
    printf 'README.md: %s\n  exited with %s; wanted: %s\n' "$line" "$status" "$wanted ${prints:+and \'$prints\'}"
    cat "$work/.out" "$work/.err"
    bad=1
  fi
done 3<"$work/.lines"
exit $bad
