// JSON of `params` and `result` in, structures out.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "watchbill/acp/messages.hpp"

namespace watchbill::acp {

// Reads as leniently as the schema's hints ask: a member of the wrong kind has its default, a bad element of
// a list is left out, unknown members are let be. What was read is good until the Reader reads again. One
// thread.
class Reader {
 public:
  Reader();
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // `Message` is any type that Encode takes. InvalidArgument names what cannot be done without, and what was
  // expected there.
  template <typename Message>
  absl::StatusOr<Message> Read(JsonView json);

  // Any JSON, compact. InvalidArgument: it is none, and where that shows.
  absl::StatusOr<JsonView> Check(JsonView json);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace watchbill::acp
