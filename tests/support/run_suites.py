#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Runs test suites, each under a time limit, and sums them up.

usage: run_suites.py BUILD_DIRECTORY SUITE...
suites: unit, integration, hostile, unlucky, faults, fuzz, lint

After the hostile suite alone comes its table of attacks, beside others one line of it.
The last line is `N passed, N failed, N skipped`. The exit status is 1 if a test
failed, or if one was skipped while WARDCASE_TEST_MUST_RUN=1; with CI set a skipped one counts
as failed, but for the suites that guests run, too. A suite that crashes
or runs out of time counts as one failed test. For an ordinary user, what was
skipped is run once more as root where sudo asks for no password.

With CI set, a test that failed is run once more, alone: one that passes then is told as `unsteady`,
and counts as passed. Not so in hostile: what an attack reaches once, it reaches.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import attack_table

# Guests are slow, and the long form of a suite has a hundred times as much to do.
PATIENCE = 60 if "WARDCASE_LONG" in os.environ else 3 if "VM_ENGINE" in os.environ else 1
LIMIT_SECONDS = {
    "unit": 300, "integration": 900, "hostile": 600, "unlucky": 600, "faults": 300, "fuzz": 120, "lint": 600,
}
# What these skip here is run by other engines, or tests/vm/check_vm.py fails.
IN_GUESTS = ("integration", "hostile")
MOST_AGAIN = 5  # more than that is no accident
SKIPPED_LINT = 77  # as automake has it

# Taken by each suite's tests; make's own would reach the `make` that a lint runs.
NOT_FOR_TESTS = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "WARDCASE_TEST_MUST_RUN")


def environment(build):
    kept = {k: v for k, v in os.environ.items() if k not in NOT_FOR_TESTS}
    return kept | {
        "WARDCASE_BINARY": str(build / "wardcase"),
        "WARDCASE_TEST_PROGRAMS": str(build / "tests/programs"),
    }


def run(command, suite, build, output=None, more=None):
    limit = PATIENCE * LIMIT_SECONDS[suite]
    limited = ["timeout", "--kill-after=10", str(limit), *command]
    return subprocess.run(
        limited, env=environment(build) | (more or {}), stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
    ).returncode


def gtest_tests(report):
    """Name and report of each test that ran."""
    for case in report.get("testsuites", []):
        for test in case["testsuite"]:
            if test["status"] == "RUN":
                yield f"{case['name']}.{test['name']}", test


def outcome_of(test):
    if test.get("unsteady"):
        return "unsteady"
    if test.get("failures"):
        return "failed"
    return "skipped" if test["result"] == "SKIPPED" else "passed"


def gtest_results(report):
    return {name: outcome_of(test) for name, test in gtest_tests(report)}


def run_binary(suite, build, prefix=(), only=(), report_name=None):
    """Names and outcomes of a GoogleTest program, and the reports of those that ran."""
    report = build / "tests" / f"{report_name or suite}.json"
    report.unlink(missing_ok=True)
    arguments = [f"--gtest_output=json:{report}"]
    whole = {}
    if only:
        arguments.append("--gtest_filter=" + ":".join(only))
        whole = {"GTEST_TOTAL_SHARDS": "1", "GTEST_SHARD_INDEX": "0"}
    status = run([*prefix, build / "tests" / suite, *arguments], suite, build, more=whole)
    told = json.loads(report.read_text()) if report.exists() else {}
    tests = dict(gtest_tests(told))
    results = gtest_results(told)
    if status != 0 and "failed" not in results.values():
        how = {124: "ran out of time", -9: "ran out of time"}.get(status, f"ended with status {status}")
        print(f"{suite}: {how}")
        results[f"{suite} {how}"] = "failed"
    return results, {name: test for name, test in tests.items() if results[name] != "skipped"}


def can_become_root():
    try:
        command = ["sudo", "-n", "true"]
        return os.geteuid() != 0 and subprocess.run(command, capture_output=True).returncode == 0
    except OSError:  # there is no sudo
        return False


def run_again(suite, build, results):
    """What failed beside others, alone: a host that was busy is no fault of the program's.

    The report says so as well, for those who read it later."""
    failed = [name for name, outcome in results.items() if outcome == "failed" and " " not in name]
    if not failed or len(failed) > MOST_AGAIN:
        return
    print(f"{suite}: {len(failed)} once more, alone", flush=True)
    report = build / "tests" / f"{suite}.json"
    whole = json.loads(report.read_text())
    tests = dict(gtest_tests(whole))
    again, _ = run_binary(suite, build, only=failed, report_name=f"{suite}.again")
    for name in failed:
        if again.get(name) == "passed":
            results[name] = "unsteady"
            tests[name]["unsteady"] = True
    report.write_text(json.dumps(whole))


def run_gtest_suite(suite, build):
    results, tests = run_binary(suite, build)
    if os.environ.get("CI") and suite != "hostile":
        run_again(suite, build, results)
    skipped = [name for name, outcome in results.items() if outcome == "skipped"]
    if skipped and can_become_root():
        kept = [f"{k}={v}" for k, v in environment(build).items() if k.startswith("WARDCASE_")]
        again = run_binary(suite, build, prefix=["sudo", "-n", "env", *kept], only=skipped)
        results |= again[0]
        tests |= again[1]
    return results, tests


def run_hostile(build, is_alone):
    results, tests = run_gtest_suite("hostile", build)
    for name in attack_table.missing_declarations(tests):
        results[f"{name} does not declare its attack, protection and control"] = "failed"
    tell = attack_table.table if is_alone else attack_table.summary
    print(tell(tests, results), flush=True)
    return results


def run_lints(build):
    results = {}
    for lint in sorted(pathlib.Path("tests/lint").glob("check_*")):
        status = run([lint, build], "lint", build)
        outcome = {0: "passed", SKIPPED_LINT: "skipped"}.get(status, "failed")
        results[lint.name] = outcome
        if outcome != "passed":
            print(f"{lint}: {outcome}")
    return results


def run_fuzz_targets(build):
    """Each fuzz target replays its corpus: what once failed must not fail again."""
    results = {}
    for source in sorted(pathlib.Path("tests/fuzz").glob("*.cc")):
        if source.stem == "replay":
            continue
        target = build / "tests/fuzz" / source.stem
        with tempfile.TemporaryFile("w+") as said:
            status = run([target, f"tests/fuzz/corpus/{source.stem}"], "fuzz", build, said)
            said.seek(0)
            if status != 0:
                print(said.read())  # the last input that it names is the one
        results[source.stem] = "passed" if status == 0 else "failed"
    return results


RUNNERS = {"lint": run_lints, "fuzz": run_fuzz_targets}


def run_suite(suite, build, is_alone):
    if suite == "hostile":
        return run_hostile(build, is_alone)
    return RUNNERS[suite](build) if suite in RUNNERS else run_gtest_suite(suite, build)[0]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    build = pathlib.Path(sys.argv[1]).absolute()
    total = collections.Counter()
    remarks = []  # repeated at the end, where they are found
    suites = sys.argv[2:]
    for suite in suites:
        print(f"{suite} ...", flush=True)
        results = run_suite(suite, build, is_alone=suites == [suite])
        if not results:
            print(f"{suite}: no test ran")
            results = {suite: "failed"}
        if suite not in IN_GUESTS and os.environ.get("CI"):
            results = {name: "failed" if how == "skipped" else how for name, how in results.items()}
        remarks += [f"{how}: {suite}: {name}" for name, how in results.items() if how != "passed"]
        total.update(results.values())
    print("\n".join(remarks), flush=True)
    total["passed"] += total["unsteady"]
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped", flush=True)
    must_run = os.environ.get("WARDCASE_TEST_MUST_RUN") == "1"
    return 1 if total["failed"] or (must_run and total["skipped"]) else 0


if __name__ == "__main__":
    sys.exit(main())
