// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/workplace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "sandbox/landlock.h"

namespace wardcase::test {
namespace fs = std::filesystem;
namespace {

std::string from_environment(const char* name, const char* standard) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : standard;
}

fs::path make_temporary(const fs::path& pattern) {
  std::string name = pattern.string() + "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    ADD_FAILURE() << "make directory " << name << ": " << std::generic_category().message(errno);
  }
  return name;
}

void give_to(Caller caller, const fs::path& path) {
  if (::geteuid() != 0) return;
  const uid_t uid = uid_of(caller);
  EXPECT_EQ(::lchown(path.c_str(), uid, uid), 0) << path;
}

void make_private(Caller caller, const fs::path& path) {
  fs::create_directories(path);
  fs::permissions(path, fs::perms::owner_all);
  give_to(caller, path);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Caller caller) {
  return out << (caller == Caller::root ? "root" : "user");
}

uid_t uid_of(Caller caller) {
  if (::geteuid() != 0) return ::geteuid();
  return caller == Caller::root ? 0 : kOrdinaryUid;
}

bool can_be(Caller caller) { return caller == Caller::user || ::geteuid() == 0; }

const Workplace& Workplace::get() {
  static const Workplace workplace;
  return workplace;
}

Workplace::Workplace() {
  std::error_code ignored;
  root_ = make_temporary(fs::temp_directory_path(ignored) / "wardcase-test");
  fs::permissions(root_, fs::perms(0755));
  fs::create_directory(root_ / "bin");
  fs::create_directory(root_ / "scratch");
  fs::permissions(root_ / "scratch", fs::perms(0755));

  const fs::path command = from_environment("WARDCASE_BINARY", "build/wardcase");
  std::error_code error;
  for (const char* suffix : {"", "-server", "-agent"}) {
    const fs::path from = command.string() + suffix;
    fs::copy_file(from, root_ / (std::string("bin/wardcase") + suffix), error);
    EXPECT_FALSE(error) << "copy " << from << ": " << error.message();
  }

  const fs::path programs = from_environment("WARDCASE_TEST_PROGRAMS", "build/tests/programs");
  if (fs::exists(programs)) {
    fs::copy(programs, root_ / "programs", fs::copy_options::recursive, error);
    EXPECT_FALSE(error) << "copy " << programs << ": " << error.message();
  }
  for (const Caller caller : {Caller::root, Caller::user}) {
    if (!can_be(caller)) continue;
    make_private(caller, home(caller));
    make_private(caller, runtime(caller));
    make_private(caller, temporary(caller));
  }
}

Workplace::~Workplace() {
  std::error_code ignored;  // at exit there is nobody left to tell
  fs::remove_all(root_, ignored);
}

fs::path Workplace::home(Caller caller) const {
  return root_ / (caller == Caller::root ? "home-root" : "home-user");
}

fs::path Workplace::runtime(Caller caller) const {
  return root_ / (caller == Caller::root ? "runtime-root" : "runtime-user");
}

fs::path Workplace::temporary(Caller caller) const {
  return root_ / (caller == Caller::root ? "tmp-root" : "tmp-user");
}

ScratchDirectory::ScratchDirectory(Caller caller)
    : caller_(caller), path_(make_temporary(Workplace::get().root() / "scratch" / "dir")) {
  give_to(caller_, path_);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code error;
  fs::remove_all(path_, error);
  EXPECT_FALSE(error) << "remove " << path_ << ": " << error.message();
}

std::string ScratchDirectory::write(const std::string& name, std::string_view text,
                                    mode_t mode) const {
  const fs::path path = path_ / name;
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(::chmod(path.c_str(), mode), 0) << path;
  give_to(caller_, path);
  return path.string();
}

bool has_landlock() { return sandbox::landlock_abi().value_or(0) >= sandbox::kLowestLandlockAbi; }

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;  // an iterator would throw for a process that goes while it is read
  text << file.rdbuf();
  return text.str();
}

}  // namespace wardcase::test
