# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Interprets the Python programs of a session, one after the other, in one `__main__`.

What arrives and what is answered is in supervisor/agent/README.md. The programs run in this very
process and can do to it what they like, to the harm of their own session; what holds is that
nothing they print, and nothing that they start, is taken for an answer. Python 3.8 or newer.
"""

import __future__
import ast
import builtins
import fcntl
import json
import linecache
import os
import resource
import signal
import struct
import sys
import types

CHANNEL = 3
MAX_FRAME = 16 << 20
MAX_TEXT = 64 << 10  # of a result's text, a message, a traceback
MAX_MIME = 8 << 20
LINES_OF = 64  # so many programs' lines are kept for tracebacks
INTERRUPTED = 128 + signal.SIGINT
TOP_LEVEL_AWAIT = getattr(ast, "PyCF_ALLOW_TOP_LEVEL_AWAIT", 0)
FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag
CO_COROUTINE = 0x80


def cut(text, limit=MAX_TEXT):
    """At most about `limit` characters of it, with a word on what is missing."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


class Channel:
    """Frames of JSON with their length before them. Reads no byte too many: what comes after a
    program waits in the socket while it runs."""

    def __init__(self):
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Out of the way of what programs open.
        at = max(CHANNEL + 1, (min(files, 1024) if files > 0 else 1024) - 8)
        self.fd = fcntl.fcntl(CHANNEL, fcntl.F_DUPFD_CLOEXEC, at)
        os.close(CHANNEL)

    def _read(self, size, so_far):
        while len(so_far) < size:
            try:
                chunk = os.read(self.fd, min(size - len(so_far), 1 << 20))
            except OSError:  # it closed while something was on its way
                chunk = b""
            if not chunk:
                leave(0)
            so_far += chunk

    def receive(self, partial):
        """The next frame. An exception from a signal's handler loses nothing: `partial`, which is
        a bytearray, has what came so far, for the next call."""
        self._read(4, partial)
        (size,) = struct.unpack(">I", partial[:4])
        if size > MAX_FRAME:
            leave(1)
        self._read(4 + size, partial)
        return json.loads(bytes(partial[4:]))

    def send(self, message):
        # A lone surrogate, which no other JSON may have, becomes a question mark.
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        rest = memoryview(struct.pack(">I", len(body)) + body)
        try:
            while rest:
                rest = rest[os.write(self.fd, rest) :]
        except OSError:
            leave(0)


class Output:
    """What was printed is in the pipes before an end is told."""

    def __init__(self):
        self.modules = 0
        self.flush_c = None

    def flush(self):
        streams = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
        for stream in {id(stream): stream for stream in streams}.values():
            try:
                stream.flush()
            except Exception:  # closed, or something of the program's own
                pass
        if self.flush_c is None and len(sys.modules) != self.modules:
            self.modules = len(sys.modules)
            if self.may_print_by_c():
                self.flush_c = self.find_flush_c()
        if self.flush_c is not None:
            self.flush_c(None)

    @staticmethod
    def may_print_by_c():
        """Only others' extensions use the C library's streams, and calls by ctypes."""
        own = os.path.join(os.path.dirname(os.__file__), "lib-dynload")
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        return "ctypes" in sys.modules or any(
            isinstance(file, str) and file.endswith(".so") and not file.startswith(own) for file in files
        )

    @staticmethod
    def find_flush_c():
        try:
            import ctypes

            return ctypes.CDLL(None).fflush
        except Exception:
            return lambda _: None


OUTPUT = Output()


def leave(status):
    OUTPUT.flush()
    os._exit(status)


def call_user(function, *arguments):
    """Runs what the program brought. Only below this frame does an interrupt raise: so that it
    always comes out at whoever called this, whenever it arrives."""
    return function(*arguments)


class Interrupts:
    """SIGINT: KeyboardInterrupt in the program, and nothing at all outside of it."""

    def __init__(self):
        self.came = False
        self.await_under_way = None
        signal.signal(signal.SIGINT, self)

    def __call__(self, _signal, frame):
        while frame is not None and frame.f_code is not call_user.__code__:
            frame = frame.f_back
        if frame is None:
            return
        self.came = True
        if self.await_under_way is None or not self.await_under_way.cancel_waiting():
            raise KeyboardInterrupt


class Awaits:
    """The event loop, made when it is first needed; tasks that a program leaves go on whenever a
    later one awaits something."""

    def __init__(self, interrupts):
        self.interrupts = interrupts
        self.loop = None
        self.task = None
        self.is_cancelled = False

    def cancel_waiting(self):
        """Where no task's code is being executed: the loop sleeps, and is woken for a cancel."""
        import asyncio

        if self.is_cancelled or self.task.done() or asyncio.current_task(self.loop) is not None:
            return False
        self.is_cancelled = True
        self.task.cancel()
        self.loop.call_soon_threadsafe(int)
        return True

    def run(self, coroutine):
        import asyncio

        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.task = self.loop.create_task(coroutine)
        self.is_cancelled = False
        self.interrupts.await_under_way = self
        try:
            return self.loop.run_until_complete(self.task)
        except asyncio.CancelledError as error:
            if self.is_cancelled:
                raise KeyboardInterrupt().with_traceback(error.__traceback__) from None
            raise
        finally:
            self.interrupts.await_under_way = None
            task, self.task = self.task, None
            if not task.done():  # an interrupt came out of the loop beside it
                task.cancel()
                self.loop.run_until_complete(asyncio.wait([task]))
            if not task.cancelled():
                task.exception()  # seen, so that nobody complains of it


    def close(self):
        """As at the end of an interpreter's own loop: what is left gets its chance to clean up."""
        import asyncio

        if self.loop is None or self.loop.is_closed():
            return
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()


class Results:
    """What the value of a program's last expression looks like."""

    METHODS = (
        ("image/png", "_repr_png_"),
        ("image/jpeg", "_repr_jpeg_"),
        ("image/svg+xml", "_repr_svg_"),
        ("text/html", "_repr_html_"),
        ("application/json", "_repr_json_"),
        ("text/markdown", "_repr_markdown_"),
        ("text/latex", "_repr_latex_"),
    )

    def describe(self, value):
        self.room = MAX_MIME
        self.notes = []
        try:
            text = cut(repr(value))
        except Exception as error:
            text = f"<repr of {type(value).__name__} failed: {short(error)}>"
        mime = {}
        try:
            for kind, offered in self.offers(value):
                self.take(mime, kind, offered)
        except Exception as error:
            self.notes.append(f"<{short(error)}>")
        return {"text": "\n".join([text] + self.notes), "mime": mime}

    def offers(self, value):
        """Looked for in the class, so that neither classes nor objects with every name offer."""
        if hasattr(type(value), "_repr_mimebundle_"):
            bundle = self.ask("_repr_mimebundle_", lambda: value._repr_mimebundle_(include=None, exclude=None))
            bundle = bundle[0] if isinstance(bundle, tuple) and bundle else bundle
            if isinstance(bundle, dict):
                yield from ((kind, data) for kind, data in bundle.items() if kind != "text/plain")
        for kind, method in self.METHODS:
            if hasattr(type(value), method):
                offered = self.ask(method, getattr(value, method))
                yield kind, offered[0] if isinstance(offered, tuple) and offered else offered
        figures = sys.modules.get("matplotlib.figure")
        if figures is not None and isinstance(value, figures.Figure):
            yield "image/png", self.ask("savefig", lambda: self.draw(value))

    def ask(self, name, method):
        try:
            return method()
        except Exception as error:
            self.notes.append(f"<{name} failed: {short(error)}>")
            return None

    @staticmethod
    def draw(figure):
        import io

        file = io.BytesIO()
        figure.savefig(file, format="png", bbox_inches="tight")
        return file.getvalue()

    def take(self, mime, kind, offered):
        if offered is None or not isinstance(kind, str) or kind in mime:
            return
        if isinstance(offered, (bytes, bytearray)):
            import base64

            offered = base64.b64encode(offered).decode()
        elif not isinstance(offered, str):
            try:
                offered = json.dumps(offered, ensure_ascii=False, allow_nan=False)
            except Exception as error:
                self.notes.append(f"<{kind} left out: {short(error)}>")
                return
        size = len(kind) + len(offered.encode("utf-8", "replace"))
        if size > self.room:
            self.notes.append(f"<{kind} left out: {size} bytes, and all may have {MAX_MIME}>")
            return
        self.room -= size
        mime[kind] = offered


class Figures:
    """Among the finders of modules: waits for one that figures.py has to do with, and goes."""

    PLACE = "/run/wardcase/.hook"

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib.pyplot":
            return None
        sys.meta_path.remove(self)
        scope = {}
        try:
            with open(self.PLACE + "/figures.py") as text:
                exec(compile(text.read(), text.name, "exec"), scope)
        except OSError:  # there is no box around
            return None
        return scope["find"](name, path, self.PLACE)


def short(error):
    """An exception in one line, whatever its own methods do."""
    try:
        text = str(error)
    except Exception:
        text = "<its text can't be had>"
    return cut(f"{type(error).__name__}: {text}" if text else type(error).__name__, 1024)


class Errors:
    """An uncaught exception as the program's user sees it: none of our frames."""

    def __init__(self, names):
        self.names = names

    def trim(self, error):
        """From the first frame of a program on: ours, and the loop's, are before it. What ends an
        interrupted one is a frame of ours, too."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename not in self.names:
            trace = trace.tb_next
        error.__traceback__ = trace
        chain, seen = [error], set()
        while chain:
            link = chain.pop()
            if link is not None and id(link) not in seen:
                seen.add(id(link))
                self.drop_handler(link.__traceback__)
                chain += [link.__cause__, link.__context__]
        return trace

    @staticmethod
    def drop_handler(trace):
        while trace is not None and trace.tb_next is not None:
            if trace.tb_next.tb_frame.f_code is Interrupts.__call__.__code__:
                trace.tb_next = None
            trace = trace.tb_next

    def describe(self, error):
        import traceback

        trace = self.trim(error)
        try:
            lines = traceback.format_exception(type(error), error, trace)
            text = cut("".join(lines))
        except Exception as other:
            text = f"{type(error).__name__}: <its traceback can't be had: {short(other)}>\n"
        told = {"type": self.name(error), "message": self.message(error), "traceback": text}
        if isinstance(error, ImportError) and isinstance(error.name, str):
            told["module"] = cut(error.name, 256)
        if isinstance(error, SyntaxError):
            told.update(self.place(error))
        return told

    @staticmethod
    def name(error):
        """One of the few that all languages have, or its own."""
        for known in (SyntaxError, MemoryError, ImportError, PermissionError):
            if isinstance(error, known):
                return known.__name__
        return type(error).__name__

    @staticmethod
    def message(error):
        try:
            return cut(str(error.msg if isinstance(error, SyntaxError) else error))
        except Exception:
            return "<its text can't be had>"

    @staticmethod
    def place(error):
        place = {}
        for key, value in (("line", error.lineno), ("column", error.offset)):
            if isinstance(value, int):
                place[key] = value
        if isinstance(error.text, str):
            place["text"] = cut(error.text.rstrip("\n"), 1024)
        return place

    def show(self, error, text):
        """On stderr, as an interpreter does at its end; a hook that the program set is heeded."""
        try:
            if sys.excepthook is not sys.__excepthook__:
                sys.excepthook(type(error), error, error.__traceback__)
            elif sys.stderr is not None:
                sys.stderr.write(text)
        except Exception:
            pass


class Worker:
    def __init__(self, channel):
        self.channel = channel
        self.pid = os.getpid()
        self.interrupts = Interrupts()
        self.awaits = Awaits(self.interrupts)
        self.names = {}  # of programs whose lines are kept, oldest first
        self.errors = Errors(self.names)
        self.results = Results()
        self.main = types.ModuleType("__main__")
        self.main.__builtins__ = builtins
        self.before = sys.modules["__main__"]  # which must not go as long as its functions run
        sys.modules["__main__"] = self.main
        os.register_at_fork(after_in_child=self.become_child)

    def become_child(self):
        """A process that the program forks has no business with the supervisor."""
        if self.channel is not None:
            os.close(self.channel.fd)
            self.channel = None

    def serve(self):
        self.channel.send({"type": "ready", "version": "%d.%d.%d" % sys.version_info[:3]})
        partial = bytearray()
        while True:
            try:
                request = self.channel.receive(partial)
            except KeyboardInterrupt:  # of a handler that the program set: nobody's any more
                continue
            partial = bytearray()
            if request["type"] == "exec":
                self.answer(request)
            elif request["type"] == "check":
                self.answer_check(request)
            elif request["type"] == "path":
                self.attempt(self.add_path, request["add"])
                OUTPUT.flush()
                self.channel.send({"type": "ok"})

    def answer(self, request):
        done = {"type": "done", "id": request["id"], "exit": False, "exit_code": 0}
        done.update({"error": None, "result": None})
        self.interrupts.came = False
        error, value = self.attempt(self.execute, request)
        if error is None and value is not None:
            error, done["result"] = self.attempt(self.results.describe, value)
        ending = isinstance(error, SystemExit)
        if ending:
            done.update({"exit": True, "exit_code": self.exit_code(error)})
        elif error is not None:
            done["exit_code"] = 1
            done["error"] = self.tell(error)
        done["interrupted"] = self.interrupts.came and isinstance(error, KeyboardInterrupt)
        if done["interrupted"]:
            done["exit_code"] = INTERRUPTED
        del error, value
        if os.getpid() != self.pid:
            sys.exit(done["exit_code"])  # a child that the program forked, at its end
        OUTPUT.flush()
        done["nonce"] = self.nonce()
        self.channel.send(done)
        if ending:
            self.attempt(self.awaits.close)
            sys.exit(done["exit_code"])

    def answer_check(self, request):
        done = {"type": "done", "id": request["id"], "exit": False, "exit_code": 0}
        done.update({"interrupted": False, "error": None, "result": None})
        self.channel.send({"type": "begun", "id": request["id"]})
        error, _ = self.attempt(self.compile, request["name"], request["code"])
        if error is not None:
            done["exit_code"] = 1
            done["error"] = self.errors.describe(error)
        done["nonce"] = self.nonce()
        self.channel.send(done)

    def nonce(self):
        """Lies in the socket since the program began, where nothing but this process reaches it."""
        partial = bytearray()
        while True:
            try:
                return self.channel.receive(partial).get("nonce")
            except KeyboardInterrupt:
                continue

    @staticmethod
    def attempt(function, *arguments):
        """(what it raised, what it returned), one of them None."""
        try:
            return None, call_user(function, *arguments)
        except BaseException as error:
            return error, None

    def tell(self, error):
        failure, told = self.attempt(self.errors.describe, error)
        if failure is not None:
            told = {"type": type(error).__name__, "message": "", "traceback": ""}
        self.attempt(self.errors.show, error, told["traceback"])
        return told

    @staticmethod
    def exit_code(error):
        if error.code is None:
            return 0
        if isinstance(error.code, int):
            return error.code & 0xFF
        try:
            print(error.code, file=sys.stderr)
        except Exception:
            pass
        return 1

    def execute(self, request):
        """Runs it all; the value of its last statement, if that is an expression. Interrupts are
        heeded, and so the supervisor may send one."""
        self.channel.send({"type": "begun", "id": request["id"]})
        self.keep_lines(request["name"], request["code"])
        parts = self.compile(request["name"], request["code"])
        if any(part.co_flags & CO_COROUTINE for part in parts):
            value = self.awaits.run(self.run_in_loop(parts))
        else:
            value = None
            for part in parts:
                value = eval(part, self.main.__dict__)
        if value is not None:
            builtins._ = value
        return value

    async def run_in_loop(self, parts):
        """One that awaits nothing itself may still start tasks for the other."""
        value = None
        for part in parts:
            value = eval(part, self.main.__dict__)
            if part.co_flags & CO_COROUTINE:
                value = await value
        return value

    def compile(self, name, code):
        """The statements, whose value is None, then the expression at the end, if there is one.
        Both see the same futures, and nothing of an earlier program's, nor ours."""
        tree = self.parse(name, code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        body = compile(tree, name, "exec", TOP_LEVEL_AWAIT, dont_inherit=True)
        if last is None:
            return [body]
        flags = TOP_LEVEL_AWAIT | (body.co_flags & FUTURES)
        return [body, compile(ast.Expression(last.value), name, "eval", flags, dont_inherit=True)]

    @staticmethod
    def parse(name, code):
        code = code[1:] if code.startswith("\ufeff") else code
        try:
            return compile(code, name, "exec", ast.PyCF_ONLY_AST | TOP_LEVEL_AWAIT, dont_inherit=True)
        except (ValueError, UnicodeError) as error:
            if isinstance(error, SyntaxError):
                raise
            raise SyntaxError(str(error), (name, 1, 1, None)) from None

    def keep_lines(self, name, code):
        """For tracebacks and inspect, of the last programs."""
        lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        lines = [line + "\n" for line in lines]
        linecache.cache[name] = (len(code), None, lines, name)
        self.names.pop(name, None)
        self.names[name] = True
        while len(self.names) > LINES_OF:
            oldest = next(iter(self.names))
            del self.names[oldest]
            linecache.cache.pop(oldest, None)

    @staticmethod
    def add_path(directory):
        """Before what the host has of other people's modules, behind Python's own. Processes that
        the program starts have it as those of a run do."""
        import importlib
        import site

        before = list(sys.path)
        site.addsitedir(directory)
        added = [path for path in sys.path if path not in before]
        at = len(before)
        for i, path in enumerate(before):
            if path.rstrip("/").endswith(("site-packages", "dist-packages")):
                at = i
                break
        sys.path[:] = before[:at] + added + before[at:]
        importlib.invalidate_caches()
        for name, place, where in (("PATH", directory + "/bin", 0), ("PYTHONPATH", directory, -1)):
            old = os.environ.get(name)
            both = [place] if not old else [place, old] if where == 0 else [old, place]
            os.environ[name] = ":".join(both)


def main():
    worker = Worker(Channel())
    sys.argv = [""]
    sys.path[0] = os.getcwd()
    sys.meta_path.insert(0, Figures())
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(encoding="utf-8")
    worker.serve()


main()
