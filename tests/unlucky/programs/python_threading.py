# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# Threads, and what they wait for each other with.
import concurrent.futures
import queue
import threading

COUNT = 32
total = 0
lock = threading.Lock()
barrier = threading.Barrier(COUNT)
own = threading.local()
handed_over = queue.Queue()


def work(number):
    global total
    own.number = number
    barrier.wait(20)
    for _ in range(100):
        with lock:
            total += own.number
    handed_over.put(own.number)


threading.stack_size(256 * 1024)
threads = [threading.Thread(target=work, args=(n,)) for n in range(COUNT)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(20)
assert total == 100 * sum(range(COUNT)), total
assert sorted(handed_over.get_nowait() for _ in range(COUNT)) == list(range(COUNT))

with concurrent.futures.ThreadPoolExecutor() as pool:
    assert list(pool.map(pow, range(50), [2] * 50)) == [n * n for n in range(50)]

ready = threading.Condition()
seen = []


def wait():
    with ready:
        seen.append(ready.wait_for(lambda: "go" in seen, 20))


waiter = threading.Thread(target=wait)
waiter.start()
with ready:
    seen.append("go")
    ready.notify_all()
waiter.join(20)
assert seen == ["go", True], seen
print("works")
