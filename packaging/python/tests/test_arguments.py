# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Arguments that can't be used are errors with their names, and nothing runs."""

import os
import pathlib
import unittest
from unittest import mock

from wardcase import Client, InvalidArgument, NotSupported, Unavailable, code_run, execute_bash, execute_python

from .support import Case

# Arguments of run, and which of them is named.
BAD = [
    (dict(), "code"),
    (dict(code="", argv=["true"]), "argv"),
    (dict(argv=[]), "code"),
    (dict(argv="true"), "argv"),
    (dict(argv=["a", 1]), "argv[1]"),
    (dict(argv=["a\0"]), "argv[0]"),
    (dict(argv=["true"], language="bash"), "language"),
    (dict(argv=["true"], prelude="x"), "prelude"),
    (dict(code=5), "code"),
    (dict(code="", language=b"python"), "language"),
    (dict(code="", language="a\0"), "language"),
    (dict(code="", args="abc"), "args"),
    (dict(code="", args=[None]), "args[0]"),
    (dict(code="", stdin=5), "stdin"),
    (dict(code="", files=["a"]), "files"),
    (dict(code="", files={"a": 1}), "files['a']"),
    (dict(code="", files={"": ""}), "files"),
    (dict(code="", files={"a": pathlib.Path("/nothing")}), "files['a']"),
    (dict(code="", env={"A=": ""}), "env"),
    (dict(code="", env={"A": 1}), "env['A']"),
    (dict(code="", env={"A": "\0"}), "env['A']"),
    (dict(code="", env={"A": "\udc80"}), "env['A']"),
    (dict(code="", timeout=0), "timeout"),
    (dict(code="", timeout=-1), "timeout"),
    (dict(code="", timeout=True), "timeout"),
    (dict(code="", timeout="soon"), "timeout"),
    (dict(code="", timeout=float("nan")), "timeout"),
    (dict(code="", timeout=float("inf")), "timeout"),
    (dict(code="", timeout=10**400), "timeout"),
    (dict(code="", memory="64 parsecs"), "memory"),
    (dict(code="", memory=1.5), "memory"),
    (dict(code="", memory="\N{ARABIC-INDIC DIGIT ONE}"), "memory"),
    (dict(code="", pids="many"), "pids"),
    (dict(code="", no_such_limit=1), "no_such_limit"),
    (dict(code="", network="internet"), "network"),
    (dict(code="", validate="yes"), "validate"),
    (dict(code="", merge_stderr=1), "merge_stderr"),
    (dict(code="", requirements="six"), "requirements"),
    (dict(code="", volumes="a:b"), "volumes"),
    (dict(code="", workspace=5), "workspace"),
]


class Arguments(Case):
    """Of all that takes some."""

    def refused(self, argument, function, *given, **named):
        """The function refuses this one."""
        with self.assertRaises(InvalidArgument) as raised:
            function(*given, **named)
        self.assertEqual(raised.exception.argument, argument)
        self.assertTrue(str(raised.exception).startswith(f"{argument}: "), raised.exception)

    def test_of_run_and_of_stream(self):
        for given, argument in BAD:
            with self.subTest(**given):
                self.refused(argument, Client().run, **given)
                self.refused(argument, Client().stream, **given)

    def test_of_batch_before_anything_runs(self):
        self.refused("programs[1].timeout", Client().batch, ["", {"code": "", "timeout": 0}])
        self.refused("programs[0]", Client().batch, [5])
        self.refused("programs", Client().batch, "print(1)")
        self.refused("parallel", Client().batch, [""], parallel=0)

    def test_of_the_client(self):
        self.refused("timeout", Client, timeout=0)
        for host in (
            "",
            "unix:api.sock",
            "https://127.0.0.1:1",
            "127.0.0.1:80",
            "http://",
            "http://a:b",
            "http://a/b",
            5,
        ):
            with self.subTest(host=host):
                self.refused("host", Client, host)
        with mock.patch.dict(os.environ, {"WARDCASE_HOST": "nowhere"}):
            self.refused("host", Client)
        self.refused("binary", Client, "unix:/none", binary="wardcase")
        self.refused("token", Client, token="wct_x")
        for token in ("", "a b", "a\r\nX: y", "\u00e9", 5):
            with self.subTest(token=token):
                self.refused("token", Client, "unix:/none", token=token)
        with mock.patch.dict(os.environ, {"WARDCASE_TOKEN_FILE": "/nothing/here"}):
            self.refused("token", Client, "unix:/none")

    def test_of_a_session(self):
        self.refused("stdin", Client().session, stdin="x")
        self.refused("ttl", Client().session, ttl=0)
        self.refused("timeout", Client().session, timeout=0)

    def test_of_functions_for_agents(self):
        for timeout in (601, "601s", 0, "none"):
            self.refused("timeout", code_run, "", timeout=timeout)
        self.refused("cwd", code_run, "", cwd="/nothing/here")
        self.refused("code_cwd", code_run, "", code_cwd=5)
        self.refused("stop_signal", code_run, "", stop_signal=1.5)
        self.refused("maxlen", code_run, "", maxlen=0)
        self.refused("code", execute_python, 5)
        self.refused("command", execute_bash, None)
        self.refused("timeout", execute_bash, "", timeout=0)
        self.refused("session_id", execute_bash, "", session_id=5)
        self.refused("requirements", execute_python, "", requirements="six")

    def test_what_the_service_can_not_do_is_told_before_it_is_asked(self):
        client = Client("unix:/nothing/listens/here")
        for name in ("workspace", "out", "interpreter"):
            with self.assertRaisesRegex(NotSupported, name):
                client.run("", **{name: "/tmp"})
        with self.assertRaisesRegex(NotSupported, "volumes"):
            client.session("python", volumes=["/tmp:/tmp"])
        with self.assertRaises(NotSupported):
            client.check("")
        with self.assertRaises(InvalidArgument):
            client.run(b"\xff")
        with self.assertRaisesRegex(Unavailable, "unix:/nothing/listens/here"):
            client.run("")


if __name__ == "__main__":
    unittest.main()
