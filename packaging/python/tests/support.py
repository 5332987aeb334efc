# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""What the tests share."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import wardcase
from wardcase._http import HttpDoor

# Far above what anything takes, for machines that are slow.
PATIENCE_SECONDS = 50
# A program that would go on for longer than any test.
ENDLESS = "import time\nprint('begun')\nwhile True: time.sleep(0.05); print('on')"
COMMAND = os.environ.get("WARDCASE_BINARY", "wardcase")


def children():
    """Processes that this one has started and not waited for, but services."""
    found = []
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((directory / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = (directory / "cmdline").read_bytes().split(b"\0")
            if parent == os.getpid() and b"serve" not in words:
                found.append(words)
    return found


def has_ended(pid):
    """Whether a process that is no child ends before patience does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        # Nobody may wait for it, where the first process of a container does not.
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def language_is_usable(name):
    """Whether this host can run it."""
    return wardcase.Client().run("", name).success


class Case(unittest.TestCase):
    """A test that leaves no process behind."""

    def setUp(self):
        self.begun = time.monotonic()
        self.assertEqual(children(), [])

    def tearDown(self):
        self.assertEqual(children(), [])

    def assert_quick(self):
        """Nobody waited for the end of what is endless."""
        self.assertLess(time.monotonic() - self.begun, PATIENCE_SECONDS)


class Service:
    """A service of our own: `address` is where it listens."""

    def __init__(self, listen=None, *options):
        self._directory = tempfile.TemporaryDirectory()
        listen = listen or f"unix:{self._directory.name}/api.sock"
        self._process = subprocess.Popen(
            [COMMAND, "serve", "--listen", listen, *options], stderr=subprocess.PIPE, text=True
        )
        for line in self._process.stderr:
            if "listening on" in line:
                self.address = json.loads(line)["address"].replace("tcp:", "http://")
                return
        raise AssertionError(f"the service ended with {self._process.wait()}")

    def get(self, path):
        """What it answers."""
        connection = HttpDoor(self.address).connect()
        connection.request("GET", path)
        with contextlib.closing(connection), connection.getresponse() as answer:
            return json.load(answer)

    def follow(self, run):
        """Waits for the end of a run."""
        connection = HttpDoor(self.address).connect()
        connection.request("GET", f"/v1/runs/{run}/events")
        with contextlib.closing(connection), connection.getresponse() as answer:
            answer.read()

    def close(self):
        """Ends it."""
        self._process.terminate()
        self._process.wait(PATIENCE_SECONDS)
        self._process.stderr.close()
        self._directory.cleanup()
