# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Runs by the command `wardcase`.

What a caller gives reaches it through descriptors, and never as words of a command line, which
every user of the host can read.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from typing import IO, Any, Callable, Dict, Iterator, List, Optional, Sequence

from wardcase._program import LIMITS, Program
from wardcase.errors import ConnectionLost, InvalidArgument, RequestRefused, Unavailable

# What wardcase itself, its companion or the loader reads of its environment.
_OUR_VARIABLES = re.compile(
    r"(WARDCASE|XDG|LD|LC|DBUS|MALLOC|GLIBC|NOTIFY|LISTEN|SYSTEMD)_.*|HOME|PATH|LANG|USER|TERM|TMPDIR|SHELL"
)
_STOPPED_EARLY = {
    "seq": 1,
    "type": "exit",
    "schema_version": 1,
    "id": "",
    "status": "stopped",
    "success": False,
    "signal": "SIGTERM",
    "error": "stopped by SIGTERM before it began",
}
_OPTION_OF_KEY = {key: option for key, option, _ in LIMITS.values()}


def find_command(binary: Optional[str] = None) -> str:
    """The one that is given, WARDCASE_BINARY, or the first in PATH."""
    wanted = binary or os.environ.get("WARDCASE_BINARY") or "wardcase"
    found = shutil.which(wanted)
    if found is None:
        raise Unavailable(
            f"the command {wanted!r} was not found: install wardcase, set WARDCASE_BINARY to where it is, "
            "or WARDCASE_HOST to where its service listens"
        )
    return found


class HeldFiles:
    """Contents that a command reads by the names of descriptors. Nothing of them is on a disk."""

    def __init__(self) -> None:
        self._files: List[IO[bytes]] = []

    def hold(self, content: bytes) -> str:
        """The name under which the command finds it."""
        return f"/dev/fd/{self.open(content).fileno()}"

    def open(self, content: bytes) -> IO[bytes]:
        """The same as a file that is at its beginning."""
        file = _nameless_file()
        self._files.append(file)
        # What is made of it in a box gets this mode. It has no name by which others could open it.
        os.fchmod(file.fileno(), 0o644)
        file.write(content)
        file.flush()
        file.seek(0)
        return file

    def descriptors(self) -> List[int]:
        """Those that the command has to inherit."""
        return [file.fileno() for file in self._files]

    def close(self) -> None:
        """Of our side; the command keeps its own."""
        for file in self._files:
            file.close()
        self._files.clear()


def _nameless_file() -> IO[bytes]:
    try:
        return os.fdopen(os.memfd_create("wardcase", os.MFD_CLOEXEC), "w+b")
    except (AttributeError, OSError):
        return tempfile.TemporaryFile()


def run_words(program: Program, held: HeldFiles) -> List[str]:
    """The words of `wardcase run` or `exec` for a program, but the code."""
    words = [f"{_OPTION_OF_KEY[key]}={_amount_word(key, value)}" for key, value in program.limits.items()]
    given = {
        "--language": program.language,
        "--network": program.network,
        "--policy": program.policy,
        "--workdir": program.workdir,
        "--encoding-fallback": program.encoding_fallback,
        "--interpreter": program.interpreter,
        "--out": program.out,
        "--workspace": program.workspace and _workspace_word(program.workspace),
        "--allow-syscalls": ",".join(program.allow_syscalls) or None,
        "--stdin": None if program.stdin is None else held.hold(program.stdin),
        "--prelude": None if program.prelude is None else held.hold(program.prelude),
    }
    words += [f"{option}={value}" for option, value in given.items() if value is not None]
    words += [f"--requirement={requirement}" for requirement in program.requirements]
    words += [f"--volume={volume}" for volume in program.volumes]
    words += file_words(program.files, held)
    words += ["--merge-stderr"] if program.merge_stderr else []
    words += ["--base64"] if program.base64 else []
    return words


def file_words(files: Dict[str, bytes], held: HeldFiles) -> List[str]:
    """The options that put files into a box."""
    for name in files:
        if "=" in name:
            raise InvalidArgument("files", f"the command can't take the name {name!r}: '=' ends a name there")
    return [f"--file={name}={held.hold(content)}" for name, content in files.items()]


def env_words(env: Dict[str, str], held: HeldFiles, environment: Dict[str, str]) -> List[str]:
    """Variables go through a file of lines; what has line breaks goes by way of `environment`,
    that of the command, which only its user can read."""
    lines = []
    words = []
    for name, value in env.items():
        if not re.search(r"[\r\n]", name + value) and re.match(r"[^#\s]", name):
            lines.append(f"{name}={value}\n")
            continue
        if re.search(r"\s", name) or name.startswith("#") or _OUR_VARIABLES.fullmatch(name):
            raise InvalidArgument("env", f"the command can't take {name!r} with this value")
        environment[name] = value
        words.append(f"--env={name}")
    if lines:
        words.append(f"--env-file={held.hold(''.join(lines).encode())}")
    return words


def _amount_word(key: str, value: Optional[float]) -> str:
    if value is None:
        return "none"
    return f"{value}ms" if key.endswith("_ms") else str(value)


def _workspace_word(workspace: str) -> str:
    return workspace if workspace.endswith((":ro", ":rw")) else f"{workspace}:ro"


class CommandRun:
    """One process of the command that tells events on its stdout."""

    def __init__(
        self, words: Sequence[str], stdin: Optional[IO[bytes]], descriptors: Sequence[int], environment: Dict[str, str]
    ) -> None:
        self._said = tempfile.TemporaryFile()
        self._stopped = False
        self._ended = False
        try:
            self._process = subprocess.Popen(
                list(words),
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=subprocess.PIPE,
                stderr=self._said,
                pass_fds=descriptors,
                env=environment,
            )
        except OSError as error:
            self._said.close()
            raise Unavailable(f"{words[0]!r} can't be started: {error.strerror}") from error

    def events(self) -> Iterator[Dict[str, Any]]:
        """Until the last one, which has the record."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
                self._ended = event["type"] == "exit"
            except (ValueError, TypeError, KeyError):
                raise ConnectionLost(f"what the command tells is no event: {line!r:.80}") from None
            yield event
        code = self._process.wait()
        if not self._ended:
            words = self._words()
            if self._stopped and code == -signal.SIGTERM:
                # So early that it had not yet learned to listen.
                yield dict(_STOPPED_EARLY)
                return
            if code == 125:
                raise RequestRefused(words or "it was refused without a word")
            raise ConnectionLost(words or f"wardcase ended with {code}, and without a record")

    def stop(self) -> None:
        """From any thread: the program ends by its grace, a second time at once."""
        self._stopped = True
        if self._process.poll() is None:
            self._process.terminate()

    def abandon(self) -> None:
        """From any thread: the same, but a second time is none."""
        if not self._stopped and not self._ended:
            self.stop()

    def close(self) -> None:
        """Ends what still runs, and waits for that."""
        try:
            self.abandon()
            self._end()
        except BaseException:
            # The user is in a hurry: no grace.
            self.stop()
            self._end()
            raise
        finally:
            self._said.close()

    def _end(self) -> None:
        assert self._process.stdout is not None
        if not self._process.stdout.closed:
            # To close it would end the program by what it still writes, and without its grace.
            while self._process.stdout.read(1 << 16):
                pass
            self._process.stdout.close()
        self._process.wait()

    def _words(self) -> str:
        self._said.seek(0)
        text = self._said.read(1 << 16).decode("utf-8", "replace").strip()
        return re.sub(r"(?m)^wardcase: ", "", text)


def only_end(events: Iterator[Dict[str, Any]]) -> Dict[str, Any]:
    """The last event of a look at the syntax. What that prints is no output of the program."""
    last: Dict[str, Any] = {}
    for last in events:
        pass
    return {**last, "seq": 1, "stdout": "", "stderr": "", "output": "", "stdout_bytes": 0, "stderr_bytes": 0}


class CheckedRun:
    """Two: the first looks at the syntax, and the second, if any, runs where nothing is wrong."""

    def __init__(self, check: Callable[[], CommandRun], run: Optional[Callable[[], CommandRun]]) -> None:
        self._check = check
        self._run = run
        self._current: Optional[CommandRun] = None
        self._stopped = False

    def events(self) -> Iterator[Dict[str, Any]]:
        """Those of the run; of the check only the end, where there is something wrong."""
        current = self._begin(self._check)
        last = only_end(current.events())
        if self._run is None or not last["success"]:
            yield last
            return
        current.close()
        yield from self._begin(self._run).events()

    def _begin(self, part: Callable[[], CommandRun]) -> CommandRun:
        self._current = part()
        # Who stopped us meanwhile may not have seen it.
        if self._stopped:
            self._current.stop()
        return self._current

    def stop(self) -> None:
        """From any thread."""
        self._stopped = True
        if self._current is not None:
            self._current.stop()

    def abandon(self) -> None:
        """From any thread: the same, but a second time is none."""
        self._stopped = True
        if self._current is not None:
            self._current.abandon()

    def close(self) -> None:
        """Ends what still runs, and waits for that."""
        self._stopped = True
        if self._current is not None:
            self._current.close()


class CommandDoor:
    """Reaches wardcase by its command."""

    def __init__(self, binary: Optional[str] = None) -> None:
        self.command = find_command(binary)

    def start(self, program: Program) -> Any:
        """Starts a run of a program."""
        return self.begin(["run"], program)

    def check(self, program: Program) -> Any:
        """Looks at its syntax, and executes nothing of it."""
        if program.code is None:
            raise InvalidArgument("code", "is missing; a command has no syntax")
        return CheckedRun(lambda: self._look(["run"], program), None)

    def begin(self, verb: List[str], program: Program) -> Any:
        """Starts a program by these words, after a look at its syntax where that is wanted."""
        if not program.validate:
            return self._begin(verb, program)
        return CheckedRun(lambda: self._look(verb, program), lambda: self._begin(verb, program))

    def _look(self, verb: List[str], program: Program) -> CommandRun:
        language = [] if program.language is None else [f"--language={program.language}"]
        return self.spawn([*verb, "--events", "--validate", *language, "-"], HeldFiles(), program.code)

    def _begin(self, verb: List[str], program: Program) -> CommandRun:
        held = HeldFiles()
        environment = dict(os.environ)
        words = [*verb, "--events"]
        stdin = program.code
        try:
            last = ["--", *program.argv] if program.code is None else ["-", *program.args]
            if verb[0] == "exec" and program.code is not None and program.stdin is not None:
                # A program of a session reads our stdin, and so its code comes another way.
                last = ["--interactive", held.hold(program.code)]
                stdin = program.stdin
                program = dataclasses.replace(program, stdin=None)
            words += [*run_words(program, held), *env_words(program.env, held, environment), *last]
        except InvalidArgument:
            held.close()
            raise
        return self.spawn(words, held, stdin, environment)

    def spawn(
        self,
        words: Sequence[str],
        held: HeldFiles,
        stdin: Optional[bytes],
        environment: Optional[Dict[str, str]] = None,
    ) -> CommandRun:
        """Starts the command, with these bytes to read, and lets go of what is held."""
        try:
            descriptors = held.descriptors()
            file = None if stdin is None else held.open(stdin)
            return CommandRun(
                [self.command, *words], file, descriptors, dict(os.environ) if environment is None else environment
            )
        finally:
            held.close()

    def ask(
        self, words: Sequence[str], held: Optional[HeldFiles] = None, environment: Optional[Dict[str, str]] = None
    ) -> bytes:
        """Has the command do something that is no run, and gives what it prints."""
        held = held or HeldFiles()
        try:
            done = subprocess.run(
                [self.command, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=held.descriptors(),
                env=environment,
                check=False,
            )
        finally:
            held.close()
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise RequestRefused(re.sub(r"(?m)^wardcase: ", "", said) or f"it ended with {done.returncode}")
        return done.stdout
