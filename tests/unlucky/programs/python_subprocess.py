# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# subprocess, as build scripts and test runners use it.
import os
import signal
import subprocess
import sys

run = subprocess.run
assert run(["cat"], input="ä\n" * 50_000, capture_output=True, text=True).stdout == "ä\n" * 50_000
assert run("exit 7", shell=True).returncode == 7
assert run("yes | head -n 1", shell=True, capture_output=True).stdout == b"y\n"
assert subprocess.check_output("echo e >&2", shell=True, stderr=subprocess.STDOUT) == b"e\n"
try:
    run(["sleep", "60"], timeout=0.2)
    raise AssertionError("no timeout")
except subprocess.TimeoutExpired:
    pass
assert run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]).returncode == -signal.SIGKILL
try:
    run(["no-such-program"])
    raise AssertionError("found")
except FileNotFoundError:
    pass

reader, writer = os.pipe()
child = subprocess.Popen(["sh", "-c", f"echo passed >&{writer}"], pass_fds=[writer])
os.close(writer)
assert (os.read(reader, 100), child.wait(20)) == (b"passed\n", 0)

code = "import os; print(os.getsid(0) == os.getpid(), os.getcwd(), os.environ['A'], os.nice(0))"
options = {"start_new_session": True, "cwd": "/tmp", "env": {"A": "1"}, "umask": 0o77}
said = run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=lambda: os.nice(3), **options)
assert said.stdout == "True /tmp 1 3\n", said

group = subprocess.Popen("sleep 60 & sleep 60", shell=True, process_group=0)
os.killpg(group.pid, signal.SIGTERM)
assert group.wait(20) == -signal.SIGTERM
print("works")
