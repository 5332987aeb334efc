# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""One program with many cases, by the service."""

import asyncio

import wardcase
from wardcase import Client, InvalidArgument, NotSupported

from .support import ENDLESS, Case, Service

DOUBLE = "print(int(input()) * 2)"


class Batches(Case):
    """The service judges them."""

    @classmethod
    def setUpClass(cls):
        cls.service = Service(None, "--max-runs", "4")
        cls.client = Client(cls.service.address)

    @classmethod
    def tearDownClass(cls):
        cls.service.close()

    def test_cases_are_judged_in_their_order(self):
        cases = [
            {"stdin": "2", "expected_stdout": b"4"},
            {"stdin": "3", "expected_stdout": "7", "comparator": "exact"},
            {"stdin": "0.5", "args": ["a"], "env": {"A": "1"}, "files": {"f": "x"}},
        ]
        batch = self.client.judge(DOUBLE, cases=cases, timeout=20)
        self.assertEqual([case.verdict for case in batch.cases], ["passed", "wrong_answer", "run_failed"])
        self.assertEqual((batch.status, batch.passed, batch.total, batch.first_failed), ("finished", 1, 3, 1))
        self.assertFalse(batch.success)
        self.assertEqual(batch.cases[0].result.stdout, "4\n")
        self.assertEqual(batch.cases[0].result.limits["timeout_ms"], 20000)
        self.assertIn("expected '7'", batch.cases[1].reason)
        self.assertEqual(batch.raw["summary"]["run_failed"], 1)

    def test_code_that_tests_and_a_program_that_judges(self):
        batch = self.client.judge("def f(n): return n * 2", test_code="assert f(2) == 4")
        self.assertTrue(batch.success, batch)
        checker = {"language": "bash", "code": "read n </box/input; read m </box/output; echo $m; ((m == 2 * n))"}
        batch = self.client.judge(DOUBLE, cases=[{"stdin": "4"}], checker=checker)
        self.assertEqual((batch.cases[0].verdict, batch.cases[0].checker_output), ("passed", "8\n"))

    def test_cases_come_as_they_end_and_letting_go_ends_the_others(self):
        program = "import sys\nif sys.argv[1:]:\n  " + ENDLESS.replace("\n", "\n  ")
        with self.client.judge_stream(program, cases=[{"args": ["x"]}, {}]) as batch:
            self.assertEqual(next(iter(batch)).index, 1)
        self.assert_quick()

    def test_asyncio_has_the_same(self):
        async def judge():
            client = wardcase.AsyncClient(self.service.address)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(client.judge(ENDLESS, cases=[{}]), 1)
            return await client.judge(DOUBLE, cases=[{"stdin": "1", "expected_stdout": "2"}])

        self.assertTrue(asyncio.run(judge()).success)
        self.assert_quick()

    def test_what_cannot_be_used_is_named(self):
        def refused(argument, *args, **arguments):
            with self.assertRaises(InvalidArgument) as caught:
                self.client.judge(*args, **arguments)
            self.assertEqual(caught.exception.argument, argument)

        refused("cases[1].stdout", DOUBLE, cases=[{}, {"stdout": ""}])
        refused("cases[0].stdin", DOUBLE, cases=[{"stdin": 5}])
        refused("cases[0]", DOUBLE, cases=["4"])
        refused("cases", DOUBLE, cases=[])
        refused("cases", DOUBLE)
        refused("cases", DOUBLE, cases=[{}], test_code="")
        refused("checker", DOUBLE, cases=[{}], checker="exit 0")
        refused("comparator", DOUBLE, cases=[{}], comparator=5)
        refused("parallel", DOUBLE, cases=[{}], parallel=2)

    def test_the_command_judges_none(self):
        with self.assertRaises(NotSupported):
            Client().judge(DOUBLE, cases=[{}])
