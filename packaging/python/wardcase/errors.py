# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""What can go wrong: one class for each way a run ends, and a few for those that never began."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Optional, Type

if TYPE_CHECKING:
    from wardcase.result import Result


class WardcaseError(Exception):
    """Whatever this package raises."""


class InvalidArgument(WardcaseError, ValueError):
    """An argument can't be used; `argument` is its name."""

    def __init__(self, argument: str, why: str) -> None:
        super().__init__(f"{argument}: {why}")
        self.argument = argument


class Unavailable(WardcaseError):
    """Neither the command nor the service could be reached."""


class NotSupported(WardcaseError, NotImplementedError):
    """The way in which wardcase is reached does not offer this."""


class RequestRefused(WardcaseError):
    """wardcase refused the request, and nothing ran.

    `code` is that of the service's list (wardcased(8)), or "refused" of the command; `field` is
    the member of the request, where it is known.
    """

    def __init__(self, message: str, code: str = "refused", field: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.field = field


class ServiceBusy(RequestRefused):
    """The service can't take the run now; try again after `retry_after` seconds."""

    def __init__(self, message: str, code: str, retry_after: float) -> None:
        super().__init__(message, code)
        self.retry_after = retry_after


class ConnectionLost(WardcaseError):
    """What ran the program went away before it told how that ended."""


class RunError(WardcaseError):
    """A run did not succeed; `result` has all that is known of it."""

    def __init__(self, result: Result) -> None:
        super().__init__(_sentence(result))
        self.result = result


class ProgramFailed(RunError):
    """It ended by itself, with another exit code than 0."""


class ProgramSignaled(RunError):
    """A signal that no limit explains ended it."""


class RunTimeout(RunError, TimeoutError):
    """The wall time was over."""


class CpuTimeExceeded(RunTimeout):
    """The processor time was over."""


class IdleTimeout(RunTimeout):
    """It wrote nothing for too long."""


class OutOfMemory(RunError):
    """The memory of its box was spent."""


class OutputLimitReached(RunError):
    """It wrote too much."""


class DiskLimitReached(RunError):
    """A file became too large, or a writable mount too full."""


class CallDenied(RunError):
    """It made a system call that the policy answers by ending the run."""


class RunStopped(RunError):
    """It was stopped from outside."""


class SetupFailed(RunError):
    """The box could not be made; nothing ran."""


class CannotExecute(RunError):
    """The program was not found, or can't be executed."""


class InvalidRequest(RunError):
    """What was asked for can't be; nothing ran."""


class ProgramSyntaxError(RunError):
    """The syntax is wrong; nothing of the program ran."""


class CompileFailed(RunError):
    """It does not compile; nothing of the program ran."""


class InstallFailed(RunError):
    """A requirement could not be installed; nothing of the program ran."""


class StillRunning(RunError):
    """It goes on, in its session."""


class RunLost(RunError):
    """wardcase itself failed before the end was known."""


BY_STATUS: Dict[str, Type[RunError]] = {
    "exited": ProgramFailed,
    "signaled": ProgramSignaled,
    "timeout": RunTimeout,
    "cpu_time": CpuTimeExceeded,
    "idle": IdleTimeout,
    "oom": OutOfMemory,
    "output_limit": OutputLimitReached,
    "disk_limit": DiskLimitReached,
    "denied": CallDenied,
    "stopped": RunStopped,
    "setup_failed": SetupFailed,
    "cannot_execute": CannotExecute,
    "invalid_request": InvalidRequest,
    "syntax_error": ProgramSyntaxError,
    "compile_failed": CompileFailed,
    "install_failed": InstallFailed,
    "running": StillRunning,
    "lost": RunLost,
}


def _sentence(result: Result) -> str:
    said = result.error or result.error_message or ""
    if not said and result.exit_code is not None:
        said = f"exit code {result.exit_code}"
    words = result.stderr.strip().splitlines()
    if result.status == "exited" and not result.error and words:
        said += f" ({words[-1][:200]})"
    return f"{result.status}: {said}" + (f"; {result.hint}" if result.hint else "")
