# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Sessions: boxes that live on, with their interpreters."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from wardcase import _program
from wardcase._command import CommandDoor, HeldFiles, env_words, run_words
from wardcase._http import HttpDoor
from wardcase._http_session import HttpSession
from wardcase.errors import InvalidArgument, RequestRefused
from wardcase.result import Result
from wardcase.stream import Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack


# A program that answers are sent to is followed for as long as a session can live.
_UNTIL_THE_END = "--yield=24h"
# Of Client.run, those that are of a box.
SESSION_ARGUMENTS = (
    *_program.LIMITS,
    "requirements",
    "prelude",
    "env",
    "volumes",
    "network",
    "policy",
    "allow_syscalls",
)


class Session:
    """A session of wardcase(1): /box keeps its files, interpreters their variables.

    Programs run in it one at a time; methods may be called from any thread. `id` names it for
    others, and for the command.
    """

    def __init__(
        self,
        door: Union[CommandDoor, HttpDoor],
        language: str = "python",
        *,
        id: Optional[str] = None,  # pylint: disable=redefined-builtin
        ttl: Optional[_program.Amount] = None,
        idle_ttl: Optional[_program.Amount] = None,
        **arguments: Any,
    ) -> None:
        """With requirements, prelude, env, volumes, network, policy, allow_syscalls and limits as of
        Client.run; `ttl` and `idle_ttl` are seconds, or as '1h'."""
        for name in arguments:
            if name not in SESSION_ARGUMENTS:
                raise InvalidArgument(name, "is no argument of a session")
        made = _program.program("", language, **arguments)
        self._ended = False
        self._door: Union[_CommandSession, HttpSession]
        if isinstance(door, HttpDoor):
            self._door = HttpSession.make(door, made, session_id=id, ttl=ttl, idle_ttl=idle_ttl)
        else:
            self._door = _CommandSession.make(door, made, session_id=id, ttl=ttl, idle_ttl=idle_ttl)
        self.id: str = self._door.id

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self, code: Union[str, bytes], language: Optional[str] = None, **arguments: Unpack[_program.ExecArguments]
    ) -> Result:
        """Runs a program after those that came before it, and gives the result.

        Besides: `stdin`, `files`, `requirements`, `validate`, `base64`, `out`, `interactive`
        (`input` answers it; else it reads `stdin`, or nothing), `yield_after` (come back after so
        many seconds with the status running), and the limits timeout, cpu_time, idle_timeout,
        grace, capture and output.
        """
        given: Dict[str, Any] = {**arguments}
        with self.stream(code, language, **given) as stream:
            return stream.wait()

    def stream(
        self,
        code: Union[str, bytes],
        language: Optional[str] = None,
        *,
        stdin: Optional[_program.Content] = None,
        files: Optional[Mapping[str, _program.Content]] = None,
        requirements: Optional[Sequence[str]] = None,
        validate: bool = False,
        interactive: bool = False,
        yield_after: Optional[_program.Amount] = None,
        base64: bool = False,
        out: Union[str, "os.PathLike[str]", None] = None,
        **limits: Optional[_program.Amount],
    ) -> Stream:
        """Starts a program, by the arguments of `run`, and gives its events as they happen."""
        for name in limits:
            if name not in ("timeout", "cpu_time", "idle_timeout", "grace", "capture", "output"):
                raise InvalidArgument(name, "is no argument of a program of a session")
        given: Dict[str, Any] = dict(
            stdin=stdin, files=files, requirements=requirements, base64=base64, out=out, **limits
        )
        program = _program.program(code, language, validate=validate, **given)
        if interactive and stdin is not None:
            raise InvalidArgument("stdin", "give stdin or interactive, not both")
        # Without a language it is the session's own.
        program.language = language
        return Stream(self._door.begin(program, interactive=interactive, yield_after=yield_after))

    def interrupt(self) -> None:
        """Ctrl-C for the program that runs."""
        self._door.order("interrupt")

    def input(self, text: str = "", *, newline: bool = True, eof: bool = False) -> None:
        """A line that an interactive program reads; after `eof` there is no more.

        With the command it is a word of that meanwhile, which every user of this host can read.
        """
        line = _program.word("text", text) or ""
        if line or not eof:
            line += "\n" if newline else ""
        self._door.input(line.encode(), eof)

    def reset(self) -> None:
        """Ends every process, and keeps the files."""
        self._door.order("reset")

    def extend(self, ttl: _program.Amount) -> None:
        """It lives so many seconds from now on."""
        self._door.extend(ttl)

    def put(self, name: str, content: _program.Content) -> None:
        """Writes a file below /box; its directory has to be there."""
        self._door.put(_word("name", name), _program.content("content", content))

    def get(self, name: str) -> bytes:
        """Reads a file below /box."""
        return self._door.get(_word("name", name))

    def list(self, directory: str = "") -> List[Dict[str, Any]]:
        """What lies in a directory below /box, with name, type, mode, size and modified_ms."""
        return self._door.list(directory if directory in ("", ".") else _word("directory", directory))

    def close(self) -> None:
        """Ends it, with all that runs in it. One that has ended by itself is no error."""
        if self._ended:
            return
        self._ended = True
        self._door.close()


class _CommandSession:
    """What a Session asks for, by the command."""

    def __init__(self, door: CommandDoor, session_id: str) -> None:
        self._door = door
        self.id = session_id

    @classmethod
    def make(
        cls,
        door: CommandDoor,
        made: _program.Program,
        *,
        session_id: Optional[str],
        ttl: Optional[_program.Amount],
        idle_ttl: Optional[_program.Amount],
    ) -> _CommandSession:
        """A new one."""
        held = HeldFiles()
        environment = dict(os.environ)
        words = ["session", "new", "--json"]
        words += [] if session_id is None else [f"--id={_word('id', session_id)}"]
        words += [] if ttl is None else [f"--ttl={_time('ttl', ttl)}"]
        words += [] if idle_ttl is None else [f"--idle-ttl={_time('idle_ttl', idle_ttl)}"]
        try:
            words += [*run_words(made, held), *env_words(made.env, held, environment)]
            told = json.loads(door.ask(words, held=held, environment=environment))
        finally:
            held.close()
        return cls(door, told["session_id"])

    def begin(self, program: _program.Program, *, interactive: bool, yield_after: Optional[_program.Amount]) -> Any:
        """Starts a program in it."""
        words = ["exec", self.id]
        if yield_after is not None:
            words.append(f"--yield={_time('yield_after', yield_after)}")
        elif interactive:
            words.append(_UNTIL_THE_END)
        return self._door.begin(words, program)

    def order(self, what: str) -> None:
        """interrupt or reset."""
        self._door.ask(["session", what, self.id])

    def input(self, data: bytes, eof: bool) -> None:
        """What the program reads."""
        text = data.decode()
        words = ["--eof", self.id] if eof else [self.id]
        self._door.ask(["session", "input", "--no-newline", *words, *([text] if text else [])])

    def extend(self, ttl: _program.Amount) -> None:
        """From now on."""
        self._door.ask(["session", "extend", f"--ttl={_time('ttl', ttl)}", self.id])

    def put(self, name: str, content: bytes) -> None:
        """Writes a file."""
        held = HeldFiles()
        self._door.ask(["cp", held.hold(content), f"{self.id}:{name}"], held=held)

    def get(self, name: str) -> bytes:
        """Reads one."""
        return self._door.ask(["cat", f"{self.id}:{name}"])

    def list(self, directory: str) -> List[Dict[str, Any]]:
        """What is in a directory."""
        place = self.id if directory in ("", ".") else f"{self.id}:{directory}"
        found: List[Dict[str, Any]] = json.loads(self._door.ask(["ls", "--json", place]))
        return found

    def close(self) -> None:
        """Ends it."""
        try:
            self._door.ask(["session", "rm", self.id])
        except RequestRefused as error:
            if "no such session" not in str(error):
                raise


def _word(argument: str, value: Any) -> str:
    word = _program.word(argument, value)
    if not word:
        raise InvalidArgument(argument, "is missing")
    return word


def _time(argument: str, value: _program.Amount) -> str:
    found = _program.amount(argument, value, "time")
    return "none" if found is None else f"{found}ms"
