# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Sessions of the service."""

from __future__ import annotations

import base64
import json
import urllib.parse
from typing import Any, Dict, List, Optional

from wardcase import _program
from wardcase._http import HttpDoor, HttpRun, request_of
from wardcase.errors import InvalidArgument, NotSupported, RequestRefused

# Limits that each program has for itself; the others are of the box.
_OF_PROGRAMS = ("timeout_ms", "cpu_time_ms", "idle_timeout_ms", "grace_ms", "capture_bytes", "output_bytes")
_OF_SESSION = ("env", "policy", "network", "allow_syscalls", "prelude")
_OF_PROGRAM = ("code", "language", "stdin_base64", "files", "base64", "requirements", "validate")


class HttpSession:
    """What a Session asks for, by the service."""

    def __init__(self, door: HttpDoor, session_id: str) -> None:
        self._door = door
        self.id = session_id
        self._place = f"/v1/sessions/{session_id}"

    @classmethod
    def make(
        cls,
        door: HttpDoor,
        made: _program.Program,
        *,
        session_id: Optional[str],
        ttl: Optional[_program.Amount],
        idle_ttl: Optional[_program.Amount],
    ) -> HttpSession:
        """A new one."""
        asked = request_of(made)
        del asked["code"]
        if session_id is not None:
            asked["id"] = session_id
        if ttl is not None:
            asked["ttl_ms"] = _program.amount("ttl", ttl, "time")
        if idle_ttl is not None:
            asked["idle_ttl_ms"] = _program.amount("idle_ttl", idle_ttl, "time")
        return cls(door, json.loads(door.ask("POST", "/v1/sessions", json.dumps(asked).encode()))["id"])

    @classmethod
    def find_or_make(cls, door: HttpDoor, session_id: str, program: _program.Program) -> HttpSession:
        """The one of that id; a new one has the box that the program asks for."""
        asked = request_of(program)
        wanted = {name: asked[name] for name in (*_OF_SESSION, "language") if name in asked}
        limits = {name: value for name, value in program.limits.items() if name not in _OF_PROGRAMS}
        try:
            door.ask("POST", "/v1/sessions", json.dumps({**wanted, "limits": limits, "id": session_id}).encode())
        except RequestRefused as error:
            if error.code != "session_exists":
                raise
        return cls(door, session_id)

    def begin(
        self, program: _program.Program, *, interactive: bool = False, yield_after: Optional[_program.Amount] = None
    ) -> HttpRun:
        """Starts a program in it."""
        if program.out:
            raise NotSupported("out: the service takes no paths of the host; get() reads a file")
        asked = request_of(program)
        asked = {name: asked[name] for name in _OF_PROGRAM if name in asked}
        limits = {name: value for name, value in program.limits.items() if name in _OF_PROGRAMS}
        asked.update({"limits": limits, "open_stdin": True} if interactive else {"limits": limits})
        seconds = None
        if yield_after is not None:
            found = _program.amount("yield_after", yield_after, "time")
            seconds = None if found is None else found / 1000
            asked["detach"] = True
        return HttpRun(self._door, asked, f"{self._place}/exec", hand_back_after=seconds)

    def order(self, what: str) -> None:
        """interrupt or reset."""
        self._door.ask("POST", f"{self._place}/{what}", b"")

    def input(self, data: bytes, eof: bool) -> None:
        """What the program reads."""
        asked = {"data_base64": base64.b64encode(data).decode("ascii"), "eof": eof}
        self._door.ask("POST", f"{self._place}/input", json.dumps(asked).encode())

    def extend(self, ttl: _program.Amount) -> None:
        """From now on."""
        found = _program.amount("ttl", ttl, "time")
        if found is None:
            raise InvalidArgument("ttl", "a session has an end; write seconds, or '1h'")
        self._door.ask("PATCH", self._place, json.dumps({"ttl_ms": found}).encode())

    def put(self, name: str, content: bytes) -> None:
        """Writes a file."""
        self._door.ask("PUT", self._file(name), content)

    def get(self, name: str) -> bytes:
        """Reads one."""
        return self._door.ask("GET", self._file(name))

    def list(self, directory: str) -> List[Dict[str, Any]]:
        """What is in a directory."""
        place = f"{self._place}/files" if directory in ("", ".") else f"{self._file(directory)}?list"
        found: List[Dict[str, Any]] = json.loads(self._door.ask("GET", place))["entries"]
        return found

    def close(self) -> None:
        """Ends it."""
        try:
            self._door.ask("DELETE", self._place)
        except RequestRefused as error:
            if error.code != "no_such_session":
                raise

    def _file(self, name: str) -> str:
        return f"{self._place}/files/{urllib.parse.quote(name)}"
