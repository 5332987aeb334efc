// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/languages/out_directory.h"
#include "supervisor/languages/sha256.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// Reads one file, some of it at a time: compares it, sums it up, and copies it.
class ArtifactReader {
 public:
  enum class State : std::uint8_t {
    reading,
    unchanged,  // it is what it was known to be
    changed,    // it is not; to go on reads it from its start
    whole,      // artifact() is complete
    failed,     // errno in error()
  };

  // Of `file` at most `size` bytes are read. `known` is borrowed; -1: nothing to compare with.
  // `out`, `known` and the directory outlive this; nullptr: it is not copied.
  ArtifactReader(std::string path, sys::UniqueFd file, std::uint64_t size, int known,
                 const OutDirectory* out);

  // Goes on by a chunk.
  State step();
  [[nodiscard]] const Artifact& artifact() const { return artifact_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] int error() const { return error_; }
  // What became of the copy.
  [[nodiscard]] const sys::Status& brought() const { return brought_; }

 private:
  State compare();
  State read_on();
  State complete();
  void copy(std::string_view bytes);

  sys::UniqueFd file_;
  std::uint64_t size_;
  int known_;
  const OutDirectory* out_;
  std::uint64_t at_ = 0;
  std::vector<char> chunk_;
  std::vector<char> known_chunk_;
  Sha256 sum_;
  std::string beginning_;
  std::optional<OutFile> copy_;
  Artifact artifact_;
  sys::Status brought_;
  int error_ = 0;
};

}  // namespace wardcase::supervisor
