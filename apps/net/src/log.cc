#include "watchbill/net/log.hpp"

#include <unistd.h>

#include <atomic>

#include "watchbill/base/json_writer.hpp"
#include "watchbill/net/loop.hpp"

namespace watchbill::net {
namespace {

std::atomic<LogFormat> format_in_use{LogFormat::kText};

std::string_view WordFor(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "";
}

bool Plain(std::string_view value) {
  for (const char c : value) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\x7f' || c == '\\')
      return false;
  }
  return !value.empty();
}

}  // namespace

void SetLogFormat(LogFormat format) { format_in_use = format; }

void Log(LogLevel level, std::string_view what, std::initializer_list<LogField> fields) {
  std::string line;
  const std::string at = IsoFromWallMs(ReadClocks().wall_ms);
  if (format_in_use == LogFormat::kJson) {
    JsonWriter w(line);
    w.Begin('{').Key("at").String(at).Key("level").String(WordFor(level)).Key("what").String(what);
    for (const LogField& field : fields) {
      w.Key(field.name);
      if (field.number) {
        w.Json(JsonView::Trusted(field.value));
      } else {
        w.String(field.value);
      }
    }
    w.End('}');
  } else {
    line.append(at)
        .append(" ")
        .append(WordFor(level))
        .append(level == LogLevel::kError ? " " : "  ")
        .append(what);
    for (const LogField& field : fields) {
      line.append("  ").append(field.name).append("=");
      if (Plain(field.value)) {
        line.append(field.value);
      } else {
        AppendJsonString(line, field.value);
      }
    }
  }
  line.push_back('\n');
  // One write, so that lines of several processes on one terminal do not mix.
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t n = write(STDERR_FILENO, line.data() + sent, line.size() - sent);
    if (n <= 0) break;
    sent += static_cast<size_t>(n);
  }
}

}  // namespace watchbill::net
