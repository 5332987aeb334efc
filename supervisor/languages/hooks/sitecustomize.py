# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Runs before each Python program, found by PYTHONPATH: has the exception that ends the program
# told on the channel, and leaves all else as if it had not been there. Short, since it is compiled
# at each start. For any Python 3.
import os
import sys

ENVIRONMENT = "/opt/wardcase/env"


class Figures:
    """Among the finders of modules: waits for one that figures.py has to do with, and goes."""

    def __init__(self, place):
        self.place = place

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib.pyplot":
            return None
        sys.meta_path.remove(self)
        scope = {}
        with open(self.place + "/figures.py") as text:
            exec(compile(text.read(), text.name, "exec"), scope)
        return scope["find"](name, path, self.place)


def begin():
    place = os.path.dirname(__file__)
    if place not in sys.path:
        return
    sys.path.remove(place)
    sys.path_importer_cache.pop(place, None)
    if ENVIRONMENT in sys.path:
        sys.modules["site"].addsitedir(ENVIRONMENT)  # for its .pth files
    search = os.environ.get("PYTHONPATH", "")
    if not search.startswith(place):
        return  # a further interpreter in this process
    if search == place:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = search[len(place) + 1 :]
    sys.meta_path.insert(0, Figures(place))
    channel = 63
    try:
        os.dup2(3, channel, False)  # files get the numbers that they would have had
        os.close(3)
    except OSError:
        channel = 3  # fewer files may be open
        os.set_inheritable(channel, False)
    told = os.fstat(channel)
    process = os.getpid()
    show = sys.excepthook

    def excepthook(kind, value, trace):
        scope = {}
        try:
            with open(place + "/report.py") as text:
                # Not from the text: that would forget a KeyboardInterrupt, whose end is a signal.
                exec(compile(text.read(), text.name, "exec"), scope)
        except BaseException:
            return show(kind, value, trace)
        scope["report"](show, kind, value, trace, channel, told, process)

    # Programs ask whether the one is still the other.
    sys.excepthook = sys.__excepthook__ = excepthook
    prelude = os.environ.pop("WARDCASE_PRELUDE", None)
    if prelude:
        scope = {}
        with open(place + "/prelude.py") as text:
            exec(compile(text.read(), text.name, "exec"), scope)
        scope["run"](prelude, excepthook, channel)


try:
    begin()
except OSError:
    pass  # there is no channel
del sys.modules["sitecustomize"]
import sitecustomize  # the host's own; site expects that there is none
