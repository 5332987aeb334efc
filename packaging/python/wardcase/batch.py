# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""One program with many cases, judged by the service."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, TypedDict, Union

from wardcase import _http, _program
from wardcase.errors import ConnectionLost, InvalidArgument
from wardcase.result import Result

# exact, trim, tokens or {"type": "float", "abs": 1e-6, "rel": 1e-6}.
Comparator = Union[str, Mapping[str, Any]]


class Case(TypedDict, total=False):
    """What Client.judge takes as one of its cases."""

    stdin: _program.Content
    args: List[str]
    env: Mapping[str, str]
    files: Mapping[str, _program.Content]
    expected_stdout: _program.Content
    comparator: Comparator


@dataclasses.dataclass(frozen=True)
class CaseResult:
    """What became of a case: passed, wrong_answer, run_failed or skipped, as wardcased(8) says."""

    index: int
    verdict: str
    reason: str = ""
    checker_output: Optional[str] = None
    result: Optional[Result] = None

    @property
    def passed(self) -> bool:
        """Whether that is its verdict."""
        return self.verdict == "passed"


@dataclasses.dataclass(frozen=True)
class BatchResult:
    """What became of all cases, in their order. `raw` is the answer as it came, but for them."""

    id: str
    status: str
    passed: int
    total: int
    first_failed: Optional[int]
    cases: List[CaseResult]
    error: str = ""
    hint: str = ""
    compile: Optional[Dict[str, Any]] = dataclasses.field(default=None, repr=False)
    install: Optional[Dict[str, Any]] = dataclasses.field(default=None, repr=False)
    raw: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    @property
    def success(self) -> bool:
        """Whether all have passed."""
        return self.passed == self.total


def request(
    program: _program.Program,
    cases: Optional[Iterable[Mapping[str, Any]]],
    test_code: Union[str, bytes, None],
    comparator: Optional[Comparator],
    checker: Optional[_program.Program],
    stop_on_first_failure: bool,
) -> Dict[str, Any]:
    """What the service is sent; the first argument that can't be used is an InvalidArgument."""
    if (cases is None) == (test_code is None):
        raise InvalidArgument("cases", "give cases or test_code, and not both")
    made: Dict[str, Any] = {"program": _http.request_of(program)}
    if cases is not None:
        if isinstance(cases, (str, bytes, Mapping)) or not hasattr(cases, "__iter__"):
            raise InvalidArgument("cases", "give a list of dicts")
        made["cases"] = [_case(f"cases[{index}]", case) for index, case in enumerate(cases)]
        if not made["cases"]:
            raise InvalidArgument("cases", "is empty; give one dict at least")
    else:
        made["test_code"] = _http.text_of("test_code", _program.text_or_bytes("test_code", test_code))
    if comparator is not None:
        made["comparator"] = _comparator("comparator", comparator)
    if checker is not None:
        made["checker"] = _http.request_of(checker)
    if stop_on_first_failure:
        made["stop_on_first_failure"] = True
    return made


def _case(name: str, case: Any) -> Dict[str, Any]:
    if not isinstance(case, Mapping):
        raise InvalidArgument(name, f"is of type {type(case).__name__}; give a dict")
    made: Dict[str, Any] = {}
    for key, value in case.items():
        try:
            made.update(_member(key, value))
        except InvalidArgument as error:
            raise InvalidArgument(f"{name}.{error.argument}", str(error).split(": ", 1)[1]) from None
    return made


def _member(key: str, value: Any) -> Dict[str, Any]:
    if key in ("stdin", "expected_stdout"):
        return {f"{key}_base64": _http.base64_of(_program.content(key, value))}
    if key == "args":
        return {key: _program.words(key, value)}
    if key == "env":
        return {key: _program.variables(value)}
    if key == "files":
        files = _program.contents(value)
        return {key: {each: {"base64": _http.base64_of(content)} for each, content in files.items()}}
    if key == "comparator":
        return {key: _comparator(key, value)}
    known = ", ".join(Case.__annotations__)
    raise InvalidArgument(str(key), f"is not known; a case has {known}")


def _comparator(argument: str, value: Any) -> Any:
    if isinstance(value, str):
        return value
    numbers = [value[key] for key in ("abs", "rel") if key in value] if isinstance(value, Mapping) else [None]
    if all(isinstance(number, (int, float)) and math.isfinite(number) for number in numbers):
        return dict(value)
    raise InvalidArgument(argument, "write 'exact', 'trim', 'tokens' or {'type': 'float', 'abs': 1e-6}")


class Batch:
    """A batch that goes on. Iterating gives each case as it ends; letting go of it ends all."""

    def __init__(self, run: _http.HttpRun) -> None:
        self._run = run
        self._cases: Dict[int, CaseResult] = {}
        self._last: Optional[Dict[str, Any]] = None

    def __iter__(self) -> Iterator[CaseResult]:
        for event in self._run.events():
            if event["type"] == "case":
                case = _decided(event)
                self._cases[case.index] = case
                yield case
            elif event["type"] == "batch":
                self._last = event

    def wait(self) -> BatchResult:
        """All of it, once it has ended."""
        for _ in self:
            pass
        if self._last is None:
            raise ConnectionLost("the service told no end of the batch")
        raw = {name: value for name, value in self._last.items() if name not in ("seq", "type")}
        summary = raw["summary"]
        return BatchResult(
            id=raw["id"],
            status=raw["status"],
            passed=summary["passed"],
            total=summary["total"],
            first_failed=summary["first_failed"],
            cases=[self._cases[index] for index in sorted(self._cases)],
            error=raw.get("error", ""),
            hint=raw.get("hint", ""),
            compile=raw.get("compile"),
            install=raw.get("install"),
            raw=raw,
        )

    def stop(self) -> None:
        """From any thread: what runs ends by its grace, and the rest is skipped."""
        self._run.stop()

    def close(self) -> None:
        """Hangs up, which stops what goes on."""
        self._run.close()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _decided(event: Mapping[str, Any]) -> CaseResult:
    record = event.get("record")
    return CaseResult(
        index=event["index"],
        verdict=event["verdict"],
        reason=event.get("reason", ""),
        checker_output=event.get("checker_output"),
        result=None if record is None else Result.from_record(record),
    )
