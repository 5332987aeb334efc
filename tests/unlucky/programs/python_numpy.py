# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# numpy: linear algebra with its thread pool, Fourier transforms, random numbers, mapped files.
import concurrent.futures

import numpy

random = numpy.random.default_rng(1)
matrix, vector = random.random((300, 300)), random.random(300)
assert numpy.allclose(matrix @ numpy.linalg.solve(matrix, vector), vector)
values, vectors = numpy.linalg.eigh(matrix + matrix.T)
assert numpy.allclose((matrix + matrix.T) @ vectors, vectors * values)
signal = random.random(4096)
assert numpy.allclose(numpy.fft.ifft(numpy.fft.fft(signal)).real, signal)
mapped = numpy.memmap("mapped", dtype="float64", mode="w+", shape=(1000,))
mapped[:] = numpy.arange(1000)
mapped.flush()
assert numpy.fromfile("mapped").sum() == 499_500
numpy.savez("saved.npz", a=matrix)
assert (numpy.load("saved.npz")["a"] == matrix).all()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    products = list(pool.map(lambda _: matrix @ matrix, range(8)))
assert all((product == products[0]).all() for product in products)
print("works")
