# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# asyncio: tasks, subprocesses, UNIX and TCP sockets, signals, threads.
import asyncio
import os
import signal
import socket
import sys


async def echo(reader, writer):
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()


async def ask(connection):
    reader, writer = await connection
    writer.write(b"hello\n")
    answer = await reader.readline()
    writer.close()
    return answer


async def main():
    loop = asyncio.get_running_loop()
    assert await asyncio.gather(*(asyncio.sleep(0, n) for n in range(100))) == list(range(100))

    code = "import sys; print(sys.stdin.read()[::-1]); sys.exit(3)"
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=pipe, stdout=pipe)
    out, _ = await process.communicate(b"abc")
    assert (out, process.returncode) == (b"cba\n", 3)
    process = await asyncio.create_subprocess_shell("sleep 60")
    process.terminate()
    assert await process.wait() == -signal.SIGTERM

    server = await asyncio.start_unix_server(echo, "echo.sock")
    assert await ask(asyncio.open_unix_connection("echo.sock")) == b"HELLO\n"
    server.close()
    server = await asyncio.start_unix_server(echo, "\0abstract")
    assert await ask(asyncio.open_unix_connection("\0abstract")) == b"HELLO\n"
    server.close()
    for host in ("127.0.0.1", "::1", "localhost"):
        server = await asyncio.start_server(echo, host, 0)
        port = server.sockets[0].getsockname()[1]
        assert await ask(asyncio.open_connection(host, port)) == b"HELLO\n", host
        server.close()

    caught = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, caught.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(caught.wait(), 20)
    assert await asyncio.to_thread(socket.gethostbyname, "localhost") == "127.0.0.1"


asyncio.run(main())
print("works")
