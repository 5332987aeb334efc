# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# A virtual environment, and what runs in it.
import pathlib
import subprocess
import venv

venv.create("env", symlinks=True)
python = str(pathlib.Path("env/bin/python").absolute())
site = next(pathlib.Path("env/lib").glob("python3*/site-packages"))
(site / "installed.py").write_text("NAME = 'from the environment'\n")
code = "import installed, sys; print(sys.prefix, sys.prefix != sys.base_prefix, installed.NAME)"
out = subprocess.check_output([python, "-c", code], text=True)
assert out == f"{pathlib.Path('env').absolute()} True from the environment\n", out
activated = ". env/bin/activate && python -c 'import sys; print(sys.prefix)'"
assert subprocess.check_output(["bash", "-c", activated], text=True) == out.split(" ", 1)[0] + "\n"
print("works")
