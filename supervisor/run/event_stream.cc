// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/event_stream.h"

#include <utility>

#include "supervisor/run/json_text.h"
#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {
namespace {

std::string_view type_of(Stream stream) { return stream == Stream::out ? "stdout" : "stderr"; }

}  // namespace

EventStream::EventStream(LineSink sink, OutputForm form) : sink_(std::move(sink)), form_(form) {}

void EventStream::on_start(std::string_view run_id) {
  write_event("start", "\"id\":" + json_string(to_utf8(run_id)));
}

void EventStream::on_output(Stream stream, std::string_view bytes) {
  std::string& waiting = unfinished_[static_cast<std::size_t>(stream)];
  const std::string chunk = std::exchange(waiting, {}).append(bytes);
  TextDecoder decoder;
  std::string text;
  decoder.decode(chunk, text);
  const std::size_t finished = chunk.size() - decoder.unfinished();
  waiting = chunk.substr(finished);
  if (finished == 0) return;
  if (decoder.errors() > 0) {
    write_bytes(stream, std::string_view(chunk).substr(0, finished));
  } else {
    write_event(type_of(stream), "\"data\":" + json_string(text));
  }
}

void EventStream::on_end(const RunRecord& record) {
  for (const Stream stream : {Stream::out, Stream::err}) {
    const std::string waiting = std::exchange(unfinished_[static_cast<std::size_t>(stream)], {});
    if (!waiting.empty()) write_bytes(stream, waiting);
  }
  for (const Artifact& artifact : record.artifacts) {
    const std::string object = to_json(artifact);
    write_event("artifact", std::string_view(object).substr(1, object.size() - 2));
  }
  const std::string object = to_json(record, form_);
  write_event("exit", std::string_view(object).substr(1, object.size() - 2));
}

void EventStream::write_bytes(Stream stream, std::string_view bytes) {
  write_event(type_of(stream), "\"data_base64\":\"" + base64(bytes) + '"');
}

void EventStream::write_event(std::string_view type, std::string_view members) {
  std::string line = "{\"seq\":" + std::to_string(++sequence_) + ",\"type\":\"";
  line.append(type).append("\",").append(members).append("}\n");
  sink_(line);
}

}  // namespace wardcase::supervisor
