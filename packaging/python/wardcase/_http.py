# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The service, over HTTP."""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import threading
import urllib.parse
from typing import Any, Dict, Iterator, Optional

from wardcase._program import Program
from wardcase.errors import ConnectionLost, InvalidArgument, NotSupported, RequestRefused, ServiceBusy, Unavailable

# A stream that has nothing to tell has a ping every 15 seconds.
_PATIENCE_SECONDS = 60.0


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """On the Unix socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _checked(token: str) -> str:
    # The sentence does not show it: it may end in a log.
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidArgument("token", "is none; give what `wardcase token create` has printed")
    return token


def _token_of_file() -> Optional[str]:
    path = os.environ.get("WARDCASE_TOKEN_FILE")
    if not path:
        return None
    try:
        with open(path, encoding="ascii") as file:
            return _checked(file.read().strip())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it holds no token"
        raise InvalidArgument("token", f"WARDCASE_TOKEN_FILE {path!r} can't be read: {why}") from None


class HttpDoor:
    """Reaches wardcase by its service: `unix:PATH` or `http://127.0.0.1:PORT`."""

    def __init__(self, host: str, token: Optional[str] = None) -> None:
        self.host = host
        self._token = _checked(token) if token is not None else _token_of_file()
        self._path: Optional[str] = None
        if host.startswith("unix:"):
            self._path = host[len("unix:") :]
            self._path = self._path[2:] if self._path.startswith("///") else self._path
            if not self._path.startswith("/"):
                raise InvalidArgument("host", f"{host!r}: write unix:/PATH, the whole path of the socket")
            return
        parts = urllib.parse.urlsplit(host)
        try:
            self._name, self._port = parts.hostname, parts.port or 80
        except ValueError:
            self._name = None
        if parts.scheme != "http" or not self._name or parts.path not in ("", "/") or parts.query or parts.username:
            raise InvalidArgument("host", f"{host!r}: write unix:/PATH or http://127.0.0.1:PORT")

    def connect(self) -> http.client.HTTPConnection:
        """A connection of its own for each request: to hang up is to stop."""
        if self._path is not None:
            return _UnixConnection(self._path, _PATIENCE_SECONDS)
        return http.client.HTTPConnection(str(self._name), self._port, timeout=_PATIENCE_SECONDS)

    def headers(self, more: Dict[str, str]) -> Dict[str, str]:
        """Those of each request, which tell who asks, and `more`."""
        return more if self._token is None else {"Authorization": f"Bearer {self._token}", **more}

    def start(self, program: Program) -> HttpRun:
        """Starts a run of a program."""
        return HttpRun(self, request_of(program))

    def start_batch(self, request: Dict[str, Any]) -> HttpRun:
        """Starts a batch, by the body of its request."""
        return HttpRun(self, request, "/v1/batches")

    def ask(self, method: str, path: str, body: Optional[bytes] = None) -> bytes:
        """One request that is answered with a body as a whole."""
        connection = self.connect()
        try:
            kind = {} if method == "PUT" else {"Content-Type": "application/json"}
            connection.request(method, path, body, self.headers(kind))
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(f"the service at {self.host} can't be reached: {error}") from error
        finally:
            connection.close()
        if answer.status >= 400:
            raise _problem(answer.status, content, answer.getheader("Retry-After"))
        return content

    def check(self, program: Program) -> Any:
        """Looks at nothing: the service does that only before it runs something."""
        raise NotSupported(
            "check: the service looks at the syntax of what it runs (validate=True), and of nothing else"
        )


class HttpRun:
    """One request whose answer is a stream of events."""

    def __init__(
        self,
        door: HttpDoor,
        request: Dict[str, Any],
        path: str = "/v1/runs",
        hand_back_after: Optional[float] = None,
    ) -> None:
        """With `hand_back_after` the stream ends so many seconds after the start, while the program,
        which has to be detached, goes on."""
        self._door = door
        self._hand_back_after = hand_back_after
        self._handed_back = False
        self._timer: Optional[threading.Timer] = None
        self._place: Optional[str] = None
        self._abandoned = False
        self._connection = door.connect()
        try:
            self._answer = self._ask(path, request)
        except BaseException:
            self._connection.close()
            raise

    def _ask(self, path: str, request: Dict[str, Any]) -> http.client.HTTPResponse:
        headers = self._door.headers({"Accept": "application/x-ndjson", "Content-Type": "application/json"})
        try:
            self._connection.request("POST", path, json.dumps(request).encode(), headers)
            # Its answer may close the connection, which the socket's own name outlives.
            self._socket = self._connection.sock
            answer = self._connection.getresponse()
            if answer.status != 200:
                raise _problem(answer.status, answer.read(), answer.getheader("Retry-After"))
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(f"the service at {self._door.host} can't be reached: {error}") from error
        self._place = answer.getheader("Content-Location")
        return answer

    def events(self) -> Iterator[Dict[str, Any]]:
        """Until the last one, which has the record or the summary."""
        told = {"stdout": "", "stderr": ""}
        try:
            for line in self._answer:
                event = json.loads(line)
                if event["type"] == "ping":
                    continue
                if event["type"] == "error":
                    raise RequestRefused(event.get("message", "it was refused"), event.get("code", "refused"))
                yield event
                if event["type"] in ("exit", "batch"):
                    return
                if event["type"] == "start" and self._hand_back_after is not None:
                    self._timer = threading.Timer(self._hand_back_after, self._hand_back)
                    self._timer.start()
                if event["type"] in told:
                    told[event["type"]] += event.get("data", "")
            if self._handed_back:
                yield self._record_so_far(told)
                return
        except (OSError, ValueError, http.client.HTTPException) as error:
            if self._handed_back:
                yield self._record_so_far(told)
                return
            why = "it was given up" if self._abandoned else str(error)
            raise ConnectionLost(f"the service at {self._door.host} told no end of the run: {why}") from error
        raise ConnectionLost(f"the service at {self._door.host} hung up before the end of the run")

    def _hand_back(self) -> None:
        self._handed_back = True
        self.abandon()

    def _record_so_far(self, told: Dict[str, str]) -> Dict[str, Any]:
        record: Dict[str, Any] = json.loads(self._door.ask("GET", str(self._place)))
        if record["status"] == "running":
            record.update(told, output=told["stdout"] + told["stderr"])
        return {"type": "exit", **record}

    def stop(self) -> None:
        """From any thread: the program ends by its grace, and the stream by its record."""
        if self._place is None:
            self.abandon()
            return
        connection = self._door.connect()
        try:
            connection.request("DELETE", self._place, headers=self._door.headers({"Prefer": "respond-async"}))
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            self.abandon()
        finally:
            connection.close()

    def abandon(self) -> None:
        """From any thread: hangs up, which stops the program; the stream ends at once."""
        self._abandoned = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It has hung up by itself.

    def close(self) -> None:
        """Hangs up, if that was not done."""
        if self._timer is not None:
            self._timer.cancel()
        self.abandon()
        self._answer.close()
        self._connection.close()


def _problem(status: int, body: bytes, retry_after: Optional[str]) -> Exception:
    try:
        problem = json.loads(body)
        detail, code = str(problem["detail"]), str(problem["code"])
    except (ValueError, KeyError, TypeError):
        return Unavailable(f"who answers there is no wardcase: status {status}")
    if problem.get("retryable"):
        seconds = float(retry_after) if retry_after and retry_after.isdigit() else 1.0
        return ServiceBusy(detail, code, seconds)
    return RequestRefused(detail, code, problem.get("field"))


def text_of(argument: str, content: bytes) -> str:
    """What the service is sent of it where it takes text alone."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgument(argument, f"is not UTF-8 at byte {error.start}; the service takes text") from None


def request_of(program: Program) -> Dict[str, Any]:
    """The body of a request for it."""
    for name in ("workspace", "volumes", "out", "interpreter"):
        if getattr(program, name):
            raise NotSupported(f"{name}: the service takes no paths of the host; use files, or the command")
    made: Dict[str, Any] = {
        "language": program.language,
        "argv": program.argv,
        "args": program.args,
        "env": program.env,
        "limits": program.limits,
        "network": program.network,
        "policy": program.policy,
        "cwd": program.workdir,
        "requirements": program.requirements,
        "merge_stderr": program.merge_stderr,
        "base64": program.base64,
        "validate": program.validate,
        "encoding_fallback": program.encoding_fallback,
        "allow_syscalls": program.allow_syscalls,
        "files": {name: {"base64": base64_of(content)} for name, content in program.files.items()},
    }
    made = {name: value for name, value in made.items() if value}
    if program.code is not None:
        made["code"] = text_of("code", program.code)
    if program.prelude is not None:
        made["prelude"] = text_of("prelude", program.prelude)
    if program.stdin is not None:
        made["stdin_base64"] = base64_of(program.stdin)
    return made


def base64_of(content: bytes) -> str:
    """As text."""
    return base64.b64encode(content).decode("ascii")
