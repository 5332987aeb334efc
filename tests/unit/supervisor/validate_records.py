#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Validates records, one JSON object a line on stdin, against the schema at argv[1]."""

import json
import sys

import jsonschema


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    count = 0
    failed = False
    for line in sys.stdin.buffer:
        count += 1
        for error in validator.iter_errors(json.loads(line.decode("utf-8"))):
            path = "/".join(str(part) for part in error.absolute_path)
            print(f"record {count}: {path}: {error.message}", file=sys.stderr)
            failed = True
    return 1 if failed or count == 0 else 0


sys.exit(main())
