# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The table of attacks, from what the hostile tests told of themselves.

Each test declares its attack, its protection and its control (hostile_test.h), which
GoogleTest puts into its report beside the outcome. A line is a test, its callers together.
"""

import re

CALLER = re.compile(r"[/_](root|user)$")
HEADINGS = ("attack", "protection", "held", "control")
DECLARED = ("attack", "protection", "control")


def missing_declarations(tests):
    """Names of tests that ran and do not say what they attack."""
    return [name for name, test in tests.items() if not all(test.get(key) for key in DECLARED)]


def told_alike(by_caller):
    """One text for all callers, or each with its own."""
    if len(set(by_caller.values())) == 1:
        return next(iter(by_caller.values()))
    return "; ".join(f"{caller}: {text}" for caller, text in by_caller.items())


def held(test, outcome):
    return "FAILED" if outcome == "failed" else "no: " + test["not_held"] if "not_held" in test else "yes"


def rows(tests, results):
    lines = {}
    for name, test in tests.items():
        if missing_declarations({name: test}):
            continue
        caller = CALLER.search(name)
        line = lines.setdefault(CALLER.sub("", name), {key: {} for key in HEADINGS})
        who = caller.group(1) if caller else ""
        for key in DECLARED:
            line[key][who] = test[key]
        line["held"][who] = held(test, results[name])
    return [tuple(told_alike(line[key]) for key in HEADINGS) for line in lines.values()]


def table(tests, results):
    lines = [HEADINGS, *rows(tests, results)]
    widths = [max(len(line[column]) for line in lines) for column in range(3)] + [0]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in lines
    )


def summary(tests, results):
    lines = rows(tests, results)
    failed = sum("FAILED" in line[2] for line in lines)
    partly = sum("no: " in line[2] for line in lines)  # as SECURITY.md says
    shown = sum("shown" in line[3] for line in lines)
    return (
        f"{len(lines)} attacks: {failed} failed, {partly} not held for an ordinary user; "
        f"a control showed {shown} of them at work"
    )
