// Correlation: a question goes out with an `ask`, and the answer carries the same one back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "watchbill/base/now.hpp"

namespace watchbill::monitorproto {

// How long a button waits before it hears "It did not answer." ("Correlation").
inline constexpr int64_t kAnswerWithinNs = 10 * kSecond;

// The questions that are out. `Asker` is what the caller needs to know again when the answer comes. An answer
// is taken only from the connection that was asked. One thread.
template <typename Asker>
class Asks {
 public:
  // Remembers a question to `connection` and gives the `ask` to send.
  std::string Ask(uint64_t connection, Asker asker, Now now, int64_t within_ns = kAnswerWithinNs) {
    const uint64_t number = ++last_;
    waiting_.emplace(number, Waiting{connection, now.mono_ns + within_ns, std::move(asker)});
    return "ask-" + std::to_string(number);
  }

  // Who asked, once; nothing for an answer that nobody waits for, which is to be ignored.
  std::optional<Asker> Answered(uint64_t connection, std::string_view ask) {
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (it->second.connection == connection && ask == "ask-" + std::to_string(it->first)) {
        Asker asker = std::move(it->second.asker);
        waiting_.erase(it);
        return asker;
      }
    }
    return std::nullopt;
  }

  // Those whose time is up, and those whose connection is gone: nobody will answer them. Oldest first.
  std::vector<Asker> Expired(Now now) {
    return Take([&](const Waiting& w) { return w.deadline_ns <= now.mono_ns; });
  }
  std::vector<Asker> Closed(uint64_t connection) {
    return Take([&](const Waiting& w) { return w.connection == connection; });
  }

  int64_t Deadline() const {
    int64_t first = kNever;
    for (const auto& [number, w] : waiting_) first = std::min(first, w.deadline_ns);
    return first;
  }
  size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    uint64_t connection;
    int64_t deadline_ns;
    Asker asker;
  };
  template <typename Wanted>
  std::vector<Asker> Take(const Wanted& wanted) {
    std::vector<Asker> out;
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (!wanted(it->second)) {
        ++it;
        continue;
      }
      out.push_back(std::move(it->second.asker));
      it = waiting_.erase(it);
    }
    return out;
  }

  std::map<uint64_t, Waiting> waiting_;
  uint64_t last_ = 0;
};

}  // namespace watchbill::monitorproto
