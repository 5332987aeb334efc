# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Tests of the Python client; tests/lint/check_python_client.sh runs them."""
