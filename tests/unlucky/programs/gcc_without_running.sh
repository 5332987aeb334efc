#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Compiling alone: what a policy allows that lets nothing run that was written.
set -euo pipefail

printf '#include <stdio.h>\nint main(void) { return puts("ran") < 0; }\n' >main.c
gcc -O1 -g -o main main.c
[[ $(head -c 4 main) == $'\x7fELF' ]]
nm main | grep -q ' T main$'
echo works
