# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Runs programs that nobody has read, in boxes: the Python client of wardcase.

    from wardcase import Client
    print(Client().run("print(6 * 7)").stdout)
"""

from wardcase import errors
from wardcase.aio import AsyncClient, AsyncSession, AsyncStream
from wardcase.batch import Batch, BatchResult, CaseResult
from wardcase.client import Client
from wardcase.dropin import code_run, do_code_run, execute_bash, execute_javascript, execute_python
from wardcase.errors import InvalidArgument, NotSupported, RequestRefused, RunError, Unavailable, WardcaseError
from wardcase.result import Result
from wardcase.session import Session
from wardcase.stream import Stream

__version__ = "0.1.0"
__all__ = [
    "AsyncClient",
    "AsyncSession",
    "AsyncStream",
    "Batch",
    "BatchResult",
    "CaseResult",
    "Client",
    "InvalidArgument",
    "NotSupported",
    "RequestRefused",
    "Result",
    "RunError",
    "Session",
    "Stream",
    "Unavailable",
    "WardcaseError",
    "code_run",
    "do_code_run",
    "errors",
    "execute_bash",
    "execute_javascript",
    "execute_python",
]
