// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/user_manager.h"

#include <sys/socket.h>
#include <systemd/sd-bus.h>

#include <chrono>
#include <cstring>
#include <memory>

namespace wardcase::supervisor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kService = "org.freedesktop.systemd1";
constexpr const char* kPath = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";
constexpr std::chrono::seconds kPatience{3};  // with each answer

template <typename T, T* (*Unref)(T*)>
struct Unreference {
  void operator()(T* object) const { (void)Unref(object); }
};
using Bus = std::unique_ptr<sd_bus, Unreference<sd_bus, sd_bus_flush_close_unref>>;
using Message = std::unique_ptr<sd_bus_message, Unreference<sd_bus_message, sd_bus_message_unref>>;

// As sd-bus has them: a negative errno.
sys::Status checked(int result, const char* what) {
  if (result >= 0) return {};
  return tl::unexpected(sys::Error{-result, what});
}

// What the manager says of a refused call is worth more than its errno.
sys::Status checked(int result, const sd_bus_error& error, const char* what) {
  if (result >= 0 || error.message == nullptr) return checked(result, what);
  return tl::unexpected(sys::plain_error(std::string(what) + ": " + error.message));
}

// In a container of its own pid namespace a number of ours is another process for a manager
// outside, who is process 0 in here (unix(7)).
sys::Status check_sees_the_same_pids(int fd) {
  ucred manager = {};
  socklen_t size = sizeof manager;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &manager, &size) < 0) {
    return tl::unexpected(sys::errno_error("ask who the manager is"));
  }
  if (manager.pid > 0) return {};
  return tl::unexpected(sys::plain_error("the manager is outside of this container"));
}

sys::Result<Bus> connect(const std::string& socket) {
  sd_bus* raw = nullptr;
  auto status = checked(sd_bus_new(&raw), "make a connection");
  Bus bus(raw);
  if (status) {
    status = checked(sd_bus_set_address(raw, ("unix:path=" + socket).c_str()), "set the address");
  }
  if (status) status = checked(sd_bus_set_trusted(raw, 1), "trust the manager");
  if (status) {
    const auto patience = std::chrono::microseconds(kPatience).count();
    status = checked(sd_bus_set_method_call_timeout(raw, static_cast<std::uint64_t>(patience)),
                     "limit the patience");
  }
  if (status) status = checked(sd_bus_start(raw), "connect");
  if (status) status = check_sees_the_same_pids(sd_bus_get_fd(raw));
  if (!status) return tl::unexpected(std::move(status).error());
  return bus;
}

// The job that is waited for, and how it ended.
struct Job {
  std::string path;
  std::string result;
};

// Signature "uoss": id, job, unit, result.
int on_job_removed(sd_bus_message* message, void* data, sd_bus_error*) {
  std::uint32_t id = 0;
  const char* path = nullptr;
  const char* unit = nullptr;
  const char* result = nullptr;
  const int read = sd_bus_message_read(message, "uoss", &id, &path, &unit, &result);
  auto& job = *static_cast<Job*>(data);
  if (read >= 0 && job.path == path) job.result = result;
  return 0;
}

sys::Result<Message> describe_scope(sd_bus* bus, pid_t pid) {
  sd_bus_message* raw = nullptr;
  const std::string name = "wardcase-" + std::to_string(pid) + "-" +
                           std::to_string(Clock::now().time_since_epoch().count()) + ".scope";
  auto status = checked(
      sd_bus_message_new_method_call(bus, &raw, kService, kPath, kManager, "StartTransientUnit"),
      "make the call");
  Message message(raw);
  if (status) status = checked(sd_bus_message_append(raw, "ss", name.c_str(), "fail"), "name it");
  if (status) {
    status =
        checked(sd_bus_message_append(raw, "a(sv)", 4, "Description", "s", "wardcase and its boxes",
                                      "PIDs", "au", 1, static_cast<std::uint32_t>(pid), "Delegate",
                                      "b", 1, "CollectMode", "s", "inactive-or-failed"),
                "describe it");
  }
  if (status) status = checked(sd_bus_message_append(raw, "a(sa(sv))", 0), "describe it");
  if (!status) return tl::unexpected(std::move(status).error());
  return message;
}

sys::Status call(sd_bus* bus, sd_bus_message* message, Job& job) {
  sd_bus_error error = {};
  sd_bus_message* raw = nullptr;
  auto status = checked(sd_bus_call(bus, message, 0, &error, &raw), error, "start the scope");
  sd_bus_error_free(&error);
  const Message reply(raw);
  if (!status) return status;
  const char* path = nullptr;
  status = checked(sd_bus_message_read(raw, "o", &path), "read the answer");
  if (status) job.path = path;
  return status;
}

sys::Status subscribe(sd_bus* bus, Job& job) {
  auto status = checked(sd_bus_match_signal(bus, nullptr, nullptr, kPath, kManager, "JobRemoved",
                                            on_job_removed, &job),
                        "listen");
  if (!status) return status;
  return checked(
      sd_bus_call_method(bus, kService, kPath, kManager, "Subscribe", nullptr, nullptr, nullptr),
      "subscribe");
}

// Signals that came with the reply to the call are dispatched here as well.
sys::Status await(sd_bus* bus, const Job& job) {
  const auto end = Clock::now() + kPatience;
  while (job.result.empty()) {
    const int processed = sd_bus_process(bus, nullptr);
    if (auto status = checked(processed, "hear of the scope"); !status) return status;
    if (processed > 0) continue;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
    if (left.count() <= 0)
      return tl::unexpected(sys::plain_error("the scope is not there in time"));
    const int waited = sd_bus_wait(bus, static_cast<std::uint64_t>(left.count()));
    if (auto status = checked(waited, "wait for the scope"); !status) return status;
  }
  if (job.result == "done") return {};
  return tl::unexpected(sys::plain_error("the scope's start ended as '" + job.result + "'"));
}

}  // namespace

sys::Status start_scope(const std::string& socket, pid_t pid) {
  const auto bus = connect(socket);
  if (!bus) return tl::unexpected(bus.error());
  Job job;
  auto status = subscribe(bus->get(), job);
  if (!status) return status;
  const auto message = describe_scope(bus->get(), pid);
  if (!message) return tl::unexpected(message.error());
  status = call(bus->get(), message->get(), job);
  return status ? await(bus->get(), job) : status;
}

}  // namespace wardcase::supervisor
