#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Runs test suites in a guest with systemd and control groups of version 2.

usage: check_vm.py uml|qemu BUILD_DIRECTORY [GTEST_FILTER [ASAN_FILTER]]
       check_vm.py skips BUILD_DIRECTORY

uml runs all of the integration and hostile suites, in two guests of one processor each that
take every other test. qemu is slow: it runs what uml had to
skip, and FILTER besides; ASAN_FILTER once more, with BUILD_DIRECTORY/asan/wardcase. What came back is in BUILD_DIRECTORY/vm/ENGINE/N. `skips` fails if a
test was skipped by make check and by both engines.

The last line is `N passed, N failed, N skipped`; a skipped test is told and not counted
there, since another engine may run it.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]

import machine  # noqa: E402
from run_suites import gtest_results  # noqa: E402

SUITES = ("integration", "hostile")
GUESTS = {"uml": 2, "qemu": 1}
LIMIT_SECONDS = {"uml": 2400, "qemu": 1800}
NEEDED = ("tests/support", "supervisor/run/record.schema.json", "packaging", "policies", "README.md")
RUN = """#!/bin/bash
# As root, so that each test is run for root and for an ordinary user.
export CI={ci}
export GTEST_FILTER={filter} GTEST_TOTAL_SHARDS={guests} GTEST_SHARD_INDEX={number}
tests/support/run_suites.py build {suites}
status=$?
cp build/tests/*.json "$VM_OUT/"
"""
RUN_ASAN = """
export GTEST_FILTER={filter} GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0
tests/support/run_suites.py asan integration || status=1
cp asan/tests/integration.json "$VM_OUT/asan.json"
"""


NATIVE = ("unit", "unlucky", "faults")  # run by make check alone
ASAN = "asan"


def results_of(directory):
    """Names and outcomes of all suites that a run left there, or its guests in theirs."""
    results = {}
    for place in (directory, *sorted(directory.glob("[0-9]"))):
        for suite in (*SUITES, *NATIVE, ASAN):
            report = place / f"{suite}.json"
            if report.exists():
                prefix = "asan: " if suite == ASAN else ""
                found = gtest_results(json.loads(report.read_text()))
                results |= {prefix + name: outcome for name, outcome in found.items()}
    return results


def skipped_in(directory):
    return {name for name, outcome in results_of(directory).items() if outcome == "skipped"}


def stage_sanitized(build, work, names):
    """The instrumented command, for the same tests; what they and it need is there already."""
    (work / ASAN / "tests").mkdir(parents=True)
    shutil.copy(build / ASAN / "wardcase", work / ASAN / "wardcase")
    for name in ("integration", "programs"):
        (work / ASAN / "tests" / name).symlink_to(f"../../build/tests/{name}")
    for name in ("wardcase-server", "wardcase-agent"):
        (work / ASAN / name).symlink_to(f"../build/{name}")
    return RUN_ASAN.format(filter=f"'{names}'")


def stage(build, work, names, sanitized, number, guests):
    """What a guest needs of this tree. Symbols are of no use there."""
    for name in NEEDED:
        target = work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (pathlib.Path(name)).is_dir() else shutil.copy)(name, target)
    (work / "build/tests").mkdir(parents=True)
    for name in ("wardcase", "wardcase-server", "wardcase-agent"):
        shutil.copy(build / name, work / "build" / name)
    for suite in SUITES:
        subprocess.run(
            ["strip", "-o", work / "build/tests" / suite, build / "tests" / suite], check=True
        )
    shutil.copytree(build / "tests/programs", work / "build/tests/programs")
    commands = RUN.format(filter=f"'{names}'", suites=" ".join(SUITES), number=number, guests=guests,
                          ci=os.environ.get("CI", ""))
    if sanitized:
        commands += stage_sanitized(build, work, sanitized)
    script = work / "run"
    script.write_text(commands + "exit $status\n")
    script.chmod(0o755)


def run_guest(engine, build, names, sanitized, number):
    """Returns what is to be complained of."""
    results = build / "vm" / engine / str(number)
    results.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        stage(build, work, names, sanitized, number, GUESTS[engine])
        status = machine.boot(engine, work, results, LIMIT_SECONDS[engine])
    system = (results / "system").read_text().strip()
    wrong = [] if system == "running" else [f"the guest's systemd says: {system}"]
    suites = (*SUITES, ASAN) if sanitized else SUITES
    wrong += [f"{suite} did not end" for suite in suites if not (results / f"{suite}.json").exists()]
    if status != 0 and not wrong and "failed" not in results_of(results).values():
        wrong.append(f"its run ended with status {status}")
    return wrong


def check(engine, build, names, sanitized):
    results = build / "vm" / engine
    shutil.rmtree(results, ignore_errors=True)
    machine.image()
    numbers = range(GUESTS[engine])
    with concurrent.futures.ThreadPoolExecutor() as pool:
        try:
            guests = [pool.submit(run_guest, engine, build, names, sanitized, number) for number in numbers]
            wrong = [what for guest in guests for what in guest.result()]
        except BaseException:
            machine.end_engines()
            raise
    outcomes = results_of(results)
    total = collections.Counter(outcomes.values())
    for name in sorted(skipped_in(results)):
        print(f"{engine}: skipped: {name}")
    for name in sorted(name for name, outcome in outcomes.items() if outcome == "failed"):
        print(f"{engine}: failed: {name}")
    for what in wrong:
        print(f"{engine}: {what}")
    for name in sorted(name for name, outcome in outcomes.items() if outcome == "unsteady"):
        print(f"{engine}: unsteady: {name}")
    total["passed"] += total["unsteady"]
    failed = total["failed"] + len(wrong)
    print(f"{engine}: {total['skipped']} skipped of {len(outcomes)}")
    print(f"{total['passed']} passed, {failed} failed, 0 skipped")
    return 1 if failed or not outcomes else 0


def check_skips(build):
    places = [build / "tests", *(build / "vm" / engine for engine in machine.ENGINES)]
    missing = [place for place in places if not results_of(place)]
    if missing:
        sys.exit(f"nothing has run yet for {', '.join(map(str, missing))}")
    run_somewhere = set()
    skipped = set()
    for place in places:
        for name, outcome in results_of(place).items():
            (skipped if outcome == "skipped" else run_somewhere).add(name)
    nowhere = sorted(skipped - run_somewhere)
    for name in nowhere:
        print(f"no engine ran {name}")
    print(f"{len(run_somewhere)} passed, {len(nowhere)} failed, 0 skipped")
    return 1 if nowhere or not run_somewhere else 0


def main():
    # As for Ctrl-C: whoever ends us does not mean to leave guests behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    arguments = sys.argv[1:]
    if len(arguments) < 2 or arguments[0] not in (*machine.ENGINES, "skips"):
        sys.exit(__doc__)
    os.chdir(HERE.parents[1])
    build = pathlib.Path(arguments[1]).absolute()
    if arguments[0] == "skips":
        return check_skips(build)
    names = arguments[2] if len(arguments) > 2 else "*"
    sanitized = arguments[3] if len(arguments) > 3 else ""
    if arguments[0] == "qemu":
        names = ":".join([names, *sorted(skipped_in(build / "vm/uml"))])
    try:
        return check(arguments[0], build, names, sanitized)
    except machine.Failed as error:
        print(f"vm: {error}\n0 passed, 1 failed, 0 skipped")
        return 1


if __name__ == "__main__":
    sys.exit(main())
