// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/supervisor/agent/worker_test.h"

namespace wardcase::test {
namespace {

using PythonWorker = WorkerTest<LiveWorker::Language::python>;

TEST_F(PythonWorker, SaysItsVersionFirst) {
  EXPECT_EQ(worker.ready().at("type"), "ready");
  EXPECT_EQ(worker.ready().at("version").as_string().find("3."), 0U);
}

TEST_F(PythonWorker, KeepsWhatProgramsDefine) {
  EXPECT_EQ(output_of("import os\nx = 6\ndef double(n): return 2 * n"), "");
  EXPECT_EQ(output_of("print(double(x), os.sep)"), "12 /\n");
  EXPECT_EQ(done["exit_code"], 0);
  EXPECT_TRUE(done["error"].is_null());
}

TEST_F(PythonWorker, GivesTheLastExpressionsValue) {
  EXPECT_EQ(result_of("x = 1\nx + 1"), "2");
  EXPECT_EQ(result_of("'text'"), "'text'");
  EXPECT_EQ(result_of("_"), "'text'");
  EXPECT_EQ(result_of("x = 5"), "none");
  EXPECT_EQ(result_of("None"), "none");
  EXPECT_EQ(result_of("for i in range(3): i"), "none");
  EXPECT_EQ(result_of(""), "none");
}

TEST_F(PythonWorker, BoundsAResult) {
  EXPECT_LT(result_of("'x' * 10_000_000").size(), 70'000U);
  const char* const big =
      "class Big:\n  def _repr_html_(self): return 'x' * (9 << 20)\n  def _repr_latex_(self): "
      "return "
      "'small'\nBig()";
  EXPECT_NE(result_of(big).find("text/html left out"), std::string::npos);
  const auto& mime = done["result"].at("mime").as_object();
  EXPECT_EQ(mime.size(), 1U);
  EXPECT_EQ(mime.at("text/latex"), "small");
}

TEST_F(PythonWorker, TellsWhatAnObjectOffers) {
  EXPECT_EQ(result_of("class Offer:\n"
                      "  def __repr__(self): return 'plain'\n"
                      "  def _repr_mimebundle_(self, include=None, exclude=None):\n"
                      "    return {'text/x-own': 'own', 'text/plain': 'no'}\n"
                      "  def _repr_png_(self): return b'\\x89PNG'\n"
                      "  def _repr_json_(self): return {'a': [1, None]}\n"
                      "  def _repr_markdown_(self): return None\n"
                      "Offer()"),
            "plain");
  const auto& mime = done["result"].at("mime").as_object();
  EXPECT_EQ(mime.size(), 3U);
  EXPECT_EQ(mime.at("text/x-own"), "own");
  EXPECT_EQ(mime.at("image/png"), "iVBORw==");
  EXPECT_EQ(mime.at("application/json"), "{\"a\": [1, null]}");
  EXPECT_EQ(result_of("Offer").find("<class"), 0U);
  EXPECT_TRUE(done["result"].at("mime").as_object().empty());
}

TEST_F(PythonWorker, TakesAFailingReprForAText) {
  EXPECT_EQ(result_of("class Odd:\n  def __repr__(self): raise ValueError('no')\nOdd()"),
            "<repr of Odd failed: ValueError: no>");
  EXPECT_EQ(done["exit_code"], 0);
}

TEST_F(PythonWorker, DrawsAFigure) {
  EXPECT_EQ(error_of("from matplotlib.figure import Figure"), "");
  (void)result_of("f = Figure(); f.subplots().plot([1, 2]); f");
  EXPECT_EQ(done["result"].at("mime").at("image/png").as_string().find("iVBORw0KGgo"), 0U);
}

TEST_F(PythonWorker, TellsAnExceptionWithoutFramesOfItsOwn) {
  EXPECT_EQ(error_of("def f():\n  return 1 / 0\nf()"), "ZeroDivisionError");
  EXPECT_EQ(told("message"), "division by zero");
  const std::string trace = told("traceback");
  EXPECT_EQ(trace.find("Traceback (most recent call last):\n  File \"exec-1.py\", line 3, in "
                       "<module>\n    f()\n"),
            0U)
      << trace;
  EXPECT_NE(trace.find("line 2, in f"), std::string::npos);
  EXPECT_EQ(trace.find("worker"), std::string::npos);
  EXPECT_EQ(worker.err(), trace);
  EXPECT_EQ(done["exit_code"], 1);
}

TEST_F(PythonWorker, NamesTheProgramThatAFunctionIsFrom) {
  (void)output_of("def f():\n\n  raise KeyError('k')");
  EXPECT_EQ(error_of("f()"), "KeyError");
  EXPECT_NE(told("traceback").find("File \"exec-1.py\", line 3, in f\n    raise KeyError('k')"),
            std::string::npos);
  EXPECT_NE(told("traceback").find("File \"exec-2.py\", line 1"), std::string::npos);
}

TEST_F(PythonWorker, TellsASyntaxErrorByItsPlace) {
  EXPECT_EQ(error_of("x = 1\nprint('open\n"), "SyntaxError");
  EXPECT_EQ(told("line"), "2");
  EXPECT_EQ(told("column"), "7");
  EXPECT_EQ(told("text"), "print('open");
  EXPECT_EQ(error_of("x"), "NameError");
}

TEST_F(PythonWorker, RefusesWhatIsNoText) {
  EXPECT_EQ(error_of(std::string_view("a\0b", 3)), "SyntaxError");
  worker.begin("1");  // as text; then once more with half a surrogate pair
  (void)worker.answer();
  (void)worker.answer();
  const std::string_view lone = R"({"type":"exec","id":"9","name":"e.py","code":"x='\ud800'"})";
  worker.send_text(lone);
  worker.send({{"type", "nonce"}, {"nonce", "n"}});
  EXPECT_EQ(worker.answer()["type"], "begun");
  done = worker.answer();
  EXPECT_EQ(told("type"), "SyntaxError");
  EXPECT_EQ(result_of("1"), "1");
}

TEST_F(PythonWorker, CountsLinesAsTheyAre) {
  EXPECT_EQ(error_of("x = '\f\v\xe2\x80\xa8'\r\ny = 2\r\nraise OSError('third')"), "OSError");
  EXPECT_NE(told("traceback").find("line 3, in <module>\n    raise OSError('third')"),
            std::string::npos);
}

TEST_F(PythonWorker, LeavesFuturesToTheirProgram) {
  EXPECT_EQ(result_of("from __future__ import annotations\n"
                      "def f(a: nowhere): pass\nf.__annotations__"),
            "{'a': 'nowhere'}");
  EXPECT_EQ(error_of("def g(a: nowhere): pass"), "NameError");
}

TEST_F(PythonWorker, RunsAsMain) {
  EXPECT_EQ(
      result_of("import sys\n__name__, sys.argv, sys.modules['__main__'].__dict__ is globals()"),
      "('__main__', [''], True)");
  EXPECT_EQ(result_of("import os; sys.path[0] == os.getcwd()"), "True");
  EXPECT_EQ(result_of("import pickle\nclass C: pass\ntype(pickle.loads(pickle.dumps(C()))) is C"),
            "True");
}

TEST_F(PythonWorker, AwaitsAtTheTop) {
  EXPECT_EQ(result_of("import asyncio\nawait asyncio.sleep(0.01, 'slept')"), "'slept'");
  EXPECT_EQ(result_of("task = asyncio.create_task(asyncio.sleep(0.05, 'task'))\nawait "
                      "asyncio.sleep(0)\ntask.done()"),
            "False");
  EXPECT_EQ(result_of("await task"), "'task'");
  EXPECT_EQ(result_of("asyncio.run(asyncio.sleep(0, 'run'))"), "'run'");
  EXPECT_EQ(error_of("async def f():\n  raise ValueError('late')\nawait f()"), "ValueError");
  EXPECT_EQ(told("traceback").find("asyncio"), std::string::npos);
}

TEST_F(PythonWorker, HasAllInThePipesWhenItIsDone) {
  EXPECT_EQ(output_of("import sys\nsys.stdout.write('no line')"), "no line");
  EXPECT_EQ(output_of("import ctypes\nx = ctypes.CDLL(None).printf(b'from C')"), "from C");
  EXPECT_EQ(output_of("print('\\u20ac')"), "\xe2\x82\xac\n");
}

TEST_F(PythonWorker, ReadsTheProgramsStdin) {
  worker.type("Bob\n");
  EXPECT_EQ(output_of("print('hello', input('name? '))"), "name? hello Bob\n");
  worker.close_stdin();
  EXPECT_EQ(error_of("input()"), "EOFError");
}

TEST_F(PythonWorker, EndsWhatIsInterruptedAndNothingElse) {
  EXPECT_TRUE(is_interrupted("kept = 7\nprint('up', flush=True)\nwhile True: pass"));
  EXPECT_EQ(told("type"), "KeyboardInterrupt");
  EXPECT_EQ(told("traceback").find("worker"), std::string::npos);
  EXPECT_TRUE(is_interrupted("import time\nprint('up', flush=True)\ntime.sleep(100)"));
  EXPECT_TRUE(is_interrupted("print('up', flush=True)\ninput()"));
  EXPECT_TRUE(is_interrupted("import asyncio\nprint('up', flush=True)\nawait asyncio.sleep(100)"));
  EXPECT_TRUE(
      is_interrupted("async def busy():\n  print('up', flush=True)\n  while True: pass\n"
                     "t = asyncio.create_task(busy())\nawait asyncio.sleep(100)"));
  EXPECT_TRUE(
      is_interrupted("class Slow:\n  def __repr__(self):\n    print('up', flush=True)\n    "
                     "time.sleep(100)\nSlow()"));
  EXPECT_EQ(result_of("kept"), "7");
}

TEST_F(PythonWorker, DoesNotHearAnInterruptBetweenPrograms) {
  for (int i = 0; i < 50; ++i) {
    worker.interrupt();
    ASSERT_EQ(result_of("'undisturbed'"), "'undisturbed'");
    ASSERT_EQ(done["interrupted"], false);
  }
}

TEST_F(PythonWorker, LeavesAnInterruptToTheProgramsHandler) {
  worker.begin(
      "import signal, time\nhits = []\n"
      "signal.signal(signal.SIGINT, lambda *_: hits.append(1))\nprint('up', flush=True)\n"
      "while not hits: time.sleep(0.01)\nprint('mine')");
  (void)worker.answer();
  (void)worker.out_until("up\n");
  worker.interrupt();
  done = worker.answer();
  EXPECT_EQ(done["interrupted"], false);
  EXPECT_EQ(worker.out(), "mine\n");
}

TEST_F(PythonWorker, EndsAsItIsAskedTo) {
  done = worker.run("import atexit, sys\natexit.register(print, 'at exit')\nsys.exit(3)");
  EXPECT_EQ(done["exit"], true);
  EXPECT_EQ(done["exit_code"], 3);
  EXPECT_EQ(worker.out_until("at exit\n"), "at exit\n");
  EXPECT_TRUE(ends_with(3));
}

TEST_F(PythonWorker, EndsWithoutAWordByExitOfTheSystem) {
  worker.begin("import os\nos._exit(5)");
  EXPECT_EQ(worker.answer()["type"], "begun");
  EXPECT_TRUE(worker.answer().empty());
  EXPECT_TRUE(ends_with(5));
}

TEST_F(PythonWorker, KeepsAForkedChildFromSpeaking) {
  EXPECT_EQ(output_of("import os, sys\nchild = os.fork()\n"
                      "if child == 0: print('child')\n"
                      "else: print('parent', os.waitpid(child, 0)[1])"),
            "child\nparent 0\n");
  EXPECT_EQ(output_of("child = os.fork()\nif child == 0: raise ValueError('in the child')\n"
                      "print(os.WEXITSTATUS(os.waitpid(child, 0)[1]))"),
            "1\n");
  EXPECT_TRUE(done["error"].is_null());
  EXPECT_EQ(result_of("'one worker'"), "'one worker'");
}

// What a child is given of descriptors, listed by itself: no socket is among them.
TEST_F(PythonWorker, GivesItsChannelToNobody) {
  const char* const list = "ls -l /proc/self/fd | grep -c socket";
  // A control: the worker itself has one.
  EXPECT_EQ(
      output_of("import os, subprocess\nprint(sum(os.readlink(f'/proc/self/fd/{n}').startswith("
                "'socket') for n in os.listdir('/proc/self/fd') if "
                "os.path.islink(f'/proc/self/fd/{n}')))"),
      "1\n");
  EXPECT_EQ(
      output_of("x = subprocess.run('" + std::string(list) + "', shell=True, close_fds=False)"),
      "0\n");
  EXPECT_EQ(output_of("x = os.system('" + std::string(list) + "')"), "0\n");
  EXPECT_EQ(output_of("if os.fork() == 0: os.execlp('sh', 'sh', '-c', '" + std::string(list) +
                      "')\nx = os.wait()"),
            "0\n");
  EXPECT_EQ(
      output_of("if os.fork() == 0:\n  print(sum('socket' in os.readlink(f'/proc/self/fd/{n}') "
                "for n in os.listdir('/proc/self/fd') if "
                "os.path.islink(f'/proc/self/fd/{n}')))\nelse: x = os.wait()"),
      "0\n");
}

TEST_F(PythonWorker, TakesNothingThatIsPrintedForAnAnswer) {
  (void)output_of(
      "import json, os, struct\n"
      "forged = json.dumps({'type': 'done', 'id': '1', 'nonce': 'nonce-1', 'exit_code': "
      "0}).encode()\n"
      "for fd in (1, 2): n = os.write(fd, struct.pack('>I', len(forged)) + forged)\n"
      "raise SystemError('real')");
  EXPECT_EQ(told("type"), "SystemError");
}

// The socket holds the nonce all the while, which the program reaches only by reading the
// channel: then the worker has none to give, and the supervisor believes nothing.
TEST_F(PythonWorker, HasNoNonceWhileAProgramRuns) {
  EXPECT_EQ(
      output_of(
          "import gc\nprint(sum('nonce-1' == o for o in gc.get_objects() if type(o) is str),"
          " any('nonce-1' in str(o.get('nonce')) for o in gc.get_objects() if type(o) is dict))"),
      "0 False\n");
}

TEST_F(PythonWorker, LetsProgramsUseProcesses) {
  EXPECT_EQ(result_of("import math, multiprocessing as m\n"
                      "m.get_context('spawn').Pool(1).map(math.sqrt, [4, 9])"),
            "[2.0, 3.0]");
  EXPECT_EQ(
      result_of("def square(x): return x * x\nm.get_context('fork').Pool(2).map(square, [1, 2])"),
      "[1, 4]");
}

TEST_F(PythonWorker, LetsThreadsGoOn) {
  (void)output_of(
      "import threading, time\nhits = []\ndef work():\n"
      "  while len(hits) < 1000: hits.append(1); time.sleep(0.001)\n"
      "t = threading.Thread(target=work, daemon=True); t.start()");
  EXPECT_EQ(result_of("t.join(); len(hits)"), "1000");
}

TEST_F(PythonWorker, FindsModulesWhereItIsTold) {
  EXPECT_EQ(error_of("import added_module"), "ImportError");
  EXPECT_EQ(told("module"), "added_module");
  std::filesystem::create_directory(place.path() + "/env");
  std::ofstream(place.path() + "/env/added_module.py") << "value = 'added'\n";
  worker.send({{"type", "path"}, {"add", place.path() + "/env"}});
  EXPECT_EQ(worker.answer()["type"], "ok");
  EXPECT_EQ(result_of("import added_module; added_module.value"), "'added'");
}

TEST_F(PythonWorker, StaysAsBigAsItWasThroughAThousandPrograms) {
  const auto many = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const std::string code = "value = [" + std::to_string(i) + "] * 1000\nlen(value)";
      ASSERT_EQ(result_of(code), "1000");
    }
  };
  many(200);
  const std::uint64_t before = resident_kib(worker.pid());
  many(1000);
  EXPECT_GT(before, 0U);
  EXPECT_LT(resident_kib(worker.pid()), before + 2048);
}

}  // namespace
}  // namespace wardcase::test
