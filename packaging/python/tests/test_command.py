# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""What the command's way alone has: descriptors, directories of the host, and callers that go away."""

import asyncio
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from wardcase import AsyncClient, Client, InvalidArgument, Unavailable, code_run
from wardcase.errors import ConnectionLost

from .support import COMMAND, ENDLESS, PATIENCE_SECONDS, Case, children, has_ended

# Tells which process runs it, and then waits for the end.
CALLER = f"""
import sys, wardcase
stream = wardcase.Client().stream({ENDLESS!r})
print(stream._run._process.pid, flush=True)
{{}}
"""


class Command(Case):
    """Runs by the command."""

    def test_nothing_that_is_given_stands_on_a_command_line(self):
        secret = "a-word-that-others-must-not-read"
        given = dict(stdin=secret, files={"f": secret}, env={"A": secret, "B": f"\n{secret}"}, prelude=f"# {secret}")
        with Client().stream(f"{ENDLESS} # {secret}", **given) as stream:
            next(stream)
            words = children()
        self.assertEqual(len(words), 1)
        self.assertNotIn(secret.encode(), b" ".join(words[0]))

    def test_no_file_is_left_and_none_was_there(self):
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(tempfile, "tempdir", directory):
            with Client().stream(ENDLESS, files={"f": "x"}, stdin="y") as stream:
                next(stream)
                self.assertEqual(os.listdir(directory), [])

    def test_directories_of_the_host(self):
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            (place / "in").write_text("1\n")
            made = Client().run(
                argv=["sh", "-c", "cat in /data/in > made"], workspace=f"{place}:rw", volumes=[f"{place}:/data"]
            )
            self.assertTrue(made.success, made)
            self.assertEqual((place / "made").read_text(), "1\n1\n")
            refused = Client().run(argv=["sh", "-c", "echo 2 > made"], workspace=place)
            self.assertFalse(refused.success)
            self.assertEqual((place / "made").read_text(), "1\n1\n")
            Client().run("open('result', 'w').write('3')", out=place / "out", files={"a": place / "in"})
            self.assertEqual((place / "out" / "result").read_text(), "3")

    def test_files_are_no_programs(self):
        result = Client().run(argv=["stat", "-c", "%a", "f"], files={"f": "x"})
        self.assertEqual(result.stdout, "644\n")

    def test_variables_that_mean_something_to_wardcase_do_not_reach_it(self):
        result = Client().run(argv=["sh", "-c", "echo $WARDCASE_TIMEOUT"], env={"WARDCASE_TIMEOUT": "1h"})
        self.assertEqual(result.stdout, "1h\n", result)
        with self.assertRaises(InvalidArgument):
            Client().run(argv=["true"], env={"WARDCASE_POLICY": "a\nb"})

    def test_a_look_at_the_syntax_executes_nothing(self):
        right = Client().check("print(1)")
        self.assertEqual((right.success, right.stdout), (True, ""))
        wrong = Client().check("if", "bash")
        self.assertEqual((wrong.status, wrong.stdout), ("syntax_error", ""))

    def test_a_program_whose_run_is_ended_has_its_grace(self):
        script = "trap 'sleep 0.2; echo x >>made; exit' TERM; echo begun; while :; do sleep 0.05; done"

        async def cancel(place):
            async with AsyncClient().stream(script, "bash", workspace=f"{place}:rw") as stream:
                while (await stream.__anext__())["type"] != "stdout":
                    pass

        with tempfile.TemporaryDirectory() as place:
            for event in Client().stream(script, "bash", workspace=f"{place}:rw"):
                if event["type"] == "stdout":
                    break
            updates = code_run(script, "bash", cwd=place)
            next(updates)
            updates.close()
            asyncio.run(cancel(place))
            self.assertEqual((pathlib.Path(place) / "made").read_text(), "x\n" * 3)

    def test_a_caller_that_is_interrupted_ends_its_run(self):
        with self.caller("stream.wait()") as (caller, run):
            caller.send_signal(signal.SIGINT)
            self.assertIn("KeyboardInterrupt", caller.communicate(timeout=PATIENCE_SECONDS)[1])
            self.assertTrue(has_ended(run))

    def test_a_caller_that_is_killed_ends_its_run(self):
        with self.caller("stream.wait()") as (caller, run):
            caller.kill()
            caller.communicate(timeout=PATIENCE_SECONDS)
            self.assertTrue(has_ended(run))

    def test_a_caller_that_ends_ends_its_run(self):
        with self.caller("next(stream)") as (caller, run):
            caller.communicate(timeout=PATIENCE_SECONDS)
            self.assertTrue(has_ended(run))

    def caller(self, rest):
        """Another process that has begun an endless run, and the process of that."""
        return _Caller(CALLER.format(rest))

    def test_a_command_that_is_not_there(self):
        with self.assertRaisesRegex(Unavailable, "WARDCASE_BINARY"):
            Client(binary="/nothing/here")
        with mock.patch.dict(os.environ, {"WARDCASE_BINARY": "", "PATH": "/nothing"}):
            with self.assertRaisesRegex(Unavailable, "WARDCASE_HOST"):
                Client()

    def test_a_command_that_is_another(self):
        with self.assertRaisesRegex(ConnectionLost, "without a record"):
            Client(binary="/bin/true").run("")
        with self.assertRaisesRegex(ConnectionLost, "no event"):
            Client(binary="/bin/echo").run("")

    def test_the_version_is_that_of_the_command(self):
        import wardcase

        told = subprocess.run([COMMAND, "version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn(wardcase.__version__, told.split())


class _Caller:
    def __init__(self, script):
        self._process = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self):
        return self._process, int(self._process.stdout.readline())

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()


if __name__ == "__main__":
    unittest.main()
