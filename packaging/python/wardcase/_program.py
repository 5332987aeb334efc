# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""What a caller asks for, looked at before anything is done."""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from wardcase.errors import InvalidArgument

Content = Union[str, bytes, "os.PathLike[str]"]
Path = Union[str, "os.PathLike[str]"]
Amount = Union[int, float, str]


class Limits(TypedDict, total=False):
    """Seconds or bytes as numbers, or as text such as '500ms' and '64m'; 'none' for no limit."""

    timeout: Optional[Amount]
    cpu_time: Optional[Amount]
    idle_timeout: Optional[Amount]
    grace: Optional[Amount]
    memory: Optional[Amount]
    pids: Optional[Amount]
    cpus: Optional[Amount]
    disk: Optional[Amount]
    file_size: Optional[Amount]
    open_files: Optional[Amount]
    capture: Optional[Amount]
    output: Optional[Amount]


class Arguments(Limits, total=False):
    """What Client.run takes besides code and language, for those who check types."""

    argv: Optional[Sequence[str]]
    args: Optional[Sequence[str]]
    stdin: Optional[Content]
    files: Optional[Mapping[str, Content]]
    env: Optional[Mapping[str, str]]
    requirements: Optional[Sequence[str]]
    prelude: Union[str, bytes, None]
    validate: bool
    network: Optional[str]
    policy: Optional[str]
    workdir: Optional[str]
    merge_stderr: bool
    base64: bool
    encoding_fallback: Optional[str]
    allow_syscalls: Optional[Sequence[str]]
    workspace: Optional[Path]
    volumes: Optional[Sequence[str]]
    out: Optional[Path]
    interpreter: Optional[Path]


class SessionArguments(Limits, total=False):
    """What Client.session takes besides the language."""

    id: Optional[str]
    ttl: Optional[Amount]
    idle_ttl: Optional[Amount]
    requirements: Optional[Sequence[str]]
    prelude: Union[str, bytes, None]
    env: Optional[Mapping[str, str]]
    volumes: Optional[Sequence[str]]
    network: Optional[str]
    policy: Optional[str]
    allow_syscalls: Optional[Sequence[str]]


class ExecArguments(TypedDict, total=False):
    """What Session.run takes besides code and language."""

    stdin: Optional[Content]
    files: Optional[Mapping[str, Content]]
    requirements: Optional[Sequence[str]]
    validate: bool
    interactive: bool
    yield_after: Optional[Amount]
    base64: bool
    out: Optional[Path]
    timeout: Optional[Amount]
    cpu_time: Optional[Amount]
    idle_timeout: Optional[Amount]
    grace: Optional[Amount]
    capture: Optional[Amount]
    output: Optional[Amount]


# A limit by its name here: its name in records, the option of the command, and its unit.
LIMITS: Dict[str, Tuple[str, str, str]] = {
    "timeout": ("timeout_ms", "--timeout", "time"),
    "cpu_time": ("cpu_time_ms", "--cpu-time", "time"),
    "idle_timeout": ("idle_timeout_ms", "--idle-timeout", "time"),
    "grace": ("grace_ms", "--grace", "time"),
    "memory": ("memory_bytes", "--memory", "size"),
    "pids": ("pids", "--pids", "count"),
    "cpus": ("cpus", "--cpus", "number"),
    "disk": ("disk_bytes", "--disk", "size"),
    "file_size": ("file_size_bytes", "--file-size", "size"),
    "open_files": ("open_files", "--open-files", "count"),
    "capture": ("capture_bytes", "--capture-limit", "size"),
    "output": ("output_bytes", "--output-limit", "size"),
}
_MILLISECONDS = {"ms": 1, "": 1000, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
# Whole numbers beyond it are not exact in JSON.
_MOST = 1 << 53
_EXAMPLES = {
    "time": "seconds such as 2.5, or '500ms', '10s', '2m'",
    "size": "bytes, or '64k', '64m', '1GiB'",
    "count": "a whole number above 0",
    "number": "a number above 0",
}


@dataclasses.dataclass
class Program:
    """One run, with everything in the form in which it is sent."""

    code: Optional[bytes] = None
    language: Optional[str] = None
    argv: List[str] = dataclasses.field(default_factory=list)
    args: List[str] = dataclasses.field(default_factory=list)
    stdin: Optional[bytes] = None
    files: Dict[str, bytes] = dataclasses.field(default_factory=dict)
    env: Dict[str, str] = dataclasses.field(default_factory=dict)
    # By the names of records; None is no limit.
    limits: Dict[str, Optional[float]] = dataclasses.field(default_factory=dict)
    requirements: List[str] = dataclasses.field(default_factory=list)
    prelude: Optional[bytes] = None
    validate: bool = False
    network: Optional[str] = None
    policy: Optional[str] = None
    workdir: Optional[str] = None
    merge_stderr: bool = False
    base64: bool = False
    encoding_fallback: Optional[str] = None
    allow_syscalls: List[str] = dataclasses.field(default_factory=list)
    # Of the host, and so of the command alone.
    workspace: Optional[str] = None
    volumes: List[str] = dataclasses.field(default_factory=list)
    out: Optional[str] = None
    interpreter: Optional[str] = None


def program(
    code: Union[str, bytes, None] = None,
    language: Optional[str] = None,
    *,
    argv: Optional[Sequence[str]] = None,
    args: Optional[Sequence[str]] = None,
    stdin: Optional[Content] = None,
    files: Optional[Mapping[str, Content]] = None,
    env: Optional[Mapping[str, str]] = None,
    requirements: Optional[Sequence[str]] = None,
    prelude: Union[str, bytes, None] = None,
    validate: bool = False,
    network: Optional[str] = None,
    policy: Optional[str] = None,
    workdir: Optional[str] = None,
    merge_stderr: bool = False,
    base64: bool = False,
    encoding_fallback: Optional[str] = None,
    allow_syscalls: Optional[Sequence[str]] = None,
    workspace: Optional[Path] = None,
    volumes: Optional[Sequence[str]] = None,
    out: Optional[Path] = None,
    interpreter: Optional[Path] = None,
    **limits: Optional[Amount],
) -> Program:
    """Of the arguments of Client.run; the first that can't be used is an InvalidArgument."""
    made = Program(
        code=None if code is None else text_or_bytes("code", code),
        language=word("language", language),
        argv=words("argv", argv),
        args=words("args", args),
        stdin=None if stdin is None else content("stdin", stdin),
        files=contents(files),
        env=variables(env),
        limits=_limits(limits),
        requirements=words("requirements", requirements),
        prelude=None if prelude is None else text_or_bytes("prelude", prelude),
        validate=_switch("validate", validate),
        network=word("network", network),
        policy=word("policy", policy),
        workdir=word("workdir", workdir),
        merge_stderr=_switch("merge_stderr", merge_stderr),
        base64=_switch("base64", base64),
        encoding_fallback=word("encoding_fallback", encoding_fallback),
        allow_syscalls=words("allow_syscalls", allow_syscalls),
        workspace=path("workspace", workspace),
        volumes=words("volumes", volumes),
        out=path("out", out),
        interpreter=path("interpreter", interpreter),
    )
    if made.code is None and not made.argv:
        raise InvalidArgument("code", "give code with its language, or argv")
    if made.code is not None and made.argv:
        raise InvalidArgument("argv", "give code or argv, not both")
    if made.argv:
        for name in ("language", "args", "validate", "prelude", "requirements"):
            if getattr(made, name):
                raise InvalidArgument(name, "is of code, and argv is no code")
    elif made.language is None:
        made.language = "python"
    if made.network not in (None, "none", "host"):
        raise InvalidArgument("network", f"{network!r} is neither 'none' nor 'host'")
    return made


def amount(argument: str, value: Amount, unit: str) -> Optional[float]:
    """Milliseconds, bytes, or the number itself; None for the word none."""
    if value == "none":
        return None
    found: Optional[float] = None
    if isinstance(value, str) and unit in ("time", "size"):
        found = _parsed(value.strip(), unit)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if unit in ("time", "number") or isinstance(value, int):
            found = value * 1000 if unit == "time" else value
    # Not a number fails this, too.
    if found is None or not 0 < found < _MOST:
        raise InvalidArgument(argument, f"{value!r:.80} can't be used; write {_EXAMPLES[unit]}")
    return found if unit == "number" else max(1, round(found))


def _parsed(text: str, unit: str) -> Optional[float]:
    pattern = r"(\d+(?:\.\d+)?)(ms|s|m|h|d|)" if unit == "time" else r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?"
    match = re.fullmatch(pattern, text if unit == "time" else text.lower(), re.ASCII)
    if match is None:
        return None
    return float(match.group(1)) * (_MILLISECONDS if unit == "time" else _BYTES)[match.group(2)]


def _limits(given: Mapping[str, Optional[Amount]]) -> Dict[str, Optional[float]]:
    made = {}
    for name, value in given.items():
        if name not in LIMITS:
            known = ", ".join(LIMITS)
            raise InvalidArgument(name, f"is not known; limits are {known}")
        if value is not None:
            key, _, unit = LIMITS[name]
            made[key] = amount(name, value, unit)
    return made


def text_bytes(argument: str, value: str) -> bytes:
    """In UTF-8. Half of a surrogate pair is no text, and would become something else on the way."""
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        why = f"has a lone surrogate (U+{ord(value[error.start]):04X}) at index {error.start}, which is no text"
        raise InvalidArgument(argument, why) from None


def text_or_bytes(argument: str, value: Any) -> bytes:
    """As bytes."""
    if isinstance(value, str):
        return text_bytes(argument, value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise InvalidArgument(argument, f"is of type {type(value).__name__}; give str or bytes")


def content(argument: str, value: Any) -> bytes:
    """Bytes of text, bytes or a path. That is read here, with the rights of the caller."""
    if not isinstance(value, os.PathLike):
        return text_or_bytes(argument, value)
    try:
        with open(value, "rb") as file:
            return file.read()
    except OSError as error:
        raise InvalidArgument(argument, f"{os.fspath(value)!r} can't be read: {error.strerror}") from error


def word(argument: str, value: Any) -> Optional[str]:
    """A word of a command line: text without a zero byte. None is not given."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidArgument(argument, f"is of type {type(value).__name__}; give a str")
    text_bytes(argument, value)
    if "\0" in value:
        raise InvalidArgument(argument, "a zero byte can't be part of it")
    return value


def words(argument: str, values: Any) -> List[str]:
    """Words as a list; none of them is a string alone, whose letters would be meant."""
    if values is None:
        return []
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise InvalidArgument(argument, f"is of type {type(values).__name__}; give a list of strings")
    found = []
    for index, value in enumerate(values):
        each = word(f"{argument}[{index}]", value)
        if each is None:
            raise InvalidArgument(f"{argument}[{index}]", "is None; give a str")
        found.append(each)
    return found


def _switch(argument: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidArgument(argument, f"{value!r} is neither True nor False")


def path(argument: str, value: Any) -> Optional[str]:
    """A path of the host."""
    return word(argument, os.fspath(value) if isinstance(value, os.PathLike) else value)


def _mapping(argument: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidArgument(argument, f"is of type {type(value).__name__}; give a dict")
    for name in value:
        if not word(argument, name):
            raise InvalidArgument(argument, f"{name!r} is no name")
    return value


def contents(given: Any) -> Dict[str, bytes]:
    """Of files, by their names."""
    return {name: content(f"files[{name!r}]", value) for name, value in _mapping("files", given).items()}


def variables(given: Any) -> Dict[str, str]:
    """Of an environment."""
    made = {}
    for name, value in _mapping("env", given).items():
        if "=" in name:
            raise InvalidArgument("env", f"{name!r} is no name of a variable")
        found = word(f"env[{name!r}]", value)
        if found is None:
            raise InvalidArgument(f"env[{name!r}]", "is None; give a str")
        made[name] = found
    return made
