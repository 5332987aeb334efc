# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Runs one module of CPython's test suite, and tells what became of each of its cases.

usage: run_module.py MODULE [CASE]...

The last line of stdout is a JSON object: the name of each case and its outcome, "passed",
"skipped" or "failed". Run in a box and outside of one, by check_cpython.py.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None or case.get("result") == "skipped" else "passed"


def main():
    module, cases = sys.argv[1], sys.argv[2:]
    # The suite was written for an interpreter that nobody has told anything.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    report = pathlib.Path(tempfile.gettempdir()) / "report.xml"
    command = [sys.executable, "-m", "test", "-v", "--junit-xml", str(report)]
    for case in cases:
        command += ["--match", case]
    suite = subprocess.run([*command, module], env=environment, stdin=subprocess.DEVNULL, stdout=2, check=False)
    results = {}
    if report.exists():
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            if case.get("name") is not None:  # else only some of its subtests failed: it is missing
                results[case.get("name")] = outcome(case)
        report.unlink()
    else:
        print(f"{module}: no report, status {suite.returncode}", file=sys.stderr)
    print(json.dumps(results))


main()
