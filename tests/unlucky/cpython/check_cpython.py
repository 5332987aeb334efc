#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Compares CPython's own test suite outside of a box and inside, case by case.

usage: check_cpython.py BUILD_DIRECTORY [--short | MODULE...]

Without modules all of modules.txt are run; --short takes those that it marks. Whatever
passes outside has to pass inside, but for what exclusions.txt names; an exclusion that is
of no use any more fails as well. As root, the outside is run by the user nobody. The last
line is `N passed, N failed, N skipped`, of cases.
"""

import concurrent.futures
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
RUNNER = HERE / "run_module.py"
LIMIT_SECONDS = 590
TRIES = 3  # of a case that differs: some of them are a race, outside of a box as well


def lines_of(name):
    lines = (HERE / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def modules(arguments):
    if arguments and arguments != ["--short"]:
        return arguments
    rows = [line.split() for line in lines_of("modules.txt")]
    return [row[0] for row in rows if not arguments or row[1:] == ["short"]]


def exclusions(memory_by):
    """By case: whether it fails always or only sometimes. Some fail only where a watcher holds
    the memory limit, as for an ordinary user without a control group."""
    rows = [line.split(None, 2) for line in lines_of("exclusions.txt")]
    excluded = {case: how for case, how, _why in rows if how != "watcher"}
    return excluded | {case: "always" for case, how, _why in rows if how == memory_by == "watcher"}


def results_in(output):
    try:
        return json.loads(output.rsplit(b"\n", 2)[-2])
    except (IndexError, ValueError):
        return {}


class Place:
    """Runs modules in one place; what they wrote stands in a log of its own."""

    def __init__(self, logs):
        self.logs = logs

    def run(self, module, cases=()):
        start = time.monotonic()
        with open(self.logs / f"{module}.{self.name}.log", "ab") as log:
            output = self.output([str(RUNNER), module, *cases], log)
        return results_in(output), time.monotonic() - start


class Inside(Place):
    name = "inside"

    def __init__(self, logs, command):
        super().__init__(logs)
        self.command = command

    def output(self, arguments, log):
        command = [self.command, "run", "--timeout", str(LIMIT_SECONDS), *arguments]
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, check=False).stdout

    def memory_by(self):
        record = json.loads(subprocess.check_output([self.command, "run", "--json", "--", "true"]))
        return record["enforced_by"]["memory"]


class Outside(Place):
    name = "outside"

    def output(self, arguments, log):
        # Where everybody gets to: a clone in root's home is closed to others.
        with tempfile.TemporaryDirectory(prefix="wardcase-test-") as scratch:
            account = {}
            runner = shutil.copy(arguments[0], scratch)
            if os.geteuid() == 0:
                nobody = pwd.getpwnam("nobody")
                os.chown(scratch, nobody.pw_uid, nobody.pw_gid)
                account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}
            environment |= {"HOME": scratch, "TMPDIR": scratch}
            command = ["timeout", "--kill-after=10", str(LIMIT_SECONDS), "/usr/bin/python3", runner, *arguments[1:]]
            return subprocess.run(
                command, cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=log, umask=0o022, check=False, **account,
            ).stdout


class Comparison:
    """What became of all cases, with those that need a word."""

    def __init__(self, inside):
        self.inside = inside
        self.excluded = exclusions(inside.memory_by())
        self.passed = self.failed = self.skipped = 0

    def fail(self, what):
        self.failed += 1
        print(f"failed: {what}", flush=True)

    def add(self, module, outside, inside):
        for place, results in (("outside of the box", outside), ("in the box", inside)):
            if "passed" not in results.values():
                self.fail(f"{module}: nothing passed {place}")
                return
        for case, outcome in outside.items():
            if outcome == "passed":
                self.add_case(module, case, inside.get(case, "missing"))
            else:
                self.skipped += outcome == "skipped"
        gained = [case for case, outcome in inside.items() if outcome == "passed" and outside.get(case) != "passed"]
        if gained:
            print(f"{module}: passed only inside: {' '.join(gained)}", flush=True)

    def add_case(self, module, case, inside):
        how = self.excluded.get(case)
        if inside == "passed" and how != "always":
            self.passed += 1
        elif inside == "passed":
            self.fail(f"{case}: passes in the box, take it from exclusions.txt")
        elif how:
            self.skipped += 1
        elif any(self.inside.run(module, [case])[0].get(case) == "passed" for _ in range(TRIES)):
            print(f"{case}: {inside} in the box, then passed", flush=True)
            self.passed += 1
        else:
            self.fail(f"{case}: passed outside, {inside} in the box")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).absolute()
    logs = build / "tests" / "cpython"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    inside, outside = Inside(logs, build / "wardcase"), Outside(logs)
    comparison = Comparison(inside)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        started = [(m, pool.submit(outside.run, m), pool.submit(inside.run, m)) for m in modules(sys.argv[2:])]
        for module, *places in started:
            (outside_results, outside_time), (inside_results, inside_time) = (place.result() for place in places)
            comparison.add(module, outside_results, inside_results)
            print(f"{module}: {len(inside_results)} cases, {outside_time:.1f} s outside, {inside_time:.1f} s inside",
                  flush=True)
    print(f"{comparison.passed} passed, {comparison.failed} failed, {comparison.skipped} skipped", flush=True)
    return 1 if comparison.failed else 0


if __name__ == "__main__":
    sys.exit(main())
