# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The twin for asyncio."""

import asyncio
import unittest

from wardcase import AsyncClient, InvalidArgument, RequestRefused

from .support import ENDLESS, Case, Service


class Asyncio(Case):
    """By the command and by the service."""

    def run_by_both(self, test):
        """A test of a client, by each way."""
        asyncio.run(test(AsyncClient()))
        service = Service()
        try:
            asyncio.run(test(AsyncClient(service.address)))
            for run in service.get("/v1/runs")["runs"]:
                service.follow(run["id"])
        finally:
            service.close()
        self.assert_quick()

    def test_runs_streams_and_batches(self):
        async def test(client):
            self.assertEqual((await client.run("print(1)")).stdout, "1\n")
            stream = client.stream("print(2)")
            self.assertEqual([event["type"] async for event in stream][-1], "exit")
            self.assertEqual(stream.result.stdout, "2\n")
            self.assertIs(await stream.wait(), stream.result)
            results = await client.batch(["print(3)", "print(4)"], parallel=2)
            self.assertEqual([result.stdout for result in results], ["3\n", "4\n"])

        self.run_by_both(test)

    def test_a_task_that_is_cancelled_ends_its_run(self):
        async def test(client):
            begun = asyncio.Event()

            async def one():
                async for event in client.stream(ENDLESS):
                    if event["type"] == "stdout":
                        begun.set()

            task = asyncio.ensure_future(one())
            await begun.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        self.run_by_both(test)

    def test_a_stream_that_is_left_ends_its_run_and_a_stopped_one_has_its_record(self):
        async def test(client):
            async with client.stream(ENDLESS) as stream:
                await stream.__anext__()
            async with client.stream(ENDLESS) as stream:
                async for event in stream:
                    if event["type"] == "stdout":
                        await stream.stop()
            self.assertEqual(stream.result.status, "stopped")

        self.run_by_both(test)

    def test_results_come_as_they_finish_and_who_leaves_ends_the_rest(self):
        async def test(client):
            finished = client.as_finished([ENDLESS, "print(1)"], parallel=2)
            async for index, result in finished:
                self.assertEqual((index, result.stdout), (1, "1\n"))
                break
            await finished.aclose()

        self.run_by_both(test)

    def test_errors_are_those_of_the_client(self):
        async def test(client):
            with self.assertRaises(InvalidArgument):
                client.stream("", timeout=0)
            with self.assertRaises(RequestRefused):
                await client.run("", timeout=601)

        self.run_by_both(test)

    def test_sessions(self):
        async def test():
            async with AsyncClient().session() as session:
                await session.run("x = 1")
                await session.put("f", "2")
                self.assertEqual((await session.run("print(x, open('f').read())")).stdout, "1 2\n")
                self.assertEqual(await session.get("f"), b"2")
                self.assertEqual([file["name"] for file in await session.list()], ["f"])
                stream = session.stream(ENDLESS)
                while (await stream.__anext__())["type"] != "stdout":
                    pass
                await session.interrupt()
                self.assertFalse((await stream.wait()).success)
                async for event in session.stream("print(input())", interactive=True):
                    if event["type"] == "waiting_for_input":
                        await session.input("3")
                await session.reset()
                self.assertEqual((await session.run("x")).error_type, "NameError")

        asyncio.run(test())


if __name__ == "__main__":
    unittest.main()
