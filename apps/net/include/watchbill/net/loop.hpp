// The event loop: one thread that waits for sockets, processes, timers and signals.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "watchbill/base/now.hpp"

namespace watchbill::net {

// Both clocks, now. The one place that reads them.
Now ReadClocks();

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs what is ready and waits for more, until Stop. One thread, the one that calls everything else.
  void Run();
  void Stop();
  // After what is running now. May be called from any thread.
  void Post(std::function<void()> work);
  // SIGINT, SIGTERM and SIGHUP come here instead of ending the process.
  void OnSignals(std::function<void(int)> handler);

  // For the files of apps/net.
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Calls once, at a moment of the monotonic clock. Setting it again forgets the one before; destroying it too.
class Timer {
 public:
  explicit Timer(Loop& loop);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // kNever: not at all.
  void At(int64_t mono_ns, std::function<void()> work);
  void Cancel();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace watchbill::net
