#include <signal.h>
#include <time.h>

#include <boost/asio/post.hpp>

#include "loop_impl.hpp"

namespace watchbill::net {

Now ReadClocks() {
  timespec mono{}, wall{};
  clock_gettime(CLOCK_MONOTONIC, &mono);
  clock_gettime(CLOCK_REALTIME, &wall);
  return {mono.tv_sec * kSecond + mono.tv_nsec, wall.tv_sec * 1000 + wall.tv_nsec / kMillisecond};
}

Loop::Loop() : impl_(std::make_unique<Impl>()) {
  // A log that nobody reads any more is no reason to end.
  signal(SIGPIPE, SIG_IGN);
}
Loop::~Loop() = default;

void Loop::Run() { impl_->context.run(); }
void Loop::Stop() { impl_->context.stop(); }
void Loop::Post(std::function<void()> work) { asio::post(impl_->context, std::move(work)); }

void Loop::OnSignals(std::function<void(int)> handler) {
  auto& signals = impl_->signals.emplace(impl_->context, SIGINT, SIGTERM, SIGHUP);
  struct Wait {
    asio::signal_set& set;
    std::function<void(int)> handler;
    void operator()(const boost::system::error_code& ec, int number) {
      if (ec) return;
      handler(number);
      set.async_wait(*this);
    }
  };
  signals.async_wait(Wait{signals, std::move(handler)});
}

struct Timer::Impl {
  explicit Impl(Loop& loop) : timer(loop.impl().context.get_executor()) {}
  SteadyTimer timer;
  uint64_t generation = 0;  // a wait that was cancelled too late must not call
};

Timer::Timer(Loop& loop) : impl_(std::make_shared<Impl>(loop)) {}
Timer::~Timer() { Cancel(); }

void Timer::Cancel() {
  ++impl_->generation;
  impl_->timer.cancel();
}

void Timer::At(int64_t mono_ns, std::function<void()> work) {
  Cancel();
  if (mono_ns == kNever) return;
  impl_->timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(mono_ns)));
  impl_->timer.async_wait([impl = impl_, generation = impl_->generation,
                           work = std::move(work)](const boost::system::error_code& ec) {
    if (!ec && impl->generation == generation) work();
  });
}

}  // namespace watchbill::net
