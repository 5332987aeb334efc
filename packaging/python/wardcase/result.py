# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The record of a run."""

from __future__ import annotations

import base64
import dataclasses
import re
import signal as signals
from typing import Any, Dict, List, Mapping, Optional

from wardcase import errors

# Exit codes of the command line that the status alone decides.
_EXIT_CODES = {
    "timeout": 124,
    "cpu_time": 124,
    "idle": 124,
    "output_limit": 124,
    "disk_limit": 124,
    "oom": 137,
    "denied": 159,
    "stopped": 143,
    "syntax_error": 1,
    "compile_failed": 1,
    "running": 0,
}


@dataclasses.dataclass(frozen=True)
class Result:
    """How a run ended, and what it wrote; the members mean what wardcase(1) says of its record.

    `raw` is the record as it came, with members that this version of the package does not know.
    """

    id: str
    status: str
    success: bool
    session_id: Optional[str] = None
    language: Optional[str] = None
    exit_code: Optional[int] = None
    signal: Optional[str] = None
    unkillable: bool = False
    session_ended: bool = False
    session_restarted: bool = False
    stdout: str = ""
    stderr: str = ""
    output: str = dataclasses.field(default="", repr=False)
    stdout_base64: Optional[str] = dataclasses.field(default=None, repr=False)
    stderr_base64: Optional[str] = dataclasses.field(default=None, repr=False)
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    encoding_errors: int = 0
    duration_ms: int = 0
    cpu_ms: Optional[int] = None
    setup_ms: int = 0
    queued_ms: int = 0
    memory_peak_bytes: Optional[int] = None
    oom_kills: Optional[int] = None
    processes_peak: Optional[int] = None
    leftover_processes: int = 0
    limits: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    limits_hit: List[str] = dataclasses.field(default_factory=list)
    enforced_by: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    isolation: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    denied_syscalls: Optional[List[Dict[str, Any]]] = None
    error_type: Optional[str] = None
    error_message: Optional[str] = None
    traceback: Optional[str] = dataclasses.field(default=None, repr=False)
    result: Optional[Dict[str, Any]] = None
    artifacts: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    compile: Optional[Dict[str, Any]] = dataclasses.field(default=None, repr=False)
    install: Optional[Dict[str, Any]] = dataclasses.field(default=None, repr=False)
    start: Optional[str] = None
    error: str = ""
    hint: str = ""
    raw: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Result:
        """Of a record, or of the `exit` event that carries one."""
        raw = {name: value for name, value in record.items() if name not in ("seq", "type")}
        known = {field.name for field in dataclasses.fields(cls)} - {"raw"}
        return cls(**{name: value for name, value in raw.items() if name in known}, raw=raw)

    @property
    def stdout_data(self) -> bytes:
        """What is kept of stdout; exact if the run had `base64=True`."""
        return _data(self.stdout_base64, self.stdout)

    @property
    def stderr_data(self) -> bytes:
        """The same of stderr."""
        return _data(self.stderr_base64, self.stderr)

    @property
    def command_exit_code(self) -> int:
        """The exit code of the command line for this record."""
        if self.status == "exited" and self.exit_code is not None:
            return self.exit_code
        if self.status == "signaled":
            return 128 + _signal_number(self.signal or "")
        if self.status == "cannot_execute":
            return 127 if "was not found" in self.error else 126
        return _EXIT_CODES.get(self.status, 125)

    def raise_for_status(self) -> Result:
        """Raises the error of the status (wardcase.errors) unless the run succeeded."""
        if self.success:
            return self
        raise errors.BY_STATUS.get(self.status, errors.RunError)(self)


def _data(encoded: Optional[str], text: str) -> bytes:
    return text.encode("utf-8") if encoded is None else base64.b64decode(encoded)


def _signal_number(name: str) -> int:
    real_time = re.fullmatch(r"SIGRTMIN\+(\d+)", name)
    if real_time:
        return int(signals.SIGRTMIN) + int(real_time.group(1))
    found = signals.Signals.__members__.get(name)
    return int(found) if found is not None else 0
