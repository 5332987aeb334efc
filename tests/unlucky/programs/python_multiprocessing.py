# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# Processes of all three kinds of start, and what they share: queues, pools, locks and
# semaphores in /dev/shm, shared memory, a manager behind a UNIX socket.
import multiprocessing
from multiprocessing import shared_memory


def square(number):
    return number * number


def count(lock, counter, done, name):
    for _ in range(50):
        with lock:
            counter.value += 1
    block = shared_memory.SharedMemory(name=name)
    block.buf[0] += 1
    block.close()
    done.put("counted")


def check(method):
    context = multiprocessing.get_context(method)
    lock, counter, done = context.Lock(), context.Value("i", 0, lock=False), context.Queue()
    block = shared_memory.SharedMemory(create=True, size=4096)
    block.buf[0] = 0
    process = context.Process(target=count, args=(lock, counter, done, block.name))
    process.start()
    assert done.get(timeout=30) == "counted"
    process.join(30)
    assert (process.exitcode, counter.value, block.buf[0]) == (0, 50, 1), method
    block.close()
    block.unlink()
    with context.Pool(2) as pool:
        assert pool.map(square, range(20)) == [n * n for n in range(20)], method
        assert pool.apply_async(square, (7,)).get(30) == 49


if __name__ == "__main__":
    for start in ("fork", "spawn", "forkserver"):
        check(start)
    with multiprocessing.Manager() as manager:
        shared = manager.dict()
        process = multiprocessing.Process(target=shared.update, args=({"a": 1},))
        process.start()
        process.join(30)
        assert dict(shared) == {"a": 1}
    print("works")
