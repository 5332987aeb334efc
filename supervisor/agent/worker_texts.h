// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string_view>

namespace wardcase::agent {

// A program that interprets what a session is sent, in its own language: README.md says how it
// is started and spoken to.
struct WorkerText {
  std::string_view file_name;  // of its place below kWorkerDirectory
  std::string_view text;
};

inline constexpr std::string_view kWorkerDirectory = "/run/wardcase";
inline constexpr std::string_view kPythonWorker = "python_worker.py";
inline constexpr std::string_view kNodeWorker = "node_worker.cjs";
inline constexpr std::string_view kBashWorker = "bash_worker.sh";

// Bash's own place in messages is the text that it was started with: this one keeps it free.
inline constexpr std::string_view kBashBootstrap =
    ". /run/wardcase/bash_worker.sh; eval \"$__wardcase_loop\"";

[[nodiscard]] std::span<const WorkerText> worker_texts();

// That of one name; empty: there is none.
[[nodiscard]] std::string_view worker_text(std::string_view file_name);

}  // namespace wardcase::agent
