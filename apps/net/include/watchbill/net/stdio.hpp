// This process's own standard input and output as a peer that is talked to.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "watchbill/net/loop.hpp"

namespace watchbill::net {

// What happens to them. Each is called from the loop, never from within a call on StandardStreams.
struct StandardStreamsEvents {
  std::function<void(std::string_view)> bytes;  // of standard input, as they come, 64 KiB at most
  std::function<void()> input_closed;           // nothing more will come
  // Nobody takes standard output any more; `why` is the system's reason. What is unwritten is lost, and so is
  // what is written from here on.
  std::function<void(std::string_view why)> output_closed;
  std::function<void()> drained;  // the last byte that was unwritten has been taken
};

// FailedPrecondition names the stream that the process was started without. To be asked before a Loop is
// made: the descriptors that a loop opens would stand in the place of one that is closed.
absl::Status CheckStandardStreams();

// Pipes, sockets, terminals and files, each read and written without ever waiting: input is read on while
// output is stuck. Nobody else may read or write the two streams while this lives.
class StandardStreams {
 public:
  // Unavailable: the system gives no descriptor for one of them.
  static absl::StatusOr<std::unique_ptr<StandardStreams>> Take(Loop& loop, StandardStreamsEvents events);
  // What is unwritten is lost. No event comes any more.
  ~StandardStreams();
  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;

  // Queued without limit: whoever writes looks at unwritten().
  void Write(std::string_view bytes);
  size_t unwritten() const;

  struct Impl;

 private:
  explicit StandardStreams(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace watchbill::net
