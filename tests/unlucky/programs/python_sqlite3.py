# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# sqlite3 in a file: locks, a write-ahead log in shared memory, threads, backup.
import pathlib
import sqlite3
import threading

first = sqlite3.connect("data.db", timeout=20)
assert first.execute("pragma journal_mode=wal").fetchone() == ("wal",)
first.execute("create table numbers (n integer primary key, square integer)")
first.executemany("insert into numbers values (?, ?)", ((n, n * n) for n in range(1000)))
first.commit()
assert pathlib.Path("data.db-shm").exists()


def add(start):
    other = sqlite3.connect("data.db", timeout=20)
    for number in range(start, start + 20):
        with other:
            other.execute("insert into numbers values (?, ?)", (number, number * number))
    other.close()


threads = [threading.Thread(target=add, args=(1000 * k,)) for k in range(1, 5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(30)
assert first.execute("select count(*) from numbers").fetchone() == (1080,)

memory = sqlite3.connect(":memory:")
first.backup(memory)
assert memory.execute("select square from numbers where n = 31").fetchone() == (961,)
memory.execute("create virtual table texts using fts5(body)")
memory.execute("insert into texts values ('a quick fox')")
assert memory.execute("select count(*) from texts where texts match 'quick'").fetchone() == (1,)
assert first.execute("pragma integrity_check").fetchone() == ("ok",)
first.execute("pragma temp_store=file")
first.execute("create temp table t as select * from numbers order by square desc")
print("works")
