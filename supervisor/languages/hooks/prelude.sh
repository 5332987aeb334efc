# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# What BASH_ENV names where a Bash program has a prelude: runs that in the program's own shell, which
# has not begun with the program then. Shells that it starts have none of this.
# shellcheck shell=bash source=/dev/null
if [[ -v WARDCASE_BASH_ENV ]]; then
  BASH_ENV=$WARDCASE_BASH_ENV
  unset WARDCASE_BASH_ENV
  . "$BASH_ENV" 3>&-
else
  unset BASH_ENV
fi
printf 'prelude=begin\0' >&3
# No variable of ours is left when it runs; and its own exit codes count, as under set -e.
eval "unset WARDCASE_PRELUDE; . ${WARDCASE_PRELUDE@Q} 3>&-"
case $? in
  0) printf 'prelude=done\0' >&3 ;;
  *) exit $? ;;
esac
exec 3>&-
