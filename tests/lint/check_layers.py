#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Each folder includes only what lies below it: supervisor > sandbox > policies > sandbox/sys.

Some libraries, too, have one place where they are used.
"""

import pathlib
import re
import sys

# Deepest folder first: the first that matches a file names its layer.
LAYERS = {
    "sandbox/sys": ["sandbox/sys/"],
    "policies": ["policies/", "sandbox/sys/error.h"],
    "sandbox": ["sandbox/", "policies/"],
    "supervisor/run": ["supervisor/run/", "sandbox/", "policies/"],
    "supervisor/config": ["supervisor/config/", "sandbox/", "policies/"],
    "supervisor/languages": ["supervisor/languages/", "supervisor/config/", "supervisor/run/", "sandbox/", "policies/"],
    "supervisor": ["supervisor/", "sandbox/", "policies/"],
    "tests": [""],
}

# A library's header, and the files (all but the tests') that may include it.
ONLY_IN = [
    (r"boost/program_options", r"supervisor/cli/options\.cc"),
    (r"boost/json", r"supervisor/.*"),
    (r"boost/(asio|beast(?!/core/detail/base64))", r"supervisor/server/http_codec\.cc"),
    (r"systemd/", r"supervisor/server/.*"),
    (r"re2/", r"policies/code_pattern\.cc"),
    (r"toml\+\+|toml\.hpp", r"policies/toml_document\.cc"),
    (r"seccomp\.h", r"sandbox/.*"),
    (r"sodium", r"supervisor/(languages/sha256\.h|config/token_text\.cc)"),
    # policies/ is text in, structs out: it makes no system call. What runs at build time may.
    (r"(unistd|fcntl|sched|dirent|poll)\.h|(sys|linux)/.*|fstream|filesystem|thread", r"(?!policies/(?!embed/)).*"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path):
    return next((layer for layer in LAYERS if path.startswith(layer + "/")), None)


def complaint(path, quote, header):
    layer = layer_of(path)
    if quote == '"':
        if not pathlib.Path(header).is_file():
            return f'"{header}" is not a path from the root of the project; use <> for a library'
        if not any(header.startswith(allowed) for allowed in LAYERS[layer]):
            return f"{layer}/ may not include {header}"
    if layer != "tests":
        for library, places in ONLY_IN:
            if re.fullmatch(f"({library}).*", header) and not re.fullmatch(places, path):
                return f"<{header}> may not be included here (see ONLY_IN in this lint)"
    return None


def main():
    bad = 0
    for folder in ("sandbox", "policies", "supervisor", "tests"):
        for file in sorted(pathlib.Path(folder).rglob("*")):
            if file.suffix not in (".cc", ".h"):
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                problem = found and complaint(str(file), *found.groups())
                if problem:
                    print(f"{file}:{number}: {problem}")
                    bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
