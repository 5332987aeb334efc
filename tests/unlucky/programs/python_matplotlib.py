# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# matplotlib with nothing prepared: its fonts, its cache in the home directory, a PNG file.
import pathlib
import sys
import warnings

warnings.simplefilter("error")  # "could not find ..." is one
import matplotlib  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402

figure, axes = plt.subplots()
axes.plot([0, 1, 2], [0, 1, 4], label="$x^2$")
axes.set_title("Größe")
axes.legend()
figure.savefig("plot.png")
figure.savefig("plot.svg")
picture = pathlib.Path("plot.png").read_bytes()
assert picture[:8] == b"\x89PNG\r\n\x1a\n" and len(picture) > 5000, len(picture)
assert matplotlib.get_backend().lower() == "agg"
cache = pathlib.Path(matplotlib.get_cachedir())
assert pathlib.Path.home() in cache.parents, cache
assert list(cache.glob("fontlist*")), "no list of fonts"
assert matplotlib.matplotlib_fname()
assert not sys.stderr.closed
print("works")
