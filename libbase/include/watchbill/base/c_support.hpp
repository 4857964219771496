// What the C wrappers of the libraries share. For their `c_api.cc` alone.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "watchbill/base.h"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/now.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::c {

inline std::string_view View(wb_str s) {
  return s.data == nullptr ? std::string_view() : std::string_view(s.data, s.size);
}
inline wb_str Str(std::string_view s) { return {s.data(), s.size()}; }
inline wb_str Str(const std::optional<std::string_view>& s) { return s ? Str(*s) : wb_str{nullptr, 0}; }
inline Now Time(wb_now now) { return {now.mono_ns, now.wall_ms}; }

// Fills the caller's error, where there is one, and gives the negated code.
inline int32_t Fail(wb_error* err, absl::StatusCode code, std::string_view text) {
  if (err != nullptr) {
    err->code = static_cast<int32_t>(code);
    size_t n = 0;
    while (n < text.size()) {  // cut between characters
      const size_t step = std::max<size_t>(1, json_detail::Utf8Length(text.substr(n)));
      if (n + step >= sizeof err->text) break;
      n += step;
    }
    std::memcpy(err->text, text.data(), n);
    err->text[n] = '\0';
  }
  return -static_cast<int32_t>(code);
}
inline int32_t Fail(wb_error* err, const absl::Status& status) {
  return Fail(err, status.code(), MessageOf(status));
}

// Runs `body` so that nothing it throws leaves the library.
template <typename Body>
int32_t Guard(wb_error* err, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(err, absl::StatusCode::kResourceExhausted, "out of memory");
  } catch (const std::exception& e) {
    return Fail(err, absl::StatusCode::kInternal, e.what());
  } catch (...) {
    return Fail(err, absl::StatusCode::kInternal, "an unknown failure");
  }
}

// Copies what both sides know of a structure that grows at the end.
template <typename Struct>
void CopyKnown(Struct* to, const Struct& from, uint32_t caller_size) {
  const uint32_t n = std::min<uint32_t>(caller_size, sizeof(Struct));
  std::memcpy(to, &from, n);
  to->struct_size = caller_size;
}

}  // namespace watchbill::c
