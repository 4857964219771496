// The tool calls of a session as they stand, put together from what was told of each.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "watchbill/acp/turn.hpp"

namespace watchbill::acp {

// What is said replaces what was known, lists as a whole; what is not said stays. A call that is heard of
// first by an update, or by a permission that is asked for, is one all the same: what nobody has said of it
// is empty, and its kind and status have the defaults of the schema. One thread. (ACP v1, "Tool Calls")
class ToolCalls {
 public:
  struct Limits {
    size_t calls = 1'000;
    size_t bytes = 8 << 20;  // of texts that are kept
  };
  ToolCalls() : ToolCalls(Limits{}) {}
  explicit ToolCalls(Limits limits);
  ~ToolCalls();
  ToolCalls(ToolCalls&&) noexcept;
  ToolCalls& operator=(ToolCalls&&) noexcept;

  // Gives the call as it is now, good until the next call that is not const. Copies what it keeps. Past a
  // limit the oldest others are forgotten, finished ones first; a call that is larger than the limit alone is
  // kept until the next one comes.
  const ToolCallUpdate& Merge(const ToolCallUpdate& update);
  // nullptr: it was not heard of, or is forgotten.
  const ToolCallUpdate* Find(std::string_view tool_call_id) const;

  // Forgets those that are completed or failed.
  void ForgetFinished();
  // Forgets the oldest, finished ones first, until no more than so many bytes are kept.
  void ShrinkTo(size_t bytes);
  size_t size() const;
  size_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace watchbill::acp
