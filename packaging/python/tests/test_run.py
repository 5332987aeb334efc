# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""What holds for runs by the command and by the service alike."""

import base64
import os
import subprocess
import tempfile
import unittest
from unittest import mock

import wardcase
from wardcase import Client, InvalidArgument, RequestRefused, errors

from .support import COMMAND, ENDLESS, Case, Service

# Of each status that a program can bring about: what to run, and the exit code of the command.
WAYS_TO_END = [
    (dict(code="raise SystemExit(3)"), "exited", errors.ProgramFailed, 3),
    (dict(code="import os; os.kill(os.getpid(), 10)"), "signaled", errors.ProgramSignaled, 138),
    (dict(code="import time; time.sleep(60)", timeout=0.2), "timeout", errors.RunTimeout, 124),
    (dict(code="import time; time.sleep(99)", idle_timeout="200ms"), "idle", errors.IdleTimeout, 124),
    (dict(code="x = bytearray(10**9)", memory="64m"), "oom", errors.OutOfMemory, 137),
    (dict(code="while True: print('x' * 9999)", output="64k"), "output_limit", errors.OutputLimitReached, 124),
    (dict(argv=["is-not-there"]), "cannot_execute", errors.CannotExecute, 127),
    (dict(argv=["/etc"]), "cannot_execute", errors.CannotExecute, 126),
    (dict(code="print(1", validate=True), "syntax_error", errors.ProgramSyntaxError, 1),
    (dict(code="", requirements=["six"]), "install_failed", errors.InstallFailed, 125),
]


class Runs:
    """The tests, for a `client`."""

    client: Client

    def test_a_result_is_the_record(self):
        result = self.client.run("import sys; print(6 * 7); print('no', file=sys.stderr)")
        self.assertEqual((result.status, result.success, result.exit_code), ("exited", True, 0))
        self.assertEqual((result.stdout, result.stderr), ("42\n", "no\n"))
        self.assertEqual(result.language, "python")
        self.assertEqual(result.limits["timeout_ms"], 60000)
        self.assertEqual(result.raw["schema_version"], 1)
        self.assertNotIn("type", result.raw)
        self.assertIs(result.raise_for_status(), result)

    def test_every_end_has_its_error_and_exit_code(self):
        for arguments, status, error, code in WAYS_TO_END:
            with self.subTest(**arguments):
                result = self.client.run(**arguments)
                self.assertEqual((result.status, result.command_exit_code), (status, code), result)
                with self.assertRaises(error) as raised:
                    result.raise_for_status()
                self.assertIs(type(raised.exception), error)
                self.assertIs(raised.exception.result, result)

    def test_a_program_gets_all_that_is_given_and_nothing_of_the_caller(self):
        script = "echo $NAME/$LINES2; cat data/in; cat; env"
        result = self.client.run(
            script, "bash", args=["-x"], env={"NAME": "a b", "LINES2": "1\n2"}, files={"data/in": b"\xff\n"},
            stdin=b"\x00\xfe\n", base64=True,
        )  # fmt: skip
        self.assertTrue(result.stdout_data.startswith(b"a b/1 2\n\xff\n\x00\xfe\n"), result.stdout_data)
        self.assertNotIn(b"OF_THE_CALLER", result.stdout_data)
        self.assertEqual(base64.b64decode(result.raw["stdout_base64"]), result.stdout_data)

    def test_arguments_and_a_prelude_reach_the_code(self):
        result = self.client.run("import sys; print(sys.argv[1:], x)", args=["-v", "--", ""], prelude="x = 5")
        self.assertEqual(result.stdout, "['-v', '--', ''] 5\n", result)

    def test_limits_are_numbers_or_text(self):
        result = self.client.run("", timeout=1.5, memory="64MiB", cpu_time="2s", pids=20, cpus=0.5, disk=1 << 20)
        for name, value in dict(timeout_ms=1500, memory_bytes=64 << 20, cpu_time_ms=2000, pids=20, cpus=0.5).items():
            self.assertEqual(result.limits[name], value)
        self.assertEqual(result.limits["disk_bytes"], 1 << 20)
        self.assertIsNone(self.client.run("", idle_timeout="none").limits["idle_timeout_ms"])

    def test_a_mebibyte_of_code_runs(self):
        self.assertEqual(self.client.run(f"x = '{'a' * (1 << 20)}'; print(len(x))").stdout, f"{1 << 20}\n")

    def test_a_zero_byte_in_code_is_for_the_interpreter_to_judge(self):
        self.assertIn(self.client.run("print(1)\0").status, ("exited", "syntax_error"))

    def test_a_lone_surrogate_is_no_text(self):
        for name in ("code", "stdin", "prelude"):
            with self.assertRaises(InvalidArgument) as raised:
                self.client.run(**{"code": "", name: "ab\ud800"})
            self.assertEqual(raised.exception.argument, name)
            self.assertIn("index 2", str(raised.exception))

    def test_what_validates_runs_and_what_does_not_does_not(self):
        self.assertEqual(self.client.run("print(1)", validate=True).stdout, "1\n")
        result = self.client.run("touch made; if", "bash", validate=True)
        self.assertEqual((result.status, result.output, result.artifacts), ("syntax_error", "", []))
        self.assertTrue(result.error)

    def test_a_refusal_is_in_the_words_of_wardcase(self):
        with self.assertRaisesRegex(RequestRefused, "maximum is 600s"):
            self.client.run("", timeout=601)
        with self.assertRaisesRegex(RequestRefused, "nothing-like-it"):
            self.client.run("", policy="nothing-like-it")

    def test_a_stream_has_events_and_then_the_result(self):
        with self.client.stream("print('a'); import sys; print('b', file=sys.stderr)") as stream:
            events = list(stream)
        self.assertEqual((events[0]["type"], events[-1]["type"]), ("start", "exit"))
        self.assertEqual([event["seq"] for event in events], list(range(1, len(events) + 1)))
        self.assertEqual("".join(event.get("data", "") for event in events if event["type"] == "stdout"), "a\n")
        self.assertEqual(stream.result.stderr, "b\n")

    def test_a_stopped_stream_goes_on_until_its_record(self):
        with self.client.stream(ENDLESS) as stream:
            for event in stream:
                if event["type"] == "stdout":
                    stream.stop()
            self.assertEqual((stream.result.status, stream.result.command_exit_code), ("stopped", 143))
        self.assert_quick()

    def test_a_stream_that_is_stopped_at_once_has_a_record_too(self):
        with self.client.stream(ENDLESS) as stream:
            stream.stop()
            self.assertEqual(stream.wait().status, "stopped")
        self.assert_quick()

    def test_a_stream_that_is_left_ends_its_run(self):
        for event in self.client.stream(ENDLESS):
            if event["type"] == "stdout":
                break
        self.assert_quick()

    def test_a_batch_gives_results_in_order(self):
        results = self.client.batch(
            ["print(0)", {"code": "echo 1", "language": "bash"}, "print(2)"], parallel=2, pids=20
        )
        self.assertEqual([result.stdout for result in results], ["0\n", "1\n", "2\n"])
        self.assertEqual([result.limits["pids"] for result in results], [20, 20, 20])
        self.assertEqual(self.client.batch([]), [])

    def test_a_batch_gives_results_as_they_finish_and_ends_when_it_is_closed(self):
        finished = self.client.batch([ENDLESS, "print(1)", ENDLESS, "print(3)"], parallel=2, as_finished=True)
        index, result = next(finished)
        self.assertEqual((index, result.stdout), (1, "1\n"))
        finished.close()
        self.assert_quick()

    def test_an_error_of_one_ends_a_batch(self):
        with self.assertRaises(RequestRefused):
            self.client.batch([ENDLESS, {"code": "", "timeout": 601}], parallel=2)
        self.assert_quick()


class ByTheCommand(Runs, Case):
    """The command runs them."""

    @classmethod
    def setUpClass(cls):
        cls.client = Client()


class ByTheService(Runs, Case):
    """The service runs them."""

    @classmethod
    def setUpClass(cls):
        # More than a batch of the tests takes at a time.
        cls.service = Service(None, "--max-runs", "4")
        cls.client = Client(cls.service.address)

    @classmethod
    def tearDownClass(cls):
        cls.service.close()

    def tearDown(self):
        super().tearDown()
        # Whoever left a run did not leave it running.
        for run in self.service.get("/v1/runs")["runs"]:
            if run["state"] != "ended":
                self.service.follow(run["id"])
                self.assertEqual(self.service.get(f"/v1/runs/{run['id']}")["status"], "stopped")


class ByTheServiceOverTcp(Case):
    """An address of this host does as well as a path."""

    def test_a_run_by_tcp(self):
        service = Service("tcp:127.0.0.1:0")
        try:
            self.assertEqual(Client(service.address).run("print(1)").stdout, "1\n")
        finally:
            service.close()


class ByAToken(Case):
    """A service that knows its clients by tokens."""

    def setUp(self):
        super().setUp()
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        file = os.path.join(self.directory.name, "tokens")
        words = [COMMAND, "token", "create", "--name", "test", "--file", file]
        self.token = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        self.service = Service("tcp:127.0.0.1:0", "--tokens", file)
        self.addCleanup(self.service.close)

    def test_is_let_in_with_it_alone(self):
        self.assertEqual(Client(self.service.address, token=self.token).run("print(1)").stdout, "1\n")
        for token in (None, self.token + "x"):
            with self.subTest(token=token), self.assertRaises(RequestRefused) as caught:
                Client(self.service.address, token=token).run("print(1)")
            self.assertEqual(caught.exception.code, "unauthorized")

    def test_is_read_from_a_file(self):
        path = os.path.join(self.directory.name, "own")
        with open(path, "w") as file:
            file.write(self.token + "\n")
        with mock.patch.dict(os.environ, {"WARDCASE_TOKEN_FILE": path}):
            client = Client(self.service.address)
        self.assertEqual(client.run("print(2)").stdout, "2\n")
        stream = client.stream("while True: pass")
        stream.stop()
        for _ in stream:
            pass
        self.assertEqual(stream.result.status, "stopped")


class OfABusyService(Case):
    """One run at a time, and one that waits."""

    def test_a_run_waits_for_its_turn_and_one_too_many_is_told_when_to_come_back(self):
        service = Service(None, "--max-runs", "1", "--max-queue", "1")
        self.addCleanup(service.close)
        client = Client(service.address)
        with client.stream(ENDLESS) as first:
            next(first)
            second = client.stream("print(2)")
            with self.assertRaises(errors.ServiceBusy) as raised:
                client.run("print(3)")
            self.assertEqual(raised.exception.code, "queue_full")
            self.assertGreater(raised.exception.retry_after, 0)
        self.assertEqual(second.wait().stdout, "2\n")


class Defaults(Case):
    """Arguments of the client hold for its runs."""

    def test_a_client_has_defaults_that_a_call_overrides(self):
        client = Client(language="bash", timeout=7)
        self.assertEqual(client.run("echo $0").limits["timeout_ms"], 7000)
        self.assertEqual(client.run("print(1)", "python", timeout=8).limits["timeout_ms"], 8000)
        self.assertEqual(client.run(argv=["echo", "1"]).stdout, "1\n")

    def test_unknown_members_of_a_record_are_kept(self):
        result = wardcase.Result.from_record({"type": "exit", "id": "r", "status": "new", "success": False, "later": 1})
        self.assertEqual(result.raw["later"], 1)
        with self.assertRaises(errors.RunError):
            result.raise_for_status()


if __name__ == "__main__":
    unittest.main()
