# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Makes the wheel and the source archive of the package (PEP 517), with the standard library alone.

The same sources give the same bytes: names are sorted, and times and owners fixed.
"""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "wardcase"
# 1980 begins what a zip file can tell.
_EPOCH = 315532800
_DATE = (1980, 1, 1, 0, 0, 0)
_SOURCES = ("pyproject.toml", "build_backend.py", "README.md", "LICENSE")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: writes the wheel, and gives its name."""
    del config_settings, metadata_directory
    return _write_wheel(wheel_directory, {name: content for name, content in _package_files()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 660: the same with the sources where they are."""
    del config_settings, metadata_directory
    return _write_wheel(wheel_directory, {f"{PACKAGE}.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: writes the source archive, and gives its name."""
    del config_settings
    base = f"{PACKAGE}-{_project()['version']}"
    files = {name: content for name, content in _package_files()}
    files.update({name: content for name, content in _own_files(_SOURCES)})
    files.update({f"tests/{path.name}": path.read_bytes() for path in (HERE / "tests").glob("*.py")})
    files["PKG-INFO"] = _metadata().encode()
    with open(os.path.join(sdist_directory, f"{base}.tar.gz"), "wb") as out:
        with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=_EPOCH) as packed:
            with tarfile.open(mode="w", fileobj=packed, format=tarfile.PAX_FORMAT) as archive:
                for name in sorted(files):
                    entry = tarfile.TarInfo(f"{base}/{name}")
                    entry.size, entry.mtime, entry.mode = len(files[name]), _EPOCH, 0o644
                    archive.addfile(entry, io.BytesIO(files[name]))
    return f"{base}.tar.gz"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """PEP 517: writes what a wheel would say of itself."""
    del config_settings
    place = pathlib.Path(metadata_directory) / _information_directory()
    place.mkdir()
    for name, content in _information().items():
        (place / name).write_bytes(content)
    return place.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def _write_wheel(directory, files):
    information = _information_directory()
    files.update({f"{information}/{name}": content for name, content in _information().items()})
    record = [f"{name},sha256={_digest(files[name])},{len(files[name])}\n" for name in sorted(files)]
    files[f"{information}/RECORD"] = "".join([*record, f"{information}/RECORD,,\n"]).encode()
    name = f"{PACKAGE}-{_project()['version']}-py3-none-any.whl"
    # Not packed: the bytes would be those of one version of zlib.
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_STORED) as wheel:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, _DATE)
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, files[path])
    return name


def _package_files():
    for path in (HERE / PACKAGE).iterdir():
        if path.suffix == ".py" or path.name == "py.typed":
            yield f"{PACKAGE}/{path.name}", path.read_bytes()


def _own_files(names):
    for name in names:
        # The license stands at the top of the repository; an archive has a copy.
        found = [place / name for place in (HERE, HERE.parent.parent) if (place / name).is_file()]
        if found:
            yield name, found[0].read_bytes()


def _project():
    text = (HERE / "pyproject.toml").read_text(encoding="utf-8").split("[project]", 1)[1]
    return dict(re.findall(r'^([a-z-]+) = "(.*)"$', text, re.MULTILINE))


def _information_directory():
    return f"{PACKAGE}-{_project()['version']}.dist-info"


def _information():
    tags = "Wheel-Version: 1.0\nGenerator: wardcase\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {"METADATA": _metadata().encode(), "WHEEL": tags.encode()}
    files.update({name: content for name, content in _own_files(("LICENSE",))})
    return files


def _metadata():
    project = _project()
    return (
        "Metadata-Version: 2.1\n"
        f"Name: {project['name']}\nVersion: {project['version']}\nSummary: {project['description']}\n"
        f"License: {project['license']}\nRequires-Python: {project['requires-python']}\n"
        "Classifier: Operating System :: POSIX :: Linux\nClassifier: Typing :: Typed\n"
        "Description-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text(encoding="utf-8")
    )


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
