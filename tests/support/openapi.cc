// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/openapi.h"

namespace wardcase::test {
namespace {

// Reads the description from the first line of stdin; then come the name of a schema and a text.
constexpr const char* kValidator =
    "import json, sys\n"
    "from jsonschema import Draft202012Validator as Validator\n"
    "openapi = json.loads(sys.stdin.readline())\n"
    "for name in sys.stdin:\n"
    "    name = name.strip()\n"
    "    schema = {'$ref': '#/components/schemas/' + name, 'components': openapi['components']}\n"
    "    Validator.check_schema(openapi['components']['schemas'][name])\n"
    "    for error in Validator(schema).iter_errors(json.loads(sys.stdin.readline())):\n"
    "        print(name, list(error.absolute_path), error.message)\n"
    "    print('checked', name)\n";

std::string line_of(const std::string& text) { return text.ends_with('\n') ? text : text + "\n"; }

}  // namespace

Outcome judge_described(Caller caller, const std::string& openapi,
                        const std::vector<DescribedJson>& all) {
  std::string lines = line_of(openapi);
  for (const DescribedJson& each : all) lines += each.schema + "\n" + line_of(each.text);
  return Command::other(caller, {"/usr/bin/python3", "-c", kValidator}).input(lines).finish();
}

}  // namespace wardcase::test
