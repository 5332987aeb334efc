#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# The text of the project holds no path of the machine that it was written on, and
# nothing that was left for later.
set -euo pipefail
cd "$(dirname "$0")/../.."

bad=0
refuse() {
  local why=$1
  shift
  if grep -r -n -I --exclude-dir=build --exclude-dir=.git "$@" . | cut -c 1-160; then
    printf '^ %s\n\n' "$why"
    bad=1
  fi
}

refuse 'a path of one machine' -E -e '[/]work/'
((${#PWD} < 6)) || refuse 'the path of this checkout' -F -e "$PWD/"
refuse 'left for later' -w -E -e 'TO[D]O|FIX[M]E|XX[X]'
refuse 'an unfinished merge' -E -e '^(<{7}|>{7})( |$)'
refuse 'a reference that a reader of the source cannot follow' --include='*.cc' --include='*.h' \
  -i -E -e '(issue|review|ticket) #?[0-9]'
exit $bad
