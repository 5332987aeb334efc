#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Shows what wardcase does, with real programs. Needs build/wardcase, or the
# command that $WARDCASE names.
set -u

here=$(cd "$(dirname "$0")/.." && pwd)
wardcase=${WARDCASE:-$here/build/wardcase}
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
failures=0

# show CAPTION EXPECTED-EXIT-CODE ARGUMENTS...
show() {
  printf '\n== %s\n' "$1"
  expected=$2
  shift 2
  printf '$ wardcase'
  for word in "$@"; do
    case $word in
    *[!A-Za-z0-9._/-]*) printf " '%s'" "$word" ;;
    *) printf ' %s' "${word#"$programs/"}" ;;
    esac
  done
  printf '\n'
  code=0
  "$wardcase" "$@" || code=$?
  printf '   (exit code %s)\n' "$code"
  if [ "$code" -ne "$expected" ]; then
    printf '   expected exit code %s\n' "$expected"
    failures=$((failures + 1))
  fi
}

cat >"$programs/countdown.py" <<'PROGRAM'
import platform, time

print(f"Python {platform.python_version()} on {platform.node()}")
for left in (3, 2, 1):
    print(left, flush=True)
    time.sleep(0.3)
print("done")
PROGRAM

cat >"$programs/endless.py" <<'PROGRAM'
print("working on it ...")
while True:
    pass
PROGRAM

cat >"$programs/hungry.py" <<'PROGRAM'
print("taking a gigabyte ...")
blocks = []
for _ in range(128):
    blocks.append(bytearray(8 << 20))
print("never printed")
PROGRAM

cat >"$programs/attack.py" <<'PROGRAM'
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_TRACEME = 0
attempts = {
    "ptrace": lambda: libc.ptrace(PTRACE_TRACEME, 0, None, None),
    "mount": lambda: libc.mount(b"none", b"/box", b"tmpfs", 0, None),
}
for name, attempt in attempts.items():
    result = attempt()
    print(f"{name}: {'worked' if result == 0 else os.strerror(ctypes.get_errno())}")
PROGRAM

show "A Python program; each line comes as it is printed" 0 run "$programs/countdown.py"
show "It runs for ever: the time limit ends it" 124 run --timeout 1s "$programs/endless.py"
show "It takes too much memory: the memory limit ends it" 137 run -m 64m "$programs/hungry.py"
show "It attacks the kernel: the system calls are refused" 0 run "$programs/attack.py"
show "It looks for a network: there is none" 0 run -- cat /proc/net/dev
show "One JSON record has it all" 3 run --json -l python -c 'print("hello"); raise SystemExit(3)'

echo
if [ "$failures" -ne 0 ]; then
  echo "$failures of these did not end as they should; try: wardcase doctor"
  exit 1
fi
