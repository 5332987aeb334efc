# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Functions that stand in for those of agents that ran code on the host itself."""

from __future__ import annotations

import base64
import os
import queue
import secrets
import threading
from typing import Any, Dict, Generator, List, Optional, Sequence, Union

from wardcase import _program
from wardcase.client import Client
from wardcase.errors import InvalidArgument, NotSupported, WardcaseError
from wardcase.result import Result
from wardcase.stream import Stream

MAX_TIMEOUT_SECONDS = 600
_OMITTED = "\n\n[omitted long output]\n\n"
# Where modules beside the code are found in the box.
_CODE_DIRECTORY = "/mnt/code"
# How often a stop signal is looked at.
_GLANCE_SECONDS = 0.05
_CODE_TYPES = {"py": "python", "js": "javascript", "node": "javascript", "sh": "bash", "shell": "bash", "pwsh": "powershell", "ps1": "powershell"}  # fmt: skip

Update = Union[str, Dict[str, Any]]


def execute_python(
    code: str,
    timeout: _program.Amount = 30,
    session_id: Optional[str] = None,
    requirements: Optional[Sequence[str]] = None,
) -> Dict[str, Any]:
    """Runs Python, once its syntax is right, and tells how it ended.

    With `session_id` in that session, which the first use makes; variables and files stay. Without
    one in a box of its own, of which nothing is left; the id in the answer is free to be used. The
    answer has success, output (stdout), error (stderr, or a sentence of ours), exit_code (as the
    command line's), duration_ms, session_id, status, hint, result (the value of the last
    expression in a session) and artifacts.
    """
    return _execute("python", "code", code, timeout, session_id, requirements)


def execute_javascript(
    code: str,
    timeout: _program.Amount = 30,
    session_id: Optional[str] = None,
    requirements: Optional[Sequence[str]] = None,
) -> Dict[str, Any]:
    """The same for JavaScript by Node.js."""
    return _execute("javascript", "code", code, timeout, session_id, requirements)


def execute_bash(command: str, timeout: _program.Amount = 30, session_id: Optional[str] = None) -> Dict[str, Any]:
    """The same for Bash."""
    return _execute("bash", "command", command, timeout, session_id, None)


def code_run(
    code: str,
    code_type: str = "python",
    timeout: _program.Amount = 60,
    cwd: Union[str, "os.PathLike[str]", None] = None,
    code_cwd: Union[str, "os.PathLike[str]", None] = None,
    stop_signal: Any = None,
    maxlen: int = 10000,
) -> Generator[Update, None, Dict[str, Any]]:
    """Runs code and yields what it writes, stdout and stderr, as it comes; at last a dict.

    That, which the generator returns as well, has status ("success" or "error"), stdout (no more
    than about `maxlen` characters of it, its middle left out) and exit_code. `cwd` is a directory of
    the host in which it works, and may write; `code_cwd` one whose modules it may import. It is
    stopped when `stop_signal` (a list, or an Event) has a true value, and when the generator is
    closed. Output that is not UTF-8 is read as GBK.
    """
    if isinstance(maxlen, bool) or not isinstance(maxlen, int) or maxlen < 1:
        raise InvalidArgument("maxlen", f"{maxlen!r} is no whole number above 0")
    _check_timeout(timeout)
    _is_stopped(stop_signal)
    arguments: Dict[str, Any] = {"timeout": timeout, "merge_stderr": True, "encoding_fallback": "gbk"}
    if cwd is not None:
        arguments["workspace"] = f"{_directory('cwd', cwd)}:rw"
    if code_cwd is not None and (cwd is None or os.path.realpath(code_cwd) != os.path.realpath(cwd)):
        arguments["volumes"] = [f"{_directory('code_cwd', code_cwd)}:{_CODE_DIRECTORY}"]
        arguments["env"] = {"PYTHONPATH": _CODE_DIRECTORY, "NODE_PATH": _CODE_DIRECTORY}
    client = Client()
    if not isinstance(code_type, str):
        raise InvalidArgument("code_type", f"is of type {type(code_type).__name__}; give a str")
    program = client.program(code, _CODE_TYPES.get(code_type, code_type), **arguments)
    return _updates(client, program, stop_signal, maxlen)


def do_code_run(
    type: str, code: str, timeout: _program.Amount = 60  # pylint: disable=redefined-builtin
) -> Generator[Update, None, Dict[str, Any]]:
    """code_run with its arguments in another order."""
    return code_run(code, code_type=type, timeout=timeout)


def _execute(
    language: str,
    argument: str,
    code: str,
    timeout: _program.Amount,
    session_id: Optional[str],
    requirements: Optional[Sequence[str]],
) -> Dict[str, Any]:
    _check_timeout(timeout, most=None)
    if not isinstance(code, str):
        raise InvalidArgument(argument, f"is of type {type(code).__name__}; give a str")
    if session_id is not None and not isinstance(session_id, str):
        raise InvalidArgument("session_id", f"is of type {type(session_id).__name__}; give a str")
    _program.words("requirements", requirements)
    told = session_id or _fresh_id()
    try:
        _program.text_bytes(argument, code)
    except InvalidArgument as error:
        return _refusal(error, told)
    try:
        client = Client()
        program = client.program(code, language, timeout=timeout, requirements=requirements, validate=True)
        with client.start(program) if session_id is None else client.start_in_session(session_id, program) as stream:
            return _answer(stream.wait(), told)
    except InvalidArgument:
        raise
    except WardcaseError as error:
        return _refusal(error, told)


def _answer(result: Result, session_id: str) -> Dict[str, Any]:
    told = result.stderr
    if result.error and not (result.status == "exited" and told):
        told += ("\n" if told and not told.endswith("\n") else "") + result.error
    return {
        "success": result.success,
        "output": result.stdout,
        "error": told,
        "exit_code": result.command_exit_code,
        "duration_ms": result.duration_ms,
        "session_id": session_id,
        "status": result.status,
        "hint": result.hint,
        "result": result.result,
        "artifacts": result.artifacts,
    }


def _refusal(error: WardcaseError, session_id: str) -> Dict[str, Any]:
    status = "invalid_request" if isinstance(error, (InvalidArgument, NotSupported)) else "setup_failed"
    return _answer(Result(id="", status=status, success=False, error=str(error)), session_id)


def _fresh_id() -> str:
    return "ses_" + base64.b32encode(secrets.token_bytes(16)).decode("ascii").rstrip("=").lower()


def _check_timeout(timeout: Any, most: Optional[int] = MAX_TIMEOUT_SECONDS) -> None:
    milliseconds = _program.amount("timeout", timeout, "time")
    if most is not None and (milliseconds is None or milliseconds > most * 1000):
        raise InvalidArgument("timeout", f"{timeout!r}: the maximum is {most} seconds")


def _directory(argument: str, value: Any) -> str:
    path = _program.path(argument, value)
    if not path or not os.path.isdir(path):
        raise InvalidArgument(argument, f"{value!r} is no directory")
    return os.path.abspath(path)


def _is_stopped(signal: Any) -> bool:
    if signal is None:
        return False
    if hasattr(signal, "is_set"):
        return bool(signal.is_set())
    if isinstance(signal, (bool, int)):
        return bool(signal)
    try:
        # It may grow in another thread meanwhile.
        return any(list(signal))
    except TypeError:
        raise InvalidArgument("stop_signal", "give a list, or an Event") from None


def _updates(
    client: Client, program: _program.Program, stop_signal: Any, maxlen: int
) -> Generator[Update, None, Dict[str, Any]]:
    try:
        stream = client.start(program)
    except WardcaseError as error:
        return (yield from _failed(str(error)))
    reader = _Reader(stream)
    try:
        lines = _Lines()
        for event in reader.events(stop_signal):
            text = lines.take(event)
            if text:
                yield text
        text = lines.rest()
        if text:
            yield text
        result = stream.result
        assert result is not None
    except WardcaseError as error:
        return (yield from _failed(str(error)))
    finally:
        reader.end()
    appended = _appended(result)
    if appended:
        yield appended
    last = {
        "status": "success" if result.success else "error",
        "stdout": _shortened(result.stdout, maxlen) + appended,
        "exit_code": result.command_exit_code,
    }
    yield last
    return last


def _failed(sentence: str) -> Generator[Update, None, Dict[str, Any]]:
    last = {"status": "error", "stdout": sentence, "exit_code": 125}
    yield sentence
    yield last
    return last


def _appended(result: Result) -> str:
    if result.status in ("timeout", "cpu_time", "idle"):
        return "\n[Timeout Error] 超时强制终止"
    if result.status == "stopped":
        return "\n[Stopped]"
    return f"\n[{result.status}] {result.error}" if result.error else ""


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = most // 2
    return text[: most - head] + _OMITTED + (text[-head:] if head else "")


class _Reader:
    """Reads the events of a run in a thread, so that who waits for them can look up."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        # Bounded: who takes nothing slows the program down.
        self._queue: queue.Queue[Any] = queue.Queue(maxsize=64)
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        last: Any = None
        try:
            for event in self._stream:
                self._put(event)
        except Exception as error:  # pylint: disable=broad-except  # It is raised by who waits.
            last = error
        self._put(last)

    def _put(self, item: Any) -> None:
        while not self._ended:
            try:
                self._queue.put(item, timeout=_GLANCE_SECONDS)
                return
            except queue.Full:
                continue

    def events(self, stop_signal: Any) -> Generator[Dict[str, Any], None, None]:
        """Until the last one; stops the run when the signal says so."""
        stopped = False
        while True:
            if not stopped and _is_stopped(stop_signal):
                stopped = True
                self._stream.stop()
            try:
                item = self._queue.get(timeout=None if stopped or stop_signal is None else _GLANCE_SECONDS)
            except queue.Empty:
                continue
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item

    def end(self) -> None:
        """Ends the run, if it has not ended."""
        self._ended = True
        self._stream.abandon()
        self._thread.join()
        self._stream.close()


class _Lines:
    """Makes text of output events. Lines that are not UTF-8 are GBK, and told when they are whole."""

    def __init__(self) -> None:
        self._begun = b""

    def take(self, event: Dict[str, Any]) -> str:
        """What can be told now."""
        if event["type"] not in ("stdout", "stderr"):
            return ""
        if "data" in event and not self._begun:
            return str(event["data"])
        data = base64.b64decode(event["data_base64"]) if "data_base64" in event else event["data"].encode()
        *lines, self._begun = (self._begun + data).split(b"\n")
        return "".join(_decoded(line + b"\n") for line in lines)

    def rest(self) -> str:
        """The end, without a line break."""
        text, self._begun = _decoded(self._begun), b""
        return text


def _decoded(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("gbk", "replace")


__all__: List[str] = ["code_run", "do_code_run", "execute_bash", "execute_javascript", "execute_python"]
