// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/unit/supervisor/agent/worker_test.h"

namespace wardcase::test {
namespace {

class NodeWorker : public WorkerTest<LiveWorker::Language::node> {
 protected:
  void write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(
        std::filesystem::path(place.path() + "/" + name).parent_path());
    std::ofstream(place.path() + "/" + name) << text;
  }
};

TEST_F(NodeWorker, KeepsWhatProgramsDeclare) {
  EXPECT_EQ(worker.ready().at("version").as_string().find_first_not_of("0123456789."),
            std::string::npos);
  EXPECT_EQ(output_of("const a = 1; let b = 2; class C {}; function f() { return a + b; }"), "");
  EXPECT_EQ(output_of("console.log(f(), typeof C)"), "3 function\n");
  EXPECT_EQ(output_of("const a = 10; console.log(f())"), "12\n");  // declared anew
}

TEST_F(NodeWorker, GivesTheLastExpressionsValue) {
  EXPECT_EQ(result_of("1 + 1"), "2");
  EXPECT_EQ(result_of("_ + 1"), "3");
  EXPECT_EQ(result_of("'text'"), "'text'");
  EXPECT_EQ(result_of("undefined"), "none");
  EXPECT_EQ(result_of("let x = 5"), "none");
  EXPECT_EQ(result_of(""), "none");
  EXPECT_EQ(result_of("10n"), "10n");
  EXPECT_EQ(result_of("new Map([[1, 2]])"), "Map(1) { 1 => 2 }");
  EXPECT_EQ(result_of("Promise.resolve(3)"), "Promise { 3 }");
  EXPECT_LT(result_of("'x'.repeat(1e7)").size(), 70'000U);
}

TEST_F(NodeWorker, TellsPlainDataAsJsonAndWhatAnObjectOffers) {
  (void)result_of("({a: [1, null]})");
  EXPECT_EQ(done["result"].at("mime").at("application/json"), "{\"a\":[1,null]}");
  EXPECT_EQ(result_of("({[Symbol.for('wardcase.mime')]: () => ({'text/html': '<b>', 'image/png': "
                      "Buffer.from('abc'), 'x/big': 'x'.repeat(9e6)})})")
                    .find("x/big left out") == std::string::npos,
            false);
  EXPECT_EQ(done["result"].at("mime").as_object().size(), 2U);
  EXPECT_EQ(done["result"].at("mime").at("image/png"), "YWJj");
  EXPECT_EQ(result_of("({[require('util').inspect.custom]() { throw 'no'; }})"),
            "<inspect failed: no>");
}

TEST_F(NodeWorker, AwaitsAtTheTop) {
  EXPECT_EQ(result_of("const v = await new Promise((done) => setTimeout(done, 20, 'v')); v"),
            "'v'");
  EXPECT_EQ(result_of("v"), "'v'");
  EXPECT_EQ(error_of("await Promise.reject(new TypeError('late'))"), "TypeError");
}

TEST_F(NodeWorker, ImportsFromWhereItIs) {
  write("c.js", "module.exports = 'required';");
  write("m.mjs", "export default 1; export const two = 2; export const url = import.meta.url;");
  write("node_modules/pkg/index.js", "module.exports = 'package';");
  EXPECT_EQ(result_of("require('./c')"), "'required'");
  EXPECT_EQ(result_of("(await import('./m.mjs')).two"), "2");
  EXPECT_EQ(result_of("import one, {two as zwei} from './m.mjs';\nimport * as fs from 'node:fs'\n"
                      "one + zwei + typeof fs.readFileSync"),
            "'3function'");
  EXPECT_EQ(result_of("require('pkg') + (await import('pkg')).default"), "'packagepackage'");
  EXPECT_EQ(result_of("`${await import('./m.mjs').then((m) => `${m.two}`)} import('x')` + "
                      "/import('y')/.source // import('z')"),
            "\"2 import('x')import('y')\"");
  EXPECT_EQ(result_of("({import: 1}).import"), "1");
  EXPECT_EQ(result_of("require.main === module"), "true");
}

TEST_F(NodeWorker, TellsAnErrorWithoutFramesOfItsOwn) {
  EXPECT_EQ(error_of("function f() {\n  null.x;\n}\nf()"), "TypeError");
  EXPECT_EQ(told("traceback"),
            "Uncaught TypeError: Cannot read properties of null (reading 'x')\n"
            "    at f (exec-1.js:2:8)\n    at exec-1.js:4:1\n");
  EXPECT_EQ(worker.err(), told("traceback"));
  EXPECT_EQ(done["exit_code"], 1);
  EXPECT_EQ(error_of("throw 5"), "Error");
  EXPECT_EQ(told("message"), "5");
  EXPECT_EQ(error_of("require('missing-thing')"), "ImportError");
  EXPECT_EQ(told("module"), "missing-thing");
  EXPECT_EQ(error_of("await import('missing-thing')"), "ImportError");
  EXPECT_EQ(told("module"), "missing-thing");
}

TEST_F(NodeWorker, TellsASyntaxErrorByItsPlace) {
  EXPECT_EQ(error_of("let ok = 1;\nlet q = = 2;"), "SyntaxError");
  EXPECT_EQ(told("line"), "2");
  EXPECT_EQ(told("column"), "9");
  EXPECT_EQ(told("text"), "let q = = 2;");
  EXPECT_EQ(error_of("let open = ("), "SyntaxError");
  EXPECT_EQ(told("line"), "1");
  EXPECT_EQ(error_of("JSON.parse('{')"), "SyntaxError");
  EXPECT_EQ(told("line"), "");  // not of the program
}

TEST_F(NodeWorker, OutlivesWhatNobodyWaitsFor) {
  EXPECT_EQ(result_of("setTimeout(() => { throw new Error('later'); }, 10); 1"), "1");
  EXPECT_EQ(result_of("Promise.reject(new Error('unseen')); 2"), "2");
  EXPECT_EQ(result_of("await new Promise((done) => setTimeout(done, 100)); 3"), "3");
  const std::string told_on_stderr = worker.err();
  EXPECT_NE(told_on_stderr.find("Uncaught Error: later"), std::string::npos);
  EXPECT_NE(told_on_stderr.find("Uncaught Error: unseen"), std::string::npos);
}

TEST_F(NodeWorker, HasAllInThePipesWhenItIsDone) {
  worker.begin("process.stdout.write('x'.repeat(300000) + 'end'); console.error('e'); 0");
  EXPECT_EQ(worker.answer()["type"], "begun");
  EXPECT_EQ(worker.out_until("end").size(), 300'003U);
  EXPECT_EQ(worker.answer()["exit_code"], 0);
  EXPECT_EQ(worker.err(), "e\n");
}

TEST_F(NodeWorker, EndsWhatIsInterruptedAndKeepsTheRest) {
  (void)output_of(
      "const kept = 7; const print = (t) => require('fs').writeSync(1, t + '\\n');"
      "const child = require('child_process')");
  for (const char* const code : {
           "print('up'); while (true) {}",
           "print('up'); await new Promise(() => {})",
           "print('up'); await new Promise((done) => setTimeout(done, 1e6))",
           "function spin() { for (;;); } print('up'); spin()",
           "child.execSync('echo up; exec sleep 100', {stdio: 'inherit'})",
           "({[require('util').inspect.custom]() { print('up'); for (;;); }})",
       }) {
    EXPECT_TRUE(is_interrupted(code)) << code;
  }
  EXPECT_EQ(result_of("kept"), "7");
}

TEST_F(NodeWorker, LeavesAnInterruptToTheProgramsListener) {
  worker.begin(
      "const heard = new Promise((done) => process.once('SIGINT', done));\n"
      "require('fs').writeSync(1, 'up\\n'); await heard; 'mine'");
  EXPECT_EQ(worker.answer()["type"], "begun");
  (void)worker.out_until("up\n");
  worker.interrupt();
  done = worker.answer();
  EXPECT_EQ(done["interrupted"], false);
  EXPECT_EQ(done["result"].at("text"), "'mine'");
  EXPECT_TRUE(is_interrupted("require('fs').writeSync(1, 'up\\n'); for (;;);"));
}

TEST_F(NodeWorker, DoesNotHearAnInterruptBetweenPrograms) {
  for (int i = 0; i < 50; ++i) {
    worker.interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // as a session does
    ASSERT_EQ(result_of("'undisturbed'"), "'undisturbed'");
    ASSERT_EQ(done["interrupted"], false);
  }
}

TEST_F(NodeWorker, EndsAsItIsAskedTo) {
  worker.begin("process.on('exit', () => console.log('at exit')); process.exit(3)");
  EXPECT_EQ(worker.answer()["type"], "begun");
  EXPECT_TRUE(worker.answer().empty());
  EXPECT_TRUE(ends_with(3));
  EXPECT_EQ(worker.out(), "at exit\n");
}

TEST_F(NodeWorker, GivesItsChannelToNobody) {
  const std::string count = "ls -l /proc/self/fd | grep -c socket";
  (void)output_of("const cp = require('child_process')");
  // Node.js makes sockets of the child's own pipes; these it inherits.
  EXPECT_EQ(output_of("x = cp.spawnSync('sh', ['-c', '" + count + "'], {stdio: 'inherit'})")
                .find_first_not_of("0\n"),
            std::string::npos);
  EXPECT_EQ(output_of("console.log(require('fs').readdirSync('/proc/self/fd').map((n) => { try { "
                      "return require('fs').readlinkSync(`/proc/self/fd/${n}`) } catch { return '' "
                      "} }).filter((to) => to.startsWith('socket')).length)"),
            "1\n");  // a control
}

TEST_F(NodeWorker, FindsModulesWhereItIsTold) {
  write("env/node_modules/added/index.js", "module.exports = 'added';");
  worker.send({{"type", "path"}, {"add", place.path() + "/env"}});
  EXPECT_EQ(worker.answer()["type"], "ok");
  EXPECT_EQ(result_of("require('added')"), "'added'");
}

TEST_F(NodeWorker, StaysAsBigAsItWasThroughAThousandPrograms) {
  const auto many = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(result_of("var list = Array(1000).fill(" + std::to_string(i) + "); list.length"),
                "1000");
    }
  };
  many(1000);
  const std::uint64_t before = resident_kib(worker.pid());
  many(1000);
  EXPECT_GT(before, 0U);
  EXPECT_LT(resident_kib(worker.pid()), before + 16'384);  // the collector takes its time
}

}  // namespace
}  // namespace wardcase::test
