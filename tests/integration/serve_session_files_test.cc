// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Files of the service's sessions: written, read, listed and removed, and never others.
#include <gtest/gtest.h>

#include <cstdlib>

#include "supervisor/run/json_text.h"
#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using ServeSessionFiles = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeSessionFiles);

const std::string kFiles = "/v1/sessions/s/files/";

HttpAnswer put(HttpClient& client, const std::string& name, const std::string& content) {
  (void)client.send("PUT " + kFiles + name + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                    std::to_string(content.size()) + "\r\n\r\n" + content);
  return client.receive();
}

std::string out_of(HttpClient& client, std::string_view code) {
  const HttpAnswer answer =
      client.post("/v1/sessions/s/exec", "{\"code\": " + supervisor::json_string(code) + "}");
  EXPECT_EQ(answer.json().status(), "exited") << answer;
  return answer.json().out();
}

HttpClient with_session(const Service& service) {
  HttpClient client = service.client();
  EXPECT_EQ(client.post("/v1/sessions", R"({"id": "s"})").status, 201);
  return client;
}

TEST_P(ServeSessionFiles, WhatIsWrittenIsReadByTheProgramAndTheOtherWayRound) {
  const Service service = start();
  HttpClient client = with_session(service);
  EXPECT_EQ(client.get(kFiles + "none").status, 404) << "and no box yet";
  std::string content = "begin\r\n";
  for (int i = 0; i < 300'000; ++i) content += static_cast<char>(i % 251);
  EXPECT_EQ(put(client, "a%20b.bin", content).status, 201);
  EXPECT_EQ(out_of(client,
                   "import os; os.mkdir('d'); data = open('a b.bin', 'rb').read()\n"
                   "open('d/copy', 'wb').write(data); print(len(data))"),
            std::to_string(content.size()) + "\n");
  const HttpAnswer copy = client.get(kFiles + "d/copy");
  EXPECT_EQ(copy.status, 200);
  EXPECT_TRUE(copy.body == content);
  EXPECT_EQ(put(client, "d/copy", "short").status, 201) << "in place of what was there";
  EXPECT_EQ(client.get(kFiles + "d/copy").body, "short");
  EXPECT_EQ(put(client, "empty.txt", "").status, 201);
  const HttpAnswer empty = client.get(kFiles + "empty.txt");
  EXPECT_EQ(empty.body, "");
  EXPECT_EQ(empty.header("Content-Type"), "text/plain");
  const Record list = client.get("/v1/sessions/s/files").json();
  EXPECT_EQ(list.text("entries.0.name"), "a b.bin");
  EXPECT_EQ(list.text("entries.1.type"), "d");
  EXPECT_EQ(client.get(kFiles + "d?list").json().text("entries.0.name"), "copy");
  EXPECT_EQ(client.remove(kFiles + "d/copy").status, 200);
  EXPECT_EQ(client.get(kFiles + "d/copy").json().text("code"), "no_such_file");
  EXPECT_EQ(client.remove(kFiles + "d").status, 200) << "an empty directory";
  EXPECT_EQ(client.remove(kFiles + "d").status, 404);
}

TEST_P(ServeSessionFiles, PartsAndTagsAreToldOfAFile) {
  const Service service = start();
  HttpClient client = with_session(service);
  EXPECT_EQ(put(client, "f", "0123456789").status, 201);
  (void)client.send("HEAD " + kFiles + "f HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const HttpAnswer head = client.receive_head();
  EXPECT_EQ(head.header("Content-Length"), "10");
  const std::string tag = head.header("ETag");
  (void)client.send("GET " + kFiles + "f HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: " + tag +
                    "\r\n\r\n");
  EXPECT_EQ(client.receive_head().status, 304) << "without a body";
  HttpClient other = service.client();
  const HttpAnswer part = other.get(kFiles + "f", "Range: bytes=2-4\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(part.header("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(other.get(kFiles + "f", "Range: bytes=-3\r\n").body, "789");
  const HttpAnswer none = other.get(kFiles + "f", "Range: bytes=10-\r\n");
  EXPECT_EQ(none.status, 416) << none;
  EXPECT_EQ(none.header("Content-Range"), "bytes */10");
  EXPECT_EQ(other.get(kFiles + "f", "Range: bytes=2-4\r\nIf-Range: \"old\"\r\n").body,
            "0123456789");
  EXPECT_EQ(put(other, "f", "0123456780").status, 201);
  const HttpAnswer changed = other.get(kFiles + "f", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(changed.status, 200);
  EXPECT_NE(changed.header("ETag"), tag);
}

TEST_P(ServeSessionFiles, NothingLeadsOutOfTheBox) {
  const Service service = start();
  HttpClient client = with_session(service);
  // As control: the same names are files like others where no link stands in the way.
  EXPECT_EQ(out_of(client,
                   "import os; os.mkdir('real'); os.symlink('/etc', 'etc')\n"
                   "os.symlink('/etc/passwd', 'passwd'); os.mkfifo('pipe')\n"
                   "open('real/passwd', 'w').write('ours'); print('armed')"),
            "armed\n");
  EXPECT_EQ(client.get(kFiles + "real/passwd").body, "ours");
  EXPECT_EQ(put(client, "real/new", "x").status, 201);
  for (const std::string name :
       {"etc/passwd", "passwd", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd",
        "%2fetc%2fpasswd", "real/../../etc/passwd", "pipe"}) {
    const HttpAnswer read = client.get(kFiles + name);
    EXPECT_EQ(read.status, 409) << name << " " << read;
    EXPECT_EQ(read.json().text("code"), "file_refused") << name;
  }
  for (const std::string name : {"etc/new", "passwd", "../new", "%2ftmp%2fnew"}) {
    EXPECT_EQ(put(client, name, "x").status, 409) << name;
  }
  EXPECT_EQ(client.remove(kFiles + "etc/passwd").status, 409);
  EXPECT_EQ(client.remove(kFiles + "..").status, 409);
  EXPECT_EQ(client.get(kFiles + "a%00b").status, 400);
  EXPECT_EQ(client.remove(kFiles + "passwd").status, 200) << "the link, and not what it names";
  EXPECT_EQ(out_of(client, "print(os.path.lexists('passwd'), os.path.exists('/etc/passwd'))")
                .substr(0, 5),
            "False");
}

// In KiB.
std::uint64_t memory_peak_of(pid_t process) {
  const std::string status = read_file("/proc/" + std::to_string(process) + "/status");
  return std::strtoul(status.c_str() + status.find("VmHWM:") + 6, nullptr, 10);
}

TEST_P(ServeSessionFiles, ALargeFileIsNeverHeldAsAWhole) {
  Service service = start();
  HttpClient client = with_session(service);
  EXPECT_EQ(out_of(client,
                   "f = open('large', 'wb')\n"
                   "for i in range(100): f.write(bytes([i]) * (1 << 20))\n"
                   "f.close(); print('armed')"),
            "armed\n");
  (void)client.send("GET " + kFiles + "large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const HttpAnswer head = client.receive_head();
  EXPECT_EQ(head.header("Content-Length"), std::to_string(100 << 20));
  EXPECT_EQ(service.run(R"({"argv": ["true"]})").status(), "exited") << "others are served";
  EXPECT_LT(memory_peak_of(service.process().pid()), 64U << 10U);
  client.hang_up();
  HttpClient other = service.client();
  EXPECT_EQ(other.get(kFiles + "large", "Range: bytes=104857599-\r\n").body, "c");
}

TEST_P(ServeSessionFiles, AFullBoxIsToldAsSuch) {
  const Service service = start();
  HttpClient client = service.client();
  EXPECT_EQ(client.post("/v1/sessions", R"({"id": "s", "limits": {"disk_bytes": 4194304}})").status,
            201);
  const HttpAnswer full = put(client, "f", std::string(8 << 20, 'x'));
  EXPECT_EQ(full.status, 507) << full;
  EXPECT_EQ(full.json().text("code"), "no_space");
  EXPECT_EQ(client.get(kFiles + "f").status, 404) << "nothing of it is left";
}

}  // namespace
}  // namespace wardcase::test
