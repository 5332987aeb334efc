# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# UTF-8 wherever text goes in and out: names, arguments, the environment, output, encodings.
import locale
import os
import pathlib
import subprocess
import sys

word = "Zażółć-naïve-日本語-😀"
assert locale.setlocale(locale.LC_ALL, "") == "C.UTF-8"
assert (sys.stdout.encoding, sys.getfilesystemencoding(), locale.getpreferredencoding()) == ("utf-8",) * 3
path = pathlib.Path(word)
path.write_text(word)
assert os.listdir(".").count(word) == 1 and path.read_text() == word
assert subprocess.check_output(["ls", "-1"], text=True).splitlines().count(word) == 1
out = subprocess.check_output(["bash", "-c", 'echo "$1 $W ${#1}"', "-", word], env=os.environ | {"W": word})
assert out.decode() == f"{word} {word} {len(word)}\n", out
assert subprocess.check_output(["wc", "-m"], input=word, text=True).strip() == str(len(word))
assert subprocess.check_output(["iconv", "-t", "UTF-16LE"], input=word.encode()).decode("utf-16le") == word
assert subprocess.check_output(["sort"], input="ż\nz\n", text=True) == "z\nż\n"
print(word)
print("works")
