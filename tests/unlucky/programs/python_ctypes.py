# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# ctypes: the C library, callbacks (which need memory that is made executable), structures.
import ctypes
import ctypes.util

libc = ctypes.CDLL(None, use_errno=True)
libc.strlen.argtypes, libc.strlen.restype = [ctypes.c_char_p], ctypes.c_size_t
assert libc.strlen(b"twelve chars") == 12

Numbers = ctypes.c_int * 6
Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
numbers = Numbers(5, 3, 9, 1, 7, 0)
libc.qsort(numbers, len(numbers), ctypes.sizeof(ctypes.c_int), Compare(lambda a, b: a[0] - b[0]))
assert list(numbers) == [0, 1, 3, 5, 7, 9]


class TimeSpec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


now = TimeSpec()
assert libc.clock_gettime(1, ctypes.byref(now)) == 0
assert now.seconds > 0 or now.nanoseconds > 0
assert libc.open(b"/no/such/file", 0) == -1
assert ctypes.get_errno() == 2

libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
libm.cos.argtypes, libm.cos.restype = [ctypes.c_double], ctypes.c_double
assert libm.cos(0.0) == 1.0
print("works")
