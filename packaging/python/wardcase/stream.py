# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The events of a run, as they happen."""

from __future__ import annotations

import contextlib
from typing import Any, Dict, Iterator, Optional

from wardcase.errors import ConnectionLost
from wardcase.result import Result

Event = Dict[str, Any]


class Stream:
    """The events of one run, as they happen; the last is `exit`, and `result` is set by it.

    Closing it, leaving its `with` block or letting go of it ends the run.
    """

    def __init__(self, run: Any) -> None:
        self._run = run
        self._events = run.events()
        self.result: Optional[Result] = None

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        try:
            event: Event = next(self._events)
        except BaseException:
            self.close()
            raise
        if event["type"] == "exit":
            self.result = Result.from_record(event)
        return event

    def wait(self) -> Result:
        """Reads all that is left, and gives the result."""
        for _ in self:
            pass
        if self.result is None:
            raise ConnectionLost("the run was closed before its end")
        return self.result

    def stop(self) -> None:
        """From any thread: ends the program by its grace; the events go on until `exit`."""
        self._run.stop()

    def abandon(self) -> None:
        """From any thread: the same, for who wants no more events."""
        self._run.abandon()

    def close(self) -> None:
        """Ends the run, if it has not ended, and waits for that."""
        run, self._run = self._run, _Ended()
        run.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


class _Ended:
    """What is left of a run that was closed."""

    def stop(self) -> None:
        """Nothing is left to do."""

    abandon = close = stop
