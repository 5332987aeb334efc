# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# The processors and the limits of the box, by every way that programs ask for them.
import multiprocessing
import os
import resource
import subprocess
import sys

cpus, mebibytes = int(sys.argv[1]), int(sys.argv[2])
asked = {
    "affinity": len(os.sched_getaffinity(0)),
    "cpu_count": os.cpu_count(),
    "multiprocessing": multiprocessing.cpu_count(),
    "nproc": int(subprocess.check_output(["nproc"], env={"PATH": "/usr/bin"})),
    "getconf": int(subprocess.check_output(["getconf", "_NPROCESSORS_ONLN"])),
    "OMP_NUM_THREADS": int(os.environ["OMP_NUM_THREADS"]),
}
assert set(asked.values()) == {cpus}, asked

rlimits = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: mebibytes << 20,
    resource.RLIMIT_MEMLOCK: 0,
}
for name, wanted in rlimits.items():
    assert resource.getrlimit(name) == (wanted, wanted), (name, resource.getrlimit(name))
# Address space that is only reserved costs nothing: no limit is on it.
assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
print("works")
