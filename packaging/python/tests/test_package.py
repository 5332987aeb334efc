# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""How the package is made, and that its README tells the truth."""

import ast
import filecmp
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import wardcase

from .support import COMMAND, Case, Service, language_is_usable

HERE = pathlib.Path(__file__).resolve().parents[1]
USE = "import wardcase; print(wardcase.__file__, wardcase.Client().run('print(6 * 7)').stdout)"


class Package(Case):
    """The wheel and the source archive."""

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name)

    def build(self, hook, place):
        """Makes one as a frontend does, in a process of its own."""
        place.mkdir()
        script = f"import build_backend; print(build_backend.{hook}({str(place)!r}))"
        done = subprocess.run([sys.executable, "-c", script], cwd=HERE, stdout=subprocess.PIPE, text=True, check=True)
        return place / done.stdout.strip()

    def test_the_same_sources_give_the_same_bytes(self):
        for hook in ("build_wheel", "build_sdist"):
            first, second = self.build(hook, self.place / f"{hook}1"), self.build(hook, self.place / f"{hook}2")
            self.assertTrue(filecmp.cmp(first, second, shallow=False))

    def test_the_wheel_has_the_package_and_says_so(self):
        with zipfile.ZipFile(self.build("build_wheel", self.place / "wheel")) as wheel:
            names = set(wheel.namelist())
            information = f"wardcase-{wardcase.__version__}.dist-info"
            record = wheel.read(f"{information}/RECORD").decode()
        sources = {f"wardcase/{path.name}" for path in (HERE / "wardcase").glob("*.py")}
        self.assertLessEqual(sources | {"wardcase/py.typed", f"{information}/METADATA", f"{information}/WHEEL"}, names)
        self.assertEqual({line.split(",")[0] for line in record.splitlines()}, names)

    def test_the_archive_makes_the_same_wheel(self):
        archive = self.build("build_sdist", self.place / "sdist")
        with tarfile.open(archive) as packed:
            packed.extractall(self.place / "unpacked")
        script = f"import build_backend; build_backend.build_wheel({str(self.place)!r})"
        subprocess.run([sys.executable, "-c", script], cwd=next((self.place / "unpacked").iterdir()), check=True)
        made = self.build("build_wheel", self.place / "wheel")
        with zipfile.ZipFile(made) as one, zipfile.ZipFile(self.place / made.name) as other:
            for name in one.namelist():
                self.assertEqual(one.read(name), other.read(name), name)

    def test_pip_installs_it_without_an_index(self):
        if subprocess.run(
            [sys.executable, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, check=False
        ).returncode:
            self.skipTest("there is no pip")
        target = self.place / "target"
        words = "-m pip --isolated --disable-pip-version-check --no-cache-dir install --quiet --no-index".split()
        done = subprocess.run(
            [sys.executable, *words, "--target", target, HERE], stderr=subprocess.PIPE, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        environment = dict(os.environ, PYTHONPATH=str(target))
        told = subprocess.run(
            [sys.executable, "-c", USE], cwd=self.place, env=environment, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        self.assertEqual(told.split(), [str(target / "wardcase" / "__init__.py"), "42"])

    def test_versions_agree(self):
        self.assertIn(f'\nversion = "{wardcase.__version__}"\n', (HERE / "pyproject.toml").read_text())

    def test_nothing_needs_more_than_python_3_8(self):
        for path in sorted(HERE.glob("**/*.py")):
            ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 8))


class Readme(Case):
    """Its examples run as they are."""

    def test_examples_run(self):
        # That of the repository has some, too.
        texts = [path.read_text() for path in (HERE / "README.md", HERE.parents[1] / "README.md") if path.exists()]
        examples = re.findall(r"^```python\n(.*?)^```$", "\n".join(texts), re.DOTALL | re.MULTILINE)
        self.assertGreater(len(examples), 3)
        # Its last example makes a session that lives on.
        self.addCleanup(subprocess.run, [COMMAND, "session", "rm", "readme"], check=False)
        service = Service()
        self.addCleanup(service.close)
        for written in examples:
            example = written.replace("unix:/run/wardcase/api.sock", service.address)
            if "javascript" in example and not language_is_usable("javascript"):
                continue
            with self.subTest(example=example), tempfile.TemporaryDirectory() as directory:
                done = subprocess.run(
                    [sys.executable, "-c", example], cwd=directory, text=True,
                    env=dict(os.environ, PYTHONPATH=str(HERE)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                )  # fmt: skip
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout)


if __name__ == "__main__":
    unittest.main()
