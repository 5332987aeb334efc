# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The client's twin for asyncio: a task that is cancelled ends its run."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncGenerator,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Tuple,
    TypeVar,
    Union,
)

from wardcase import _program
from wardcase.batch import BatchResult
from wardcase.client import Client
from wardcase.result import Result
from wardcase.session import Session
from wardcase.stream import Event, Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


def _end(thread: concurrent.futures.ThreadPoolExecutor, begun: Callable[[], Optional[Stream]]) -> None:
    thread.shutdown(wait=True)
    # It may have begun only now.
    stream = begun()
    if stream is not None:
        stream.close()


class AsyncStream:
    """The events of one run; see Stream. `async with`, `async for` or `await stream.wait()`."""

    def __init__(self, start: Callable[[], Stream]) -> None:
        # What waits for the run has a thread of its own: no other run waits for it.
        self._thread = concurrent.futures.ThreadPoolExecutor(max_workers=1)
        self._start = start
        self._stream: Optional[Stream] = None
        self._given_up = False

    @property
    def result(self) -> Optional[Result]:
        """Of a run that has ended."""
        return None if self._stream is None else self._stream.result

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> Event:
        event = None if self._given_up else await self._call(lambda: next(self._begun(), None))
        if event is None:
            await self.aclose()
            raise StopAsyncIteration
        return event

    async def wait(self) -> Result:
        """Reads all that is left, and gives the result."""
        if self.result is not None:
            return self.result
        try:
            return await self._call(lambda: self._begun().wait())
        finally:
            await self.aclose()

    async def stop(self) -> None:
        """Ends the program by its grace; the events go on until `exit`."""
        stream = self._stream
        if stream is not None:
            await asyncio.get_running_loop().run_in_executor(None, stream.stop)

    async def aclose(self) -> None:
        """Ends the run, if it has not ended, and waits for that."""
        self._give_up()
        closing = asyncio.get_running_loop().run_in_executor(None, _end, self._thread, lambda: self._stream)
        # Cancelled or not, nothing of it is left behind.
        await asyncio.shield(closing)

    def _begun(self) -> Stream:
        if self._stream is None:
            self._stream = self._start()
        if self._given_up:
            self._stream.abandon()
        return self._stream

    def _give_up(self) -> None:
        self._given_up = True
        if self._stream is not None:
            self._stream.abandon()

    async def _call(self, function: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function)
        except BaseException:
            await self.aclose()
            raise

    async def __aenter__(self) -> AsyncStream:
        await self._call(self._begun)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __del__(self) -> None:
        # Who lets go of it may be the loop, which must not wait for a program's grace.
        stream = self._stream
        if not self._given_up and stream is not None:
            threading.Thread(target=_end, args=(self._thread, lambda: stream)).start()


class AsyncClient:
    """Runs programs; the arguments are those of Client."""

    def __init__(self, host: Optional[str] = None, *, binary: Optional[str] = None, **defaults: Any) -> None:
        self._client = Client(host, binary=binary, **defaults)

    async def run(
        self,
        code: Union[str, bytes, None] = None,
        language: Optional[str] = None,
        **arguments: Unpack[_program.Arguments],
    ) -> Result:
        """See Client.run."""
        return await self.stream(code, language, **arguments).wait()

    def stream(
        self,
        code: Union[str, bytes, None] = None,
        language: Optional[str] = None,
        **arguments: Unpack[_program.Arguments],
    ) -> AsyncStream:
        """See Client.stream; the program starts when its first event is awaited."""
        return self._stream(self._client.program(code, language, **arguments))

    async def check(self, code: Union[str, bytes], language: str = "python") -> Result:
        """See Client.check."""
        return await asyncio.get_running_loop().run_in_executor(None, self._client.check, code, language)

    async def batch(
        self,
        programs: Iterable[Union[str, Mapping[str, Any]]],
        *,
        parallel: Optional[int] = None,
        **arguments: Any,
    ) -> List[Result]:
        """See Client.batch."""
        results = {index: result async for index, result in self.as_finished(programs, parallel=parallel, **arguments)}
        return [results[index] for index in range(len(results))]

    async def judge(
        self, code: Union[str, bytes, None] = None, language: Optional[str] = None, **arguments: Any
    ) -> BatchResult:
        """See Client.judge."""
        loop = asyncio.get_running_loop()
        start = functools.partial(self._client.judge_stream, code, language, **arguments)
        making = loop.run_in_executor(None, start)
        try:
            batch = await asyncio.shield(making)
        except asyncio.CancelledError:
            (await making).close()
            raise
        waiting = loop.run_in_executor(None, batch.wait)
        try:
            return await asyncio.shield(waiting)
        finally:
            batch.close()
            await asyncio.gather(waiting, return_exceptions=True)

    async def as_finished(
        self,
        programs: Iterable[Union[str, Mapping[str, Any]]],
        *,
        parallel: Optional[int] = None,
        **arguments: Any,
    ) -> AsyncGenerator[Tuple[int, Result], None]:
        """The same as pairs of index and result, each when it is there."""
        found = self._client.batch_programs(programs, parallel, arguments)
        turn = asyncio.Semaphore(parallel or os.cpu_count() or 1)

        async def one(index: int, program: _program.Program) -> Tuple[int, Result]:
            async with turn:
                return index, await self._stream(program).wait()

        tasks = [asyncio.ensure_future(one(index, program)) for index, program in enumerate(found)]
        try:
            for task in asyncio.as_completed(tasks):
                yield await task
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def session(self, language: str = "python", **arguments: Unpack[_program.SessionArguments]) -> AsyncSession:
        """See Client.session; it is made by `async with`."""
        return AsyncSession(lambda: self._client.session(language, **arguments))

    def _stream(self, program: _program.Program) -> AsyncStream:
        return AsyncStream(lambda: self._client.start(program))


class AsyncSession:
    """A session; see Session. Its methods are those of that, to be awaited."""

    def __init__(self, make: Callable[[], Session]) -> None:
        self._make = make
        self._session: Optional[Session] = None

    @property
    def id(self) -> str:
        """Of a session that was made."""
        return self._made().id

    async def __aenter__(self) -> AsyncSession:
        making = asyncio.get_running_loop().run_in_executor(None, self._make)
        try:
            self._session = await asyncio.shield(making)
        except asyncio.CancelledError:
            (await making).close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(
        self, code: Union[str, bytes], language: Optional[str] = None, **arguments: Unpack[_program.ExecArguments]
    ) -> Result:
        """See Session.run."""
        return await self.stream(code, language, **arguments).wait()

    def stream(
        self, code: Union[str, bytes], language: Optional[str] = None, **arguments: Unpack[_program.ExecArguments]
    ) -> AsyncStream:
        """See Session.stream; the program starts when its first event is awaited."""
        session = self._made()
        given: Dict[str, Any] = {**arguments}
        return AsyncStream(lambda: session.stream(code, language, **given))

    async def interrupt(self) -> None:
        """See Session.interrupt."""
        await self._do(self._made().interrupt)

    async def input(self, text: str = "", **how: bool) -> None:
        """See Session.input."""
        await self._do(lambda: self._made().input(text, **how))

    async def reset(self) -> None:
        """See Session.reset."""
        await self._do(self._made().reset)

    async def extend(self, ttl: _program.Amount) -> None:
        """See Session.extend."""
        await self._do(lambda: self._made().extend(ttl))

    async def put(self, name: str, content: _program.Content) -> None:
        """See Session.put."""
        await self._do(lambda: self._made().put(name, content))

    async def get(self, name: str) -> bytes:
        """See Session.get."""
        return await self._do(lambda: self._made().get(name))

    async def list(self, directory: str = "") -> List[Dict[str, Any]]:
        """See Session.list."""
        return await self._do(lambda: self._made().list(directory))

    async def close(self) -> None:
        """See Session.close."""
        await asyncio.shield(self._do(self._made().close))

    def _made(self) -> Session:
        if self._session is None:
            raise RuntimeError("the session is made by: async with client.session() as session")
        return self._session

    async def _do(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(None, function)
