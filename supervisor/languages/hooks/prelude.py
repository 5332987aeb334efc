# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Read where a Python program has a prelude: runs that in the program's own __main__, and ends the
# process if it fails.
import os
import sys


def end(code):
    """As an interpreter ends."""
    for module, function in (("threading", "_shutdown"), ("atexit", "_run_exitfuncs")):
        if module in sys.modules:
            getattr(sys.modules[module], function)()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed, or nobody reads it
    os._exit(code)


def exit_code(error):
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stderr.write("%s\n" % (code,))
    return 1


def run(path, excepthook, channel):
    names = sys.modules["__main__"].__dict__
    before = dict(names)
    program = getattr(sys, "argv", [""])[0]
    directory = os.path.dirname(os.path.realpath(program))
    os.write(channel, b"prelude=begin\0")
    try:
        with open(path, "rb") as file:
            text = file.read()
        sys.path.insert(0, directory)
        names["__file__"] = path
        exec(compile(text, path, "exec", dont_inherit=True), names)
    except SystemExit as error:
        end(exit_code(error))
    except BaseException as error:
        kind, value, trace = sys.exc_info()
        excepthook(kind, value.with_traceback(trace.tb_next), trace.tb_next)
        end(1)
    # The interpreter puts it there itself.
    if directory in sys.path:
        sys.path.remove(directory)
    if "__annotations__" in before:
        before["__annotations__"] = {}
    for name in ("__file__", "__doc__", "__annotations__"):
        if name in before:
            names[name] = before[name]
        else:
            names.pop(name, None)
    os.write(channel, b"prelude=done\0")
