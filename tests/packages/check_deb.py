#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Installs the packages of `make deb` in a guest, upgrades, removes and purges them.

usage: check_deb.py [uml|qemu]

The guest is that of tests/vm, and the cases are in guest_deb.py beside this. The last line is
`N passed, N failed, N skipped`.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/vm"))

import machine  # noqa: E402

LIMIT_SECONDS = {"uml": 600, "qemu": 1200}
NEXT = "+next1"


def packages():
    found = [path for path in sorted((ROOT / "build/deb").glob("*.deb")) if "dbgsym" not in path.name]
    if len(found) < 3:
        sys.exit("check_deb: no packages in build/deb; run `make deb` first")
    return found


def repack(package, target):
    """The same package as its next version."""
    with tempfile.TemporaryDirectory() as work:
        machine.run("dpkg-deb", "-R", package, work)
        control = pathlib.Path(work) / "DEBIAN/control"
        lines = control.read_text().splitlines()
        lines = [line + NEXT if line.startswith("Version: ") else line for line in lines]
        control.write_text("\n".join(lines) + "\n")
        machine.run("dpkg-deb", "-Zgzip", "-z1", "-b", work, target / package.name)


def stage(work):
    for place in ("first", "next"):
        (work / place).mkdir()
    for package in packages():
        shutil.copy(package, work / "first")
        repack(package, work / "next")
    shutil.copytree(ROOT / "packaging/debian/tests", work / "tests")
    shutil.copy(HERE / "guest_deb.py", work / "run")


def main():
    engine = sys.argv[1] if len(sys.argv) > 1 else "uml"
    if engine not in machine.ENGINES:
        sys.exit(__doc__)
    results = ROOT / "build/vm/deb"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    try:
        with tempfile.TemporaryDirectory() as name:
            stage(pathlib.Path(name))
            status = machine.boot(engine, name, results, LIMIT_SECONDS[engine])
    except machine.Failed as error:
        print(f"check_deb: {error}\n0 passed, 1 failed, 0 skipped")
        return 1
    if not (results / "finished").exists():
        print(f"check_deb: its run ended with status {status}\n0 passed, 1 failed, 0 skipped")
        return 1
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
