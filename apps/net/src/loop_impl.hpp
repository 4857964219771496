// What the files of apps/net see of the loop.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <optional>

#include "watchbill/net/loop.hpp"

namespace watchbill::net {

namespace asio = boost::asio;
using Executor = asio::io_context::executor_type;
// The concrete executor, not any_io_executor: a fifth of the cost of a frame.
using SteadyTimer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                               asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Loop::Impl {
  Impl() : context(1), work(context.get_executor()) {}
  asio::io_context context;
  asio::executor_work_guard<Executor> work;
  std::optional<asio::signal_set> signals;
  std::optional<asio::signal_set> ended_children;  // where orphans are adopted: SIGCHLD
};

}  // namespace watchbill::net
