#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Runs a command under a container's seccomp profile, as an engine would have it.

usage: under_profile.py PROFILE [--without NAME,...] COMMAND...

--without takes system calls out of the rules that allow them. Needs python3-seccomp.
"""

import errno
import json
import os
import pathlib
import sys

import seccomp

NATIVE = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
COMPARE = {"SCMP_CMP_EQ": seccomp.EQ}


def answer(rule_action, number):
    if rule_action == "SCMP_ACT_ALLOW":
        return seccomp.ALLOW
    if rule_action == "SCMP_ACT_ERRNO":
        return seccomp.ERRNO(errno.EPERM if number is None else number)
    sys.exit(f"under_profile: the action {rule_action} is not known")


def load(profile, without):
    machine = os.uname().machine
    if NATIVE.get(machine) not in {entry["architecture"] for entry in profile["archMap"]}:
        sys.exit(f"under_profile: the profile has nothing for {machine}")
    rules = seccomp.SyscallFilter(answer(profile["defaultAction"], profile.get("defaultErrnoRet")))
    for rule in profile["syscalls"]:
        action = answer(rule["action"], rule.get("errnoRet"))
        arguments = [seccomp.Arg(a["index"], COMPARE[a["op"]], a["value"]) for a in rule.get("args", ())]
        for name in rule["names"]:
            if name in without and rule["action"] == "SCMP_ACT_ALLOW":
                continue
            try:
                rules.add_rule(action, name, *arguments)
            except RuntimeError:  # a call that this library or this machine has not
                pass
    rules.load()


def main():
    arguments = sys.argv[1:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    profile = json.loads(pathlib.Path(arguments.pop(0)).read_text())
    without = set()
    if arguments[0] == "--without":
        without = set(arguments[1].split(","))
        arguments = arguments[2:]
    load(profile, without)
    os.execvp(arguments[0], arguments)


if __name__ == "__main__":
    main()
