# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# As many open files as the limit allows, and not one more.
import errno
import os
import resource
import select
import sys

limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
assert limit == int(sys.argv[1]), limit
held = []
try:
    while True:
        held.append(os.open(f"f{len(held)}", os.O_CREAT | os.O_RDWR))
except OSError as error:
    assert error.errno == errno.EMFILE, error
already = 4  # stdin, stdout, stderr, and what its errors are told by
assert len(held) == limit - already, len(held)
for index, fd in enumerate(held):
    os.write(fd, str(index).encode())
assert os.pread(held[-1], 10, 0) == str(len(held) - 1).encode()
for fd in held[:10]:
    os.close(fd)
poller = select.epoll()
ends = os.pipe()
poller.register(ends[1], select.EPOLLOUT)
assert poller.poll(5) == [(ends[1], select.EPOLLOUT)]
print("works")
