# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Sessions, by the command and by the service."""

import secrets
import threading
import unittest

from wardcase import Client, InvalidArgument, NotSupported, RequestRefused

from .support import ENDLESS, Case, Service


class Sessions(Case):
    """One session for all tests: each begins with fresh interpreters."""

    client = Client()

    @classmethod
    def setUpClass(cls):
        cls.session = cls.client.session("python", ttl="5m", env={"GIVEN": "a b"}, prelude="ready = True")

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def setUp(self):
        super().setUp()
        self.session.reset()

    def test_variables_and_files_stay(self):
        self.assertTrue(self.session.run("x = 41; open('kept', 'w').write('k')").success)
        self.assertEqual(self.session.run("x + 1").result["text"], "42")
        self.assertEqual(self.session.run("cat kept; echo $GIVEN", "bash").stdout, "ka b\n")
        self.assertEqual(self.session.run("print(ready)").stdout, "True\n")

    def test_files_go_in_and_out(self):
        self.session.put("f", "1\n")
        self.assertEqual(self.session.run("cat f g/h > out", "bash", files={"g/h": b"2\n"}).status, "exited")
        self.assertEqual(self.session.get("out"), b"1\n2\n")
        self.assertEqual([file["name"] for file in self.session.list("g")], ["h"])
        self.assertLessEqual({"f", "g", "out"}, {file["name"] for file in self.session.list()})
        with self.assertRaisesRegex(RequestRefused, "nothing"):
            self.session.get("nothing")

    def test_a_program_reads_what_is_given_and_else_nothing(self):
        self.assertEqual(self.session.run("print(input())", stdin="given\n").stdout, "given\n")
        self.assertEqual(self.session.run("input()").error_type, "EOFError")

    def test_an_interactive_program_is_answered(self):
        answers = ["-l", "b"]
        stream = self.session.stream("print([input('? '), input('? ')])", interactive=True)
        for event in stream:
            if event["type"] == "waiting_for_input":
                self.session.input(answers.pop(0))
        self.assertIn("['-l', 'b']", stream.result.stdout)

    def test_the_end_of_input(self):
        stream = self.session.stream("import sys; print(sys.stdin.read())", interactive=True)
        for event in stream:
            if event["type"] == "waiting_for_input":
                self.session.input("last", newline=False, eof=True)
        self.assertEqual(stream.result.stdout, "last\n")

    def test_an_interrupt_ends_the_program_and_keeps_variables(self):
        self.session.run("x = 1")
        stream = self.session.stream(ENDLESS)
        while next(stream)["type"] != "stdout":
            pass
        thread = threading.Thread(target=self.session.interrupt)
        thread.start()
        self.assertFalse(stream.wait().success)
        thread.join()
        self.assertEqual(self.session.run("print(x)").stdout, "1\n")
        self.assert_quick()

    def test_a_stream_that_is_left_ends_its_program_and_not_the_session(self):
        with self.session.stream(ENDLESS) as stream:
            next(stream)
        self.assertEqual(self.session.run("print(1)").stdout, "1\n")
        self.assert_quick()

    def test_a_program_may_go_on(self):
        # So that its interpreter is there, and what is interrupted is the program.
        self.session.run("")
        result = self.session.run(ENDLESS, yield_after=0.3)
        self.assertEqual((result.status, result.command_exit_code), ("running", 0))
        self.session.interrupt()
        self.assertEqual(self.session.run("print(1)").stdout, "1\n")

    def test_what_validates_runs_and_what_does_not_does_not(self):
        self.assertEqual(self.session.run("await_ = 1; print(2)", validate=True).stdout, "2\n")
        result = self.session.run("print(3)\nif", validate=True)
        self.assertEqual((result.status, result.output), ("syntax_error", ""))

    def test_limits_are_those_of_a_program(self):
        self.assertEqual(self.session.run("import time; time.sleep(60)", timeout=0.2).status, "timeout")
        with self.assertRaises(InvalidArgument) as raised:
            self.session.run("", memory="64m")
        self.assertEqual(raised.exception.argument, "memory")

    def test_a_session_ends_once(self):
        name = f"python-client.{secrets.token_hex(4)}"
        with self.client.session("bash", id=name) as session:
            self.assertEqual(session.id, name)
            self.assertEqual(session.run("echo $0 >/dev/null; echo 1").stdout, "1\n")
            with self.assertRaises(RequestRefused):
                self.client.session(id=name)
            session.extend("2m")
            session.close()
        with self.assertRaises(RequestRefused):
            session.run("echo 1")


class SessionsOfTheService(Sessions):
    """The same by HTTP."""

    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.client = Client(cls.service.address)
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.service.close()

    def test_the_first_use_makes_a_session(self):
        name = f"python-client.{secrets.token_hex(4)}"
        for code, printed in (("x = 1", ""), ("print(x)", "1\n")):
            with self.client.start_in_session(name, self.client.program(code)) as stream:
                self.assertEqual(stream.wait().stdout, printed)
        with self.assertRaises(NotSupported):
            self.session.run("", out="/tmp")
        with self.assertRaises(NotSupported):
            self.client.session(volumes=["/tmp:/tmp"])


if __name__ == "__main__":
    unittest.main()
