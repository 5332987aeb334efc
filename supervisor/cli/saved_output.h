// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/run.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// --save-output: the whole of each stream, as it comes, in DIR/stdout and
// DIR/stderr, where the record keeps head and tail.
class SavedOutput {
 public:
  // Makes the directory if it is missing, and both files anew.
  static sys::Result<SavedOutput> create(const std::string& directory);

  // Regular files take all at once. The first failure is kept and ends the saving.
  void write(Stream stream, std::string_view bytes);
  [[nodiscard]] const sys::Status& status() const { return status_; }

 private:
  std::string directory_;
  std::array<sys::UniqueFd, 2> files_;  // by Stream
  sys::Status status_;
};

// --meta: the record by the keys of isolate's meta files (`time:0.004` and so on),
// for judges that read those. Replaces the file.
[[nodiscard]] sys::Status write_meta(const std::string& path, const RunRecord& record);

// The text of it.
[[nodiscard]] std::string meta_text(const RunRecord& record);

}  // namespace wardcase::supervisor
