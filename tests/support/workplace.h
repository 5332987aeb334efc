// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <ostream>
#include <string>

namespace wardcase::test {

// Who calls wardcase in a test.
enum class Caller : std::uint8_t { root, user };
std::ostream& operator<<(std::ostream& out, Caller caller);

// The account of Caller::user when the tests run as root: a number that no
// passwd file knows. Everybody else is himself.
inline constexpr uid_t kOrdinaryUid = 65531;
[[nodiscard]] uid_t uid_of(Caller caller);

// True if this process can call wardcase as `caller`.
[[nodiscard]] bool can_be(Caller caller);

// Where the tests of one program work: a directory that every caller can reach
// (a clone below root's home can't be), with copies of the command and of the
// hostile programs, and a home and a runtime directory for each caller. Made at
// the first use, removed when the program ends.
class Workplace {
 public:
  static const Workplace& get();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace();

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path command() const { return root_ / "bin/wardcase"; }
  [[nodiscard]] std::filesystem::path program(const std::string& name) const {
    return root_ / "programs" / name;
  }
  [[nodiscard]] std::filesystem::path home(Caller caller) const;
  // What XDG_RUNTIME_DIR says. wardcase as root uses /run/wardcase all the same.
  [[nodiscard]] std::filesystem::path runtime(Caller caller) const;
  // What TMPDIR says: anything left here is a leak.
  [[nodiscard]] std::filesystem::path temporary(Caller caller) const;

 private:
  Workplace();
  std::filesystem::path root_;
};

// A directory of mode 0700 that belongs to `caller`; removed at the end of the scope.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(Caller caller);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Makes a file that belongs to the caller and returns its path.
  [[nodiscard]] std::string write(const std::string& name, std::string_view text,
                                  mode_t mode = 0644) const;

 private:
  Caller caller_;
  std::filesystem::path path_;
};

// Whether this kernel has what a box wants of Landlock.
[[nodiscard]] bool has_landlock();

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace wardcase::test
