# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# Read when an exception ends a Python program: lets it be shown as ever, and tells it on the
# channel in fields "name=value\0".
import _thread
import os
import sys

MOST = 48 * 1024  # bytes of a traceback
SHORT = 4 * 1024  # and of any other field


class Tee:
    """A stream, of whose text the begin and the end are kept."""

    def __init__(self, stream):
        self.stream = stream
        self.thread = _thread.get_ident()
        self.head = ""
        self.tail = ""
        self.left_out = 0

    def write(self, text):
        if self.thread == _thread.get_ident():
            self.keep(text)
        return self.stream.write(text)

    def keep(self, text):
        room = MOST // 2 - len(self.head)
        self.head += text[:room]
        if len(text) > room:
            length = len(self.tail) + len(text) - room
            self.tail = (self.tail + text[max(room, len(text) - MOST // 2) :])[-MOST // 2 :]
            self.left_out += length - len(self.tail)

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def text(self):
        if not self.left_out:
            return self.head + self.tail
        return "%s\n[%d characters left out]\n%s" % (self.head, self.left_out, self.tail)


def shortened(text, most):
    """`text` in at most so many bytes: its begin and its end."""
    if len(text) > most:
        text = text[: most // 2] + " ... " + text[-most // 2 :]
    data = text.encode("utf-8", "backslashreplace").replace(b"\0", b"\\x00")
    if len(data) > most:
        data = data[: most // 2] + b" ... " + data[-most // 2 :]
    return data


def path_of(error):
    path = error.filename
    return os.fsdecode(path) if isinstance(path, (str, bytes)) else ""


FIELDS = (  # in this order; those of exceptions that are none of the class are left out
    ("type", BaseException, lambda error: type(error).__name__),
    ("message", BaseException, str),
    ("module", ImportError, lambda error: error.name or ""),
    ("errno", OSError, lambda error: str(error.errno or 0)),
    ("path", OSError, path_of),
    ("file", SyntaxError, lambda error: error.filename or ""),
    ("line", SyntaxError, lambda error: str(error.lineno or 0)),
)


def is_last():
    """Nothing of the program is under way any more: the interpreter itself has called."""
    frame = sys._getframe()
    while frame.f_back:
        frame = frame.f_back
    return frame.f_code.co_name != "<module>"


def is_ours(channel, told):
    """The program has not closed it, and opened another file by its number."""
    now = os.fstat(channel)
    return (now.st_dev, now.st_ino) == (told.st_dev, told.st_ino)


def tell(channel, name, text):
    data = name.encode() + b"=" + shortened(text, MOST if name == "traceback" else SHORT) + b"\0"
    while data:
        data = data[os.write(channel, data) :]


def report(show, kind, value, trace, channel, told, process):
    stream = sys.stderr
    if stream is None or os.getpid() != process or not is_last():
        return show(kind, value, trace)
    sys.stderr = tee = Tee(stream)
    try:
        show(kind, value, trace)
    finally:
        sys.stderr = stream
    try:
        if not is_ours(channel, told):
            return
        tell(channel, "traceback", tee.text())
    except OSError:
        return  # nobody listens
    for name, kinds, text_of in FIELDS:
        try:
            if isinstance(value, kinds):
                tell(channel, name, text_of(value))
        except BaseException:
            pass  # the program's own code, as in __str__, or a value that it has set
