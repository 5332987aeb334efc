#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The description of the HTTP interface tells of every path, member and code, and of no others."""

import pathlib
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("needs python3-yaml")
    sys.exit(77)

SERVER = pathlib.Path("supervisor/server")
# Codes of runs that never began stand in the header of known runs.
CODE = r'(?:\{ *\d{3}, |refuse\((?:[45]\d{2}, )?|fail\(\d{3}, )"([a-z_]+)"|k(?:Draining|DeadlinePassed|SessionEnded) = "([a-z_]+)"'


def read(name):
    return (SERVER / name).read_text(encoding="utf-8")


def differences(what, described, there):
    for name in sorted(described - there):
        yield f"openapi.yaml: {what} {name} is not there"
    for name in sorted(there - described):
        yield f"openapi.yaml does not tell of {what} {name}"


def codes():
    texts = [file.read_text(encoding="utf-8") for file in [*SERVER.glob("*.cc"), *SERVER.glob("*.h")]]
    found = {first or second for text in texts for first, second in re.findall(CODE, re.sub(r"\s+", " ", text))}
    either = re.findall(r'503, \w+ \? "([a-z_]+)" : "([a-z_]+)"', "".join(texts))
    return found | {code for codes in either for code in codes}


def complaints():
    document = yaml.safe_load(read("openapi.yaml"))
    schemas = document["components"]["schemas"]
    routes = set(re.findall(r'\{"([A-Z]+)", "(/[^"]*)"', read("api.cc")))
    methods = ("get", "post", "put", "delete", "patch")
    described = {
        (method.upper(), path) for path, item in document["paths"].items() for method in item if method in methods
    }
    pairs = [{" ".join(route) for route in each} for each in (described, routes)]
    yield from differences("path", *pairs)
    rows = re.findall(r'^    \{"([a-z_0-9]+)",\s+((?:k[A-Z][a-z]+(?: \| )?)+),', read("run_request.cc"), re.M)
    for schema, kind in (("RunRequest", "kRun"), ("ProgramRequest", "kProgram"), ("SessionRequest", "kSession")):
        members = {name for name, kinds in rows if kind in kinds.split(" | ")}
        yield from differences(f"member of {schema}", set(schemas[schema]["properties"]), members)
    of_batch = {name for schema in ("BatchRequest", "Case") for name in schemas[schema]["properties"]}
    members = set(re.findall(r'^    \{"([a-z_0-9]+)",', read("batch_request.cc"), re.M))
    yield from differences("member", of_batch, members)
    yield from differences("code", set(schemas["Problem"]["properties"]["code"]["enum"]), codes())
    made = subprocess.run(["packaging/openapi"], check=True, capture_output=True, text=True).stdout
    if made != read("openapi.json"):
        yield "supervisor/server/openapi.json is out of date: packaging/openapi >supervisor/server/openapi.json"


def main():
    found = list(complaints())
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
