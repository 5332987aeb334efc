// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {

// A file that is to come into a box.
struct DeliveredFile {
  std::string name;  // relative to /box, as why_no_box_name() has it
  mode_t mode = 0644;
};

// Files that come into a box together: under names of their own until all are whole, and then into
// their places, or not at all. They are the box's own from the first byte, within its limits, and
// are written with the rights of its user.
class BoxDelivery {
 public:
  // `box` is /box, and is shared.
  static sys::Result<BoxDelivery> create(int box, const BoxUser& user,
                                         std::vector<DeliveredFile> files);
  BoxDelivery(BoxDelivery&&) noexcept = default;
  BoxDelivery& operator=(BoxDelivery&&) = delete;
  ~BoxDelivery();  // what did not come into its place is removed

  [[nodiscard]] bool is_whole() const { return at_ == files_.size(); }
  // The next bytes of the first file that is not whole; none: now it is.
  [[nodiscard]] sys::Status write(std::string_view bytes);
  // Once all are whole: makes the directories on the way, and replaces regular files alone. Fails
  // where `box` is another by now. Of a failure before the first took its place nothing is left.
  [[nodiscard]] sys::Status take_places(int box);
  [[nodiscard]] const std::vector<DeliveredFile>& files() const { return files_; }

 private:
  BoxDelivery(sys::UniqueFd box, const BoxUser& user, std::vector<DeliveredFile> files);
  [[nodiscard]] std::string unfinished(std::size_t number) const;
  [[nodiscard]] sys::Status begin_file();
  [[nodiscard]] sys::Status check_place(const std::string& name) const;
  [[nodiscard]] sys::Status take_place(std::size_t number);

  sys::UniqueFd box_;
  BoxUser user_;
  std::vector<DeliveredFile> files_;
  std::string id_;
  sys::UniqueFd file_;      // that is written
  std::size_t at_ = 0;      // its number
  std::size_t placed_ = 0;  // so many are in their places
};

}  // namespace wardcase::supervisor
