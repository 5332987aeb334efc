// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/record_schema.h"

namespace wardcase::test {
namespace {

constexpr const char* kSchema = "supervisor/run/record.schema.json";

// Reads the schema from the first argument, and a record a line from stdin.
constexpr const char* kValidator =
    "import json, sys\n"
    "from jsonschema import Draft202012Validator as Validator\n"
    "schema = json.loads(sys.argv[1])\n"
    "Validator.check_schema(schema)\n"
    "for line in sys.stdin:\n"
    "    record = json.loads(line)\n"
    "    for error in Validator(schema).iter_errors(record):\n"
    "        print(record['status'], list(error.absolute_path), error.message)\n"
    "    print('checked', record['status'])\n";

}  // namespace

Outcome judge_records(Caller caller, const std::string& lines) {
  Command validator =
      Command::other(caller, {"/usr/bin/python3", "-c", kValidator, read_file(kSchema)});
  return validator.input(lines).finish();
}

}  // namespace wardcase::test
