# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# A home directory that can be written to, and is found by every way of asking.
import os
import pathlib
import pwd
import subprocess

home = pathlib.Path.home()
assert str(home) == os.environ["HOME"] == os.path.expanduser("~user") == pwd.getpwuid(os.getuid()).pw_dir
assert pwd.getpwuid(os.getuid()).pw_name == os.environ["USER"] == "user"
assert subprocess.check_output("id -un; cd; pwd", shell=True, text=True) == f"user\n{home}\n"
assert home.stat().st_uid == os.getuid()
for name in (".config/tool", ".cache/tool", ".local/share/tool", ".local/state"):
    (home / name).mkdir(parents=True)
    (home / name / "f").write_text("kept")
bashrc = home / ".bashrc"
bashrc.write_text("greet() { echo from bashrc; }\n")
assert subprocess.check_output(["bash", "-ic", "greet"], text=True, stderr=subprocess.DEVNULL) == "from bashrc\n"
print("works")
