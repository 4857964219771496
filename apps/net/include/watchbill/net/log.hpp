// Structured lines on standard error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace watchbill::net {

enum class LogLevel { kInfo, kWarn, kError };
enum class LogFormat { kText, kJson };

// For the whole process; text until it is said.
void SetLogFormat(LogFormat format);

// One field of a line: a name and a text, or a number.
struct LogField {
  LogField(std::string_view n, std::string_view v) : name(n), value(v) {}
  LogField(std::string_view n, const char* v) : name(n), value(v) {}
  LogField(std::string_view n, const std::string& v) : name(n), value(v) {}
  LogField(std::string_view n, int64_t v) : name(n), value(std::to_string(v)), number(true) {}
  std::string name, value;
  bool number = false;
};

// `what` is a sentence without figures, so that lines of one kind can be counted; what differs goes in
// fields. Never a secret. Control characters are escaped: a name cannot forge a line.
//   text:  2026-11-30T18:00:00.000Z warn  a frame could not be read  socket=agent why="not JSON: …"
//   json:  {"at":"…","level":"warn","what":"…","socket":"agent","why":"…"}
void Log(LogLevel level, std::string_view what, std::initializer_list<LogField> fields = {});

}  // namespace watchbill::net
