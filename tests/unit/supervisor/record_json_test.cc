// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {
namespace {

namespace json = boost::json;
using policies::LimitId;

RunRecord full_record() {
  RunRecord record;
  record.id = "run_abcdefghijklmnopqrstuvwxy2";
  record.session_id = "session_123";
  record.language = "python";
  record.status = RunStatus::oom;
  record.signal = SIGKILL;
  record.out = {.text = "ok\n", .raw = "ok\n", .bytes = 3};
  record.err = {
      .text = "a\n[wardcase: 5 bytes omitted]\nb", .raw = "a\nb", .bytes = 8, .truncated = true};
  record.output = "ok\n";
  record.duration = std::chrono::microseconds(1'999'999);
  record.cpu = std::chrono::microseconds(1'500);
  record.memory_peak_bytes = 134'217'728;
  record.oom_kills = 1;
  record.processes_peak = 2;
  record.limits.require(LimitId::memory, 134'217'728);
  record.limits.require(LimitId::cpus, 1500);
  record.limits_hit = {"memory"};
  record.enforced_by[static_cast<std::size_t>(LimitId::memory)] = sandbox::Enforcement::cgroup1;
  record.isolation = {
      .requested = {"pid_namespace"},
      .effective = {"pid_namespace"},
      .degraded = {{"memory_cgroup", "no such hierarchy", "watcher", "delegate it"}}};
  record.denied_syscalls = {{"ptrace", 3, "PTRACE_ATTACH", "", ""}};
  record.error = "out of memory: limit 128 MiB, peak 128 MiB";
  record.hint = "raise it with --memory";
  return record;
}

json::object parse(const std::string& text) { return json::parse(text).as_object(); }

TEST(RecordJson, TellsTheNamesOfTheContract) {
  const json::object object = parse(to_json(full_record()));
  EXPECT_EQ(object.at("schema_version"), 1);
  EXPECT_EQ(object.at("status"), "oom");
  EXPECT_EQ(object.at("success"), false);
  EXPECT_TRUE(object.at("exit_code").is_null());
  EXPECT_EQ(object.at("signal"), "SIGKILL");
  EXPECT_EQ(object.at("duration_ms"), 1999);
  EXPECT_EQ(object.at("cpu_ms"), 1);
  EXPECT_EQ(object.at("limits").at("memory_bytes"), 134'217'728);
  EXPECT_EQ(object.at("limits").at("cpus"), 1.5);
  EXPECT_TRUE(object.at("limits").at("idle_timeout_ms").is_null());
  EXPECT_EQ(object.at("enforced_by").at("memory"), "cgroup1");
  EXPECT_EQ(object.at("enforced_by").at("pids"), "none");
  EXPECT_EQ(object.at("isolation").at("degraded").at(0).at("instead"), "watcher");
  EXPECT_EQ(object.at("denied_syscalls").at(0).at("name"), "ptrace");
  EXPECT_EQ(object.at("start"), "cold");
}

TEST(RecordJson, ListsTheCallsThatWereRefused) {
  RunRecord record = full_record();
  record.denied_syscalls.reset();
  EXPECT_TRUE(parse(to_json(record)).at("denied_syscalls").is_null());
  record.denied_syscalls.emplace();
  EXPECT_EQ(parse(to_json(record)).at("denied_syscalls").as_array().size(), 0U);
  record.denied_syscalls->push_back({"ptrace", 3, "PTRACE_ATTACH", "w", "r"});
  EXPECT_EQ(json::serialize(parse(to_json(record)).at("denied_syscalls")),
            R"([{"name":"ptrace","count":3,"detail":"PTRACE_ATTACH"}])");
}

TEST(RecordJson, TellsWholeProcessorsAsAnInteger) {
  RunRecord record = full_record();
  record.limits.require(LimitId::cpus, 2000);
  EXPECT_NE(to_json(record).find("\"cpus\":2,"), std::string::npos);
}

TEST(RecordJson, HasNoExitCodeForWhatCouldNotBeExecuted) {
  RunRecord record = full_record();
  record.status = RunStatus::cannot_execute;
  record.exit_code = 126;
  EXPECT_TRUE(parse(to_json(record)).at("exit_code").is_null());
}

TEST(RecordJson, IsOneLine) { EXPECT_EQ(to_json(full_record()).find('\n'), std::string::npos); }

TEST(RecordJson, IsValidUtf8WhateverItIsGiven) {
  RunRecord record = full_record();
  record.error = "run '/tmp/\xff'";
  EXPECT_EQ(parse(to_json(record)).at("error"), "run '/tmp/\ufffd'");
}

TEST(RecordJson, GivesTheKeptBytesAsBase64InPlaceOfText) {
  RunRecord record = full_record();
  record.out.raw = "ok \xff\xfe";
  record.out.text = "ok \ufffd\ufffd";
  const json::object object = parse(to_json(record, OutputForm::base64));
  EXPECT_EQ(object.at("stdout_base64"), "b2sg//4=");
  EXPECT_EQ(object.at("stderr_base64"), "YQpi");
  EXPECT_FALSE(object.contains("stdout"));
  EXPECT_FALSE(object.contains("stderr"));
}

std::string in_source_tree(std::string_view path) {
  const auto root = std::filesystem::absolute(__FILE__).parent_path() / "../../..";
  return (root / path).lexically_normal().string();
}

// The validator's exit code for these records.
int validate(const std::string& records) {
  const std::string command = "/usr/bin/python3 '" +
                              in_source_tree("tests/unit/supervisor/validate_records.py") + "' '" +
                              in_source_tree("supervisor/run/record.schema.json") + "'";
  FILE* validator = ::popen(command.c_str(), "we");
  if (validator == nullptr) return -1;
  (void)std::fwrite(records.data(), 1, records.size(), validator);
  return ::pclose(validator);
}

TEST(RecordJson, IsWhatItsSchemaSays) {
  RunRecord empty;
  empty.id = full_record().id;
  std::string records = to_json(empty) + "\n";
  records += to_json(full_record()) + "\n";
  records += to_json(full_record(), OutputForm::base64) + "\n";
  for (int status = 0; status <= static_cast<int>(RunStatus::lost); ++status) {
    RunRecord record = full_record();
    record.status = static_cast<RunStatus>(status);
    record.exit_code = 1;
    record.signal.reset();
    records += to_json(record) + "\n";
  }
  EXPECT_EQ(validate(records), 0);
}

TEST(RecordJson, IsNotWhatItsSchemaSaysWithAMemberMoreOrLess) {
  json::object object = parse(to_json(full_record()));
  object["surprise"] = 1;
  EXPECT_NE(validate(json::serialize(object) + "\n"), 0);
  object.erase("surprise");
  EXPECT_EQ(validate(json::serialize(object) + "\n"), 0);
  object.erase("stdout");
  EXPECT_NE(validate(json::serialize(object) + "\n"), 0);
}

}  // namespace
}  // namespace wardcase::supervisor
