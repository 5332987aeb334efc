# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The client: runs programs by the command, or by the service where one is named."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Generator,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
    Union,
    overload,
)

from wardcase import _program
from wardcase import batch as _batch
from wardcase._command import CommandDoor
from wardcase._http import HttpDoor
from wardcase._http_session import HttpSession
from wardcase.batch import Batch, BatchResult, CaseResult, Comparator
from wardcase.errors import InvalidArgument, NotSupported
from wardcase.result import Result
from wardcase.session import SESSION_ARGUMENTS, Session
from wardcase.stream import Stream

if TYPE_CHECKING:
    from typing import Literal

    # Only who checks types needs it, and brings it along.
    from typing_extensions import Unpack

_NO_BATCHES = "cases: the service alone judges them; name it by host or WARDCASE_HOST, or run each and compare"


class Client:
    """Runs programs.

    With `host`, or WARDCASE_HOST in the environment (`unix:/PATH` or `http://127.0.0.1:PORT`), the
    service there runs them. Else the command `wardcase` does: `binary`, WARDCASE_BINARY, or the
    first in PATH. `token` is what the service knows its clients by, where it wants one; without it
    that is read from the file WARDCASE_TOKEN_FILE. `defaults` are arguments of `run` that hold where
    a call gives none.
    """

    def __init__(
        self,
        host: Optional[str] = None,
        *,
        binary: Optional[str] = None,
        token: Optional[str] = None,
        **defaults: Any,
    ) -> None:
        if host is None and binary is None:
            host = os.environ.get("WARDCASE_HOST") or None
        if host is not None and binary is not None:
            raise InvalidArgument("binary", "give host or binary, not both")
        if host is not None and not isinstance(host, str):
            raise InvalidArgument("host", f"is of type {type(host).__name__}; give a str")
        if host is None and token is not None:
            raise InvalidArgument("token", "is for a service; give host, or set WARDCASE_HOST")
        self._door: Union[HttpDoor, CommandDoor] = CommandDoor(binary) if host is None else HttpDoor(host, token)
        self._defaults = defaults
        # Told now, and not by the first run.
        self.program("")

    def run(
        self,
        code: Union[str, bytes, None] = None,
        language: Optional[str] = None,
        **arguments: Unpack[_program.Arguments],
    ) -> Result:
        """Runs a program and gives the result, however it ended (see Result.raise_for_status).

        `code` in `language` (python), or `argv`, a list that is a command in the box. Besides:

        - `args`, `stdin`, `files` ({name below /box: text, bytes or a path of the host}), `env`;
        - limits: `timeout`, `cpu_time`, `idle_timeout`, `grace` in seconds, `memory`, `disk`,
          `file_size`, `capture`, `output` in bytes or as '64m', `pids`, `cpus`, `open_files`;
        - `requirements`, `prelude` (code that runs before it), `validate` (look at the syntax first);
        - `network` ('none' or 'host'), `policy`, `allow_syscalls`, `workdir`;
        - `merge_stderr`, `base64`, `encoding_fallback`;
        - with the command alone: `workspace` ('DIR' or 'DIR:rw'), `volumes` (['SRC:DST[:rw]']), `out`
          (a directory for what it makes), `interpreter`.
        """
        with self.stream(code, language, **arguments) as stream:
            return stream.wait()

    def stream(
        self,
        code: Union[str, bytes, None] = None,
        language: Optional[str] = None,
        **arguments: Unpack[_program.Arguments],
    ) -> Stream:
        """Starts a program, by the arguments of `run`, and gives its events as they happen."""
        return self.start(self.program(code, language, **arguments))

    def start(self, program: _program.Program) -> Stream:
        """The same for what `program` gave."""
        return Stream(self._door.start(program))

    def start_in_session(self, session_id: str, program: _program.Program) -> Stream:
        """The same in a session, which is made where there is none of this id."""
        if isinstance(self._door, HttpDoor):
            return Stream(HttpSession.find_or_make(self._door, session_id, program).begin(program))
        return Stream(self._door.begin(["run", f"--session={session_id}"], program))

    def check(self, code: Union[str, bytes], language: str = "python") -> Result:
        """Looks at the syntax, and executes nothing; `status` is syntax_error where it is wrong."""
        with Stream(self._door.check(_program.program(code, language))) as stream:
            return stream.wait()

    def program(
        self,
        code: Union[str, bytes, None] = None,
        language: Optional[str] = None,
        **arguments: Unpack[_program.Arguments],
    ) -> _program.Program:
        """The arguments of `run`, looked at."""
        given: Dict[str, Any] = {**self._defaults, **arguments}
        if language is None and code is None:
            given.pop("language", None)
        elif language is not None:
            given["language"] = language
        return _program.program(code, **given)

    @overload
    def batch(
        self,
        programs: Iterable[Union[str, Mapping[str, Any]]],
        *,
        parallel: Optional[int] = None,
        as_finished: Literal[False] = False,
        **arguments: Any,
    ) -> List[Result]:
        ...

    @overload
    def batch(
        self,
        programs: Iterable[Union[str, Mapping[str, Any]]],
        *,
        parallel: Optional[int] = None,
        as_finished: Literal[True],
        **arguments: Any,
    ) -> Generator[Tuple[int, Result], None, None]:
        ...

    def batch(
        self,
        programs: Iterable[Union[str, Mapping[str, Any]]],
        *,
        parallel: Optional[int] = None,
        as_finished: bool = False,
        **arguments: Any,
    ) -> Union[List[Result], Generator[Tuple[int, Result], None, None]]:
        """Runs many programs, `parallel` (the processors) at the same time.

        Each is its code, or a dict of arguments of `run`; `arguments` hold for all. Gives the
        results as a list in the order of the programs; with `as_finished` an iterator of (index,
        result), which ends all runs when it is closed. An error of one ends all. For one program
        with many inputs there is `judge`.
        """
        found = self.batch_programs(programs, parallel, arguments)
        finished = self._run_all(found, parallel or os.cpu_count() or 1)
        if as_finished:
            return finished
        results = dict(finished)
        return [results[index] for index in range(len(found))]

    def judge(
        self,
        code: Union[str, bytes, None] = None,
        language: Optional[str] = None,
        *,
        cases: Optional[Iterable[Mapping[str, Any]]] = None,
        test_code: Union[str, bytes, None] = None,
        comparator: Optional[Comparator] = None,
        checker: Optional[Mapping[str, Any]] = None,
        stop_on_first_failure: bool = False,
        **arguments: Unpack[_program.Arguments],
    ) -> BatchResult:
        """Runs one program with many cases, and says which of them it passes.

        The program is that of `run`, with its arguments. Each of `cases` is a dict: `stdin`, `args`,
        `env`, `files`, `expected_stdout`, `comparator`. In their place `test_code` is put behind the
        program. `comparator` is that of all: 'exact', 'trim', 'tokens' or {'type': 'float', 'abs':
        1e-6}. `checker`, a dict of arguments of `run`, is a program that judges instead. With
        `stop_on_first_failure` no case counts after it.

        The service compiles once and judges: this needs one, by `host` or WARDCASE_HOST.
        """
        with self.judge_stream(
            code,
            language,
            cases=cases,
            test_code=test_code,
            comparator=comparator,
            checker=checker,
            stop_on_first_failure=stop_on_first_failure,
            **arguments,
        ) as batch:
            return batch.wait()

    def judge_stream(
        self,
        code: Union[str, bytes, None] = None,
        language: Optional[str] = None,
        *,
        cases: Optional[Iterable[Mapping[str, Any]]] = None,
        test_code: Union[str, bytes, None] = None,
        comparator: Optional[Comparator] = None,
        checker: Optional[Mapping[str, Any]] = None,
        stop_on_first_failure: bool = False,
        **arguments: Unpack[_program.Arguments],
    ) -> Batch:
        """Starts the same, and gives the cases as they end; letting go of it ends all."""
        judge = None
        if checker is not None:
            if not isinstance(checker, Mapping):
                raise InvalidArgument("checker", f"is of type {type(checker).__name__}; give a dict")
            judge = _program.program(**checker)
        program = self.program(code, language, **arguments)
        request = _batch.request(program, cases, test_code, comparator, judge, stop_on_first_failure)
        if not isinstance(self._door, HttpDoor):
            raise NotSupported(_NO_BATCHES)
        return Batch(self._door.start_batch(request))

    def batch_programs(self, programs: Any, parallel: Any, arguments: Mapping[str, Any]) -> List[_program.Program]:
        """All programs of a batch are looked at before the first one runs."""
        if parallel is not None and (isinstance(parallel, bool) or not isinstance(parallel, int) or parallel < 1):
            raise InvalidArgument("parallel", f"{parallel!r} is no whole number above 0")
        if isinstance(programs, (str, bytes, Mapping)) or not hasattr(programs, "__iter__"):
            raise InvalidArgument("programs", "give a list of codes, or of dicts of arguments of run")
        found: List[_program.Program] = []
        for index, each in enumerate(programs):
            if not isinstance(each, (str, bytes, Mapping)):
                raise InvalidArgument(f"programs[{index}]", "is neither code nor a dict of arguments of run")
            own: Mapping[str, Any] = each if isinstance(each, Mapping) else {"code": each}
            given: Dict[str, Any] = {**arguments, **own}
            try:
                found.append(self.program(**given))
            except InvalidArgument as error:
                raise InvalidArgument(f"programs[{index}].{error.argument}", str(error).split(": ", 1)[1]) from None
        return found

    def _run_all(self, programs: List[_program.Program], parallel: int) -> Generator[Tuple[int, Result], None, None]:
        waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for index, program in enumerate(programs):
            waiting.put((index, program))
        runs = _Runs()
        threads = [
            threading.Thread(target=self._work, args=(waiting, finished, runs), daemon=True)
            for _ in range(min(parallel, len(programs)))
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in programs:
                index, result = finished.get()
                if isinstance(result, BaseException):
                    raise result
                yield index, result
        finally:
            runs.end()
            for thread in threads:
                thread.join()

    def _work(self, waiting: Any, finished: Any, runs: _Runs) -> None:
        while not runs.ended:
            try:
                index, program = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                with self.start(program) as stream, runs.counting(stream):
                    finished.put((index, stream.wait()))
            except Exception as error:  # pylint: disable=broad-except  # It is raised by who waits.
                finished.put((index, error))

    def session(self, language: str = "python", **arguments: Unpack[_program.SessionArguments]) -> Session:
        """A box that lives on, with its interpreters; see Session. `with` ends it."""
        given: Dict[str, Any] = {"language": language, **self._session_defaults(), **arguments}
        return Session(self._door, **given)

    def _session_defaults(self) -> Dict[str, Any]:
        """Those of the defaults that a session takes."""
        return {name: value for name, value in self._defaults.items() if name in SESSION_ARGUMENTS}


class _Runs:
    """Those of a batch that go on."""

    def __init__(self) -> None:
        self.ended = False
        self._streams: List[Stream] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def counting(self, stream: Stream) -> Iterator[None]:
        """It is one of them meanwhile."""
        with self._lock:
            self._streams.append(stream)
            ended = self.ended
        if ended:
            stream.abandon()
        try:
            yield
        finally:
            with self._lock:
                self._streams.remove(stream)

    def end(self) -> None:
        """No other begins, and these end."""
        with self._lock:
            self.ended = True
            streams = list(self._streams)
        for stream in streams:
            stream.abandon()
