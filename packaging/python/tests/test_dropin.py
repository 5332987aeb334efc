# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The functions for agents, with the lines by which they are known."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest
import zipfile
from unittest import mock

from wardcase import code_run, do_code_run, execute_bash, execute_javascript, execute_python

from .support import COMMAND, ENDLESS, Case, Service, language_is_usable

# As agents write them. The session is that of all.
USAGE = [
    'for update in code_run(script, code_type="python", timeout=10): print(update)',
    'list(code_run("while True: pass", timeout=2))[-1]["status"] == "error"',
    """execute_python(code="print('Hello, World!')", timeout=30, session_id="session_123")""",
    'execute_python(code="import pandas as pd; ...", requirements=["pandas"], session_id="session_123")',
    """execute_javascript(code="console.log('Hello from Node.js')", timeout=30, session_id="session_123")""",
    'execute_bash(command="ls -la /tmp", timeout=10, session_id="session_123")',
]
NAMES = dict(
    code_run=code_run, execute_python=execute_python, execute_javascript=execute_javascript, execute_bash=execute_bash
)
# A package of that name that is small enough for a test.
PANDAS = {
    "pandas/__init__.py": "",
    "pandas-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: pandas\nVersion: 1\n",
    "pandas-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "pandas-1.dist-info/RECORD": "pandas/__init__.py,,\npandas-1.dist-info/METADATA,,\npandas-1.dist-info/WHEEL,,\n",
}
POLICY = 'schema = 1\nextends = "default"\n[install]\nfind_links = ["{}"]\n'


def end_session(name):
    """Ends it; whether it was there."""
    return subprocess.run([COMMAND, "session", "rm", name], stderr=subprocess.DEVNULL, check=False).returncode == 0


class Usage(Case):
    """The lines run unchanged."""

    def setUp(self):
        super().setUp()
        self.addCleanup(end_session, "session_123")

    def value(self, index, **names):
        """Of one of the lines."""
        return eval(USAGE[index], dict(NAMES), names)  # pylint: disable=eval-used

    def test_a_script_is_followed(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(USAGE[0], dict(NAMES, script="print(6 * 7)"))  # pylint: disable=exec-used
        self.assertTrue(printed.getvalue().startswith("42"), printed.getvalue())
        self.assertIn("'status': 'success'", printed.getvalue())

    def test_an_endless_loop_is_an_error(self):
        self.assertTrue(self.value(1))

    def test_one_session_has_all_languages(self):
        told = self.value(2)
        self.assertEqual((told["success"], told["output"], told["error"]), (True, "Hello, World!\n", ""))
        self.assertEqual((told["exit_code"], told["session_id"]), (0, "session_123"))
        self.assertIsInstance(told["duration_ms"], int)
        if language_is_usable("javascript"):
            self.assertEqual(self.value(4)["output"], "Hello from Node.js\n")
        told = self.value(5)
        self.assertTrue(told["success"], told)
        self.assertIn("total", told["output"])

    def test_a_requirement_is_installed(self):
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            place.chmod(0o755)
            with zipfile.ZipFile(place / "pandas-1-py3-none-any.whl", "w") as wheel:
                for name, content in PANDAS.items():
                    wheel.writestr(name, content)
            (place / "installing.toml").write_text(POLICY.format(place))
            with mock.patch.dict(os.environ, {"WARDCASE_POLICY": str(place / "installing.toml")}):
                told = self.value(3)
        if "pip" in told["error"] and "not found" in told["error"]:
            self.skipTest(told["error"])
        self.assertTrue(told["success"], told)

    def test_a_requirement_that_can_not_be_installed_says_so(self):
        told = self.value(3)
        self.assertEqual((told["success"], told["exit_code"], told["status"]), (False, 125, "install_failed"))
        self.assertIn("requirements can't be installed", told["error"])


class Execute(Case):
    """execute_python and its siblings."""

    def test_a_session_is_made_by_its_first_use_and_keeps_what_is_left_in_it(self):
        self.addCleanup(end_session, "made-by-use")
        self.assertTrue(execute_python("x = 41", session_id="made-by-use")["success"])
        told = execute_python("print(x); x + 1", session_id="made-by-use", timeout=9)
        self.assertEqual((told["output"], told["result"]["text"]), ("41\n", "42"))

    def test_without_one_nothing_is_kept_and_the_id_is_new(self):
        first = execute_python("open('f', 'w'); x = 1")
        second = execute_python("import os; print(os.path.exists('f'), 'x' in dir())")
        self.assertEqual(second["output"], "False False\n")
        self.assertNotEqual(first["session_id"], second["session_id"])
        for told in (first, second):
            self.assertRegex(told["session_id"], r"^ses_[a-z2-7]{26}$")
            self.assertFalse(end_session(told["session_id"]))

    def test_wrong_syntax_runs_nothing(self):
        told = execute_bash("echo begun\nif")
        self.assertEqual((told["success"], told["output"], told["exit_code"]), (False, "", 1))
        self.assertIn("main.sh:", told["error"])
        self.addCleanup(end_session, "syntax")
        told = execute_python("print(1)\nprint(", session_id="syntax")
        self.assertEqual((told["output"], told["status"]), ("", "syntax_error"))

    def test_errors_are_told_and_not_raised(self):
        told = execute_python("print(1); 1 / 0")
        self.assertEqual((told["success"], told["output"], told["exit_code"]), (False, "1\n", 1))
        self.assertTrue(told["error"].rstrip().endswith("ZeroDivisionError: division by zero"))
        told = execute_python("import time; time.sleep(60)", timeout=0.2)
        self.assertEqual((told["exit_code"], told["error"]), (124, "time limit of 200ms reached"))
        self.assertIn("maximum is 600s", execute_bash("true", timeout=601)["error"])
        told = execute_bash("echo \ud800")
        self.assertEqual((told["success"], told["exit_code"]), (False, 125))
        self.assertIn("command: has a lone surrogate", told["error"])
        self.assertEqual(execute_bash("true", session_id="a/b")["exit_code"], 125)

    def test_the_service_runs_them_as_well(self):
        service = Service()
        try:
            with mock.patch.dict(os.environ, {"WARDCASE_HOST": service.address}):
                self.assertEqual(execute_bash("echo 1")["output"], "1\n")
                self.assertEqual(execute_bash("echo 1; if")["status"], "syntax_error")
                self.assertEqual(execute_bash("x=1", session_id="a")["session_id"], "a")
                self.assertEqual(execute_bash("echo $x", session_id="a")["output"], "1\n")
                self.assertEqual(list(code_run("print(1)"))[-1]["stdout"], "1\n")
                self.assertEqual(list(code_run(ENDLESS, stop_signal=[1]))[-1]["exit_code"], 143)
                last = list(code_run("print(1)", cwd="/tmp"))[-1]
                self.assertEqual((last["status"], last["exit_code"]), ("error", 125))
                self.assertIn("no paths of the host", last["stdout"])
        finally:
            service.close()


class CodeRun(Case):
    """code_run and do_code_run."""

    def test_text_comes_as_it_is_written_and_the_dict_last_and_as_the_value(self):
        updates = []

        def follow():
            value = yield from code_run("import sys; print('a'); sys.stdout.flush(); print('b', file=sys.stderr)")
            self.assertIs(value, updates[-1])

        for update in follow():
            updates.append(update)
        self.assertEqual("".join(updates[:-1]), "a\nb\n")
        self.assertEqual(updates[-1], {"status": "success", "stdout": "a\nb\n", "exit_code": 0})

    def test_live_text_does_not_wait_for_the_end(self):
        updates = code_run(ENDLESS)
        self.assertIn("begun", next(updates))
        updates.close()
        self.assert_quick()

    def test_the_end_by_time_and_by_signal_is_told_to_people(self):
        *texts, last = code_run("print(1)\nwhile True: pass", timeout=2)
        self.assertEqual(last, {"status": "error", "stdout": "1\n\n[Timeout Error] 超时强制终止", "exit_code": 124})
        self.assertEqual("".join(texts), last["stdout"])
        stop = []
        for update in code_run(ENDLESS, stop_signal=stop):
            stop.append(1)
        self.assertTrue(update["stdout"].endswith("\n[Stopped]"), update)
        self.assertEqual((update["status"], update["exit_code"]), ("error", 143))
        self.assert_quick()

    def test_stop_signals(self):
        event = threading.Event()
        event.set()
        for signal in (event, [0, "", True], (1,)):
            self.assertEqual(list(code_run(ENDLESS, stop_signal=signal))[-1]["exit_code"], 143)
        for signal in (threading.Event(), [0, ""], []):
            self.assertEqual(list(code_run("print(1)", stop_signal=signal))[-1]["exit_code"], 0)

    def test_a_silent_program_is_stopped_too(self):
        stop = threading.Event()
        threading.Timer(0.2, stop.set).start()
        self.assertEqual(list(code_run("import time; time.sleep(55)", stop_signal=stop))[-1]["exit_code"], 143)
        self.assert_quick()

    def test_long_output_has_its_middle_cut_out(self):
        last = list(code_run("print('a' * 5000 + 'b' * 5000)", maxlen=100))[-1]
        self.assertRegex(last["stdout"], r"^a{50}\s+\[omitted long output\]\s+b{49}\n$")
        self.assertEqual(len(list(code_run("print('a' * 9999)"))[-1]["stdout"]), 10000)
        self.assertIn("[omitted long output]", list(code_run("print('a' * 10000)"))[-1]["stdout"])

    def test_what_is_not_utf8_is_gbk(self):
        script = r"printf '\xc4\xe3\n\xe4\xbd\xa0\n'; printf '\xc4'; sleep 0.05; printf '\xe3'"
        *texts, last = code_run(script, "bash")
        self.assertEqual(last["stdout"], "你\n你\n你")
        self.assertEqual("".join(texts), last["stdout"])

    def test_the_directory_of_the_caller_is_the_workspace(self):
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            (place / "work").mkdir()
            (place / "modules").mkdir()
            (place / "modules" / "beside.py").write_text("value = 7")
            script = "import beside; open('made', 'w').write(str(beside.value))"
            last = list(code_run(script, cwd=place / "work", code_cwd=place / "modules"))[-1]
            self.assertEqual(last, {"status": "success", "stdout": "", "exit_code": 0})
            self.assertEqual((place / "work" / "made").read_text(), "7")
            self.assertEqual(os.listdir(place / "work"), ["made"])
            self.assertEqual(os.listdir(place / "modules"), ["beside.py"])

    def test_short_names_and_other_orders(self):
        self.assertEqual(list(do_code_run("sh", "exit 3", 9)), [{"status": "error", "stdout": "", "exit_code": 3}])
        self.assertEqual(list(do_code_run(type="py", code="print(1)", timeout=9))[-1]["stdout"], "1\n")
        last = list(code_run("", "cobol"))[-1]
        self.assertEqual((last["status"], last["exit_code"]), ("error", 125))
        self.assertIn("language 'cobol' is not known", last["stdout"])

    def test_a_refusal_is_a_dict_too(self):
        with mock.patch.dict(os.environ, {"WARDCASE_POLICY": "nothing-like-it"}):
            texts = list(code_run("print(1)"))
        self.assertEqual((texts[-1]["status"], texts[-1]["exit_code"]), ("error", 125))
        self.assertTrue(re.search("nothing-like-it", texts[-1]["stdout"]))


if __name__ == "__main__":
    unittest.main()
