# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# Temporary files and directories of each kind, and the directories they land in.
import os
import pathlib
import shutil
import tempfile

assert tempfile.gettempdir() == "/tmp"
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as named:
    named.write("text")
    named.flush()
    assert pathlib.Path(named.name).read_text() == "text"
assert not os.path.exists(named.name)
with tempfile.TemporaryFile() as unnamed:  # O_TMPFILE
    unnamed.write(b"x" * 100_000)
    unnamed.seek(0)
    assert len(unnamed.read()) == 100_000
    assert os.fstat(unnamed.fileno()).st_nlink == 0
with tempfile.SpooledTemporaryFile(max_size=10) as spooled:
    spooled.write(b"more than ten bytes")
    spooled.seek(0)
    assert spooled.read() == b"more than ten bytes"
with tempfile.TemporaryDirectory() as directory:
    assert os.stat(directory).st_mode & 0o777 == 0o700
    path = pathlib.Path(directory)
    (path / "a/b/c").mkdir(parents=True)
    (path / "a/b/c/f").write_text("1")
    (path / "link").symlink_to("a/b/c/f")
    os.link(path / "a/b/c/f", path / "hard")
    shutil.copytree(path / "a", path / "copy")
    shutil.move(path / "copy", "moved")  # from /tmp into /box
    assert pathlib.Path("moved/b/c/f").read_text() == "1"
    assert (path / "link").read_text() == (path / "hard").read_text() == "1"
assert not os.path.exists(directory)
for place in ("/box", "/tmp", "/var/tmp", "/dev/shm", pathlib.Path.home(), "."):
    with tempfile.NamedTemporaryFile(dir=place) as there:
        there.write(b"x")
print("works")
