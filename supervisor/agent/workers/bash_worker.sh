#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# shellcheck disable=SC2016,SC2034,SC2064  # text is evaluated later, and uses what is set here
#
# Interprets the Bash programs of a session, one after the other, in this one shell. What arrives
# and what is answered is in supervisor/agent/README.md. This file is only sourced: the loop,
# __wardcase_loop, is evaluated at the top, where `declare` makes globals and messages bear $0.
#
# The programs can leave the shell in any state. So all that is done between two of them
#   - stands in the condition of a loop, where neither errexit nor an ERR trap looks,
#   - sends its stderr to nowhere, for the sake of xtrace,
#   - uses builtins by that word, quotes everything and has a value for everything.
# While a program runs, the channel is closed: what it starts has no copy, as bash keeps its own
# one close-on-exec.

__wardcase_id=       # of the program that ran, if it has not been answered
__wardcase_name=     # what messages call it
__wardcase_code=     # what is evaluated next
__wardcase_status=0  # of the program before
__wardcase_last=0    # of what was evaluated
__wardcase_error=    # why it is no program, as JSON
__wardcase_busy=     # a program runs
__wardcase_hit=      # and was interrupted
__wardcase_trace=    # it had set xtrace
__wardcase_err=      # an ERR trap may be set
__wardcase_open=     # its last here-document is not closed
__wardcase_null=     # stdin was /dev/null before
__wardcase_shown='' __wardcase_debug='' __wardcase_extdebug='' __wardcase_functrace=''
__wardcase_stdin='' __wardcase_once=''
__wardcase_fd=254    # out of the way, and below bash's own 255
(($(ulimit -n) > 254)) 2>/dev/null || __wardcase_fd=$(($(ulimit -n) - 2))

# An interrupt ends the command that runs; what is left of the program is then skipped command
# after command, functions by their return (extdebug(1)) and the rest by going on with the
# outermost loop, ours. A `read` would only wait on: it gets the end of its input.
# Called in the INT trap and nothing after it, since DEBUG is heeded from here on. A `select` that
# ends by the end of its input would leave a `continue` uncounted: what follows it is skipped. A
# function has no DEBUG trap but its own, and gives the shell its one back.
__wardcase_interrupt() {
  __wardcase_hit=1
  __wardcase_extdebug=
  __wardcase_functrace=
  builtin shopt -q extdebug && __wardcase_extdebug=1
  [[ $- == *T* ]] && __wardcase_functrace=1
  exec {__wardcase_stdin}<&0 0</dev/null
  builtin shopt -s extdebug
  builtin set -T
  builtin trap '{
    [[ ! $__wardcase_busy || $BASH_COMMAND == *__wardcase_* ]] ||
      if ((${#FUNCNAME[@]})); then __wardcase_return 2; else ! builtin continue 9999; fi
  } 2>/dev/null' DEBUG
}

__wardcase_int='{
  if [[ ! $__wardcase_busy || $__wardcase_hit ]]; then
    :
  elif ((${#FUNCNAME[@]})) || [[ $BASH_COMMAND == "select "* ]]; then
    __wardcase_debug=
    __wardcase_interrupt
  else
    __wardcase_debug=$(builtin trap -p DEBUG)
    __wardcase_interrupt
    builtin continue 9999
  fi
} 2>/dev/null'

__wardcase_return() { builtin return "$1"; }

# As it was before the interrupt.
__wardcase_calm() {
  [[ $(builtin trap -p DEBUG) == *__wardcase_busy* ]] && builtin trap - DEBUG
  [[ $__wardcase_extdebug ]] || builtin shopt -u extdebug
  [[ $__wardcase_functrace ]] || builtin set +T
  # What it read from may have been its own, and is then gone by itself.
  if [[ ! $__wardcase_null && /dev/stdin -ef /dev/null ]]; then
    exec 0<&"$__wardcase_stdin"
  fi
  exec {__wardcase_stdin}<&-
  builtin eval "$__wardcase_debug"
}

# Sets __wardcase_shown to the text as JSON. All but ASCII is replaced: whatever encoding it has.
__wardcase_quote() {
  local text=$1
  text=${text//[!$'\n\t'\ -~]/?}
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  text=${text//$'\n'/\\n}
  text=${text//$'\t'/\\t}
  __wardcase_shown=\"$text\"
}

# A frame: the length in four bytes, then the text.
__wardcase_send() {
  local head
  builtin printf -v head '\\x%02x' $((${#1} >> 24 & 255)) $((${#1} >> 16 & 255)) \
    $((${#1} >> 8 & 255)) $((${#1} & 255))
  builtin printf "$head%s" "$1" >&"$__wardcase_fd"
}

# The nonce has been waiting in the channel since the program began.
__wardcase_answer() {
  local word='' nonce='' interrupted=false
  IFS=' ' builtin read -r -u "$__wardcase_fd" word nonce || builtin exit 0
  if [[ $__wardcase_hit ]]; then
    interrupted=true
    __wardcase_status=130
  fi
  __wardcase_send "{\"type\":\"done\",\"id\":\"$__wardcase_id\",\"nonce\":\"$nonce\",\
\"exit_code\":$__wardcase_status,\"exit\":false,\"interrupted\":$interrupted,\
\"error\":${__wardcase_error:-null},\"result\":null}"
}

# What is no program is not begun: evaluated, it would run up to the place of the mistake.
# Patterns of extglob are always known: a program may well set it for its own later lines. A
# child that a signal ended has said nothing.
__wardcase_check() {
  local said='' first='' status=255 line=1
  local -a parse=(-a "$__wardcase_name" "$BASH" --norc --noprofile -O extglob -n)
  while ((status > 128)); do
    if ((${#__wardcase_code} < 4000)); then  # fits in a pipe: no file, and a process less
      said=$(exec "${parse[@]}" 2>&1 {__wardcase_fd}<&- <<<"$__wardcase_code")
    else
      said=$(builtin printf '%s' "$__wardcase_code" | (exec "${parse[@]}" {__wardcase_fd}<&-) 2>&1)
    fi
    status=$?
  done
  __wardcase_open=
  [[ $said == *here-document* ]] && __wardcase_open=1
  ((status == 0)) && builtin return 0
  [[ $said =~ line\ ([0-9]+): ]] && line=${BASH_REMATCH[1]}
  first=${said#*"line $line: "}
  __wardcase_quote "${first%%$'\n'*}"
  __wardcase_error="{\"type\":\"SyntaxError\",\"message\":$__wardcase_shown"
  __wardcase_quote "$said"
  __wardcase_error+=",\"line\":$line,\"traceback\":$__wardcase_shown}"
  builtin printf -v __wardcase_code 'builtin printf "%%s\n" %q >&2 || :' "$said"
  __wardcase_status=2
  builtin return 1
}

# Whether it is a program: answered at once. What the shell has of the one before stays.
__wardcase_look() {
  local __wardcase_status=0 __wardcase_error=''
  __wardcase_check
  __wardcase_send "{\"type\":\"begun\",\"id\":\"$__wardcase_id\"}"
  __wardcase_answer
}

# What is around the program stands in its first line, so that lines count from there, and
# behind its end. $? is what the program before left.
__wardcase_wrap() {
  local before=''
  if ((__wardcase_status != 0)) && [[ $- != *e* && ! $__wardcase_err ]]; then
    before="__wardcase_return $__wardcase_status;"
  fi
  if [[ $__wardcase_trace ]]; then
    before="{ builtin set -x; $before } 2>/dev/null;"
  fi
  __wardcase_code=$before$__wardcase_code
  [[ $__wardcase_open ]] ||
    __wardcase_code+=$'\n\n{ __wardcase_status=$? __wardcase_busy=; } 2>/dev/null'
}

# Answers what ran, and waits for what is next.
__wardcase_next() {
  [[ $__wardcase_busy ]] && __wardcase_status=$__wardcase_last
  __wardcase_busy=
  __wardcase_trace=
  if [[ $- == *x* ]]; then
    __wardcase_trace=1
    builtin set +x
  fi
  [[ $__wardcase_hit ]] && __wardcase_calm
  local word='' size=0 LC_ALL=C
  [[ $__wardcase_id ]] && __wardcase_answer
  __wardcase_id='' __wardcase_hit='' __wardcase_error='' __wardcase_null='' __wardcase_last=0
  if [[ $__wardcase_code == *trap* && ! $(builtin trap -p INT) ]]; then
    builtin trap "$__wardcase_int" INT
  fi
  while :; do
    IFS=' ' builtin read -r -u "$__wardcase_fd" word __wardcase_id __wardcase_name size ||
      builtin exit 0
    __wardcase_code=
    ((size == 0)) || IFS='' builtin read -r -N "$size" -u "$__wardcase_fd" __wardcase_code
    [[ $word == check ]] || builtin break
    __wardcase_look
  done
  [[ $__wardcase_code == *ERR* ]] && __wardcase_err=1
  [[ /dev/stdin -ef /dev/null ]] && __wardcase_null=1
  BASH_ARGV0=$__wardcase_name
  if __wardcase_check; then
    __wardcase_wrap
    __wardcase_busy=1
  fi
  __wardcase_send "{\"type\":\"begun\",\"id\":\"$__wardcase_id\"}"
}

# `break` of a program that has no loop of its own leaves the inner one; more of them leave ours,
# which then begins anew.
__wardcase_loop='while { __wardcase_next; } 2>/dev/null; do for __wardcase_once in 1; do '
__wardcase_loop+="builtin eval \"\$__wardcase_code\" $__wardcase_fd<&-; "
__wardcase_loop+='{ __wardcase_last=$?; } 2>/dev/null; done; done; builtin eval "$__wardcase_loop"'

builtin eval "exec $__wardcase_fd<&3 3<&-"
builtin trap "$__wardcase_int" INT
__wardcase_send "{\"type\":\"ready\",\"version\":\"${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}.${BASH_VERSINFO[2]}\"}"
