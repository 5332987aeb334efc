# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Read when a Python program is about to import matplotlib.pyplot: where nobody sees figures, its
# show() saves them as figure-1.png and so on, and closes them as their windows would be.
import functools
import os
from importlib.machinery import PathFinder


def save(figure, directory):
    """Under the first number that no file has."""
    number = 1
    while True:
        try:
            file = open("%s/figure-%d.png" % (directory, number), "xb")
        except FileExistsError:
            number += 1
            continue
        with file:
            return figure.savefig(file, format="png")


def take_over(pyplot, directory):
    shown = pyplot.show

    @functools.wraps(shown)
    def show(*args, **kwargs):
        if pyplot.get_backend().lower() != "agg" or not os.access(directory, os.W_OK):
            return shown(*args, **kwargs)
        for number in pyplot.get_fignums():
            save(pyplot.figure(number), directory)
        pyplot.close("all")

    pyplot.show = show


def find(name, path, place):
    """The module as it is found without us, but for its show()."""
    # Without a mount namespace the box is where the program begins.
    directory = "/box" if place.startswith("/run/wardcase/") else os.getcwd()
    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            take_over(module, directory)

        spec.loader.exec_module = exec_module
    return spec
