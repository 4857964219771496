#include "watchbill/acp/tool_calls.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <string>
#include <utility>

#include "texts.hpp"

namespace watchbill::acp {

namespace {

bool Finished(const ToolCallUpdate& call) { return call.status == "completed" || call.status == "failed"; }

// Part of a call that is said as a whole and replaced as a whole, with the bytes it has views of.
struct Part {
  wire::Block block;

  // Gives by how much more is kept.
  template <typename T>
  int64_t Take(const T& said, T& kept) {
    const auto before = static_cast<int64_t>(block.size);
    kept = said;
    block = wire::TakeOver(kept);
    return static_cast<int64_t>(block.size) - before;
  }
};

}  // namespace

struct ToolCalls::State {
  struct Call {
    ToolCallUpdate now;
    Part id, title, name, kind, status, content, locations, raw_input, raw_output, meta;
    int64_t bytes = 0;
  };
  using Order = std::list<Call>;  // by the first that was heard of each

  void Forget(Order::iterator call) {
    if (Finished(call->now)) --finished;
    bytes -= call->bytes;
    by_id.erase(call->now.tool_call_id);
    order.erase(call);
  }
  // The oldest that is finished, else the oldest, but never this one.
  Order::iterator Oldest(const Call* but) {
    // Looked for only where there is one: a thousand that run are not gone through for each new one.
    if (finished > (but != nullptr && Finished(but->now) ? 1u : 0u)) {
      for (auto it = order.begin(); it != order.end(); ++it) {
        if (&*it != but && Finished(it->now)) return it;
      }
    }
    return &order.front() == but ? std::next(order.begin()) : order.begin();
  }

  Limits limits;
  Order order;
  std::map<std::string_view, Order::iterator> by_id;  // views of the calls' own ids
  int64_t bytes = 0;
  size_t finished = 0;  // of those in `order`
};

ToolCalls::ToolCalls(Limits limits) : state_(std::make_unique<State>()) { state_->limits = limits; }
ToolCalls::~ToolCalls() = default;
ToolCalls::ToolCalls(ToolCalls&&) noexcept = default;
ToolCalls& ToolCalls::operator=(ToolCalls&&) noexcept = default;

const ToolCallUpdate& ToolCalls::Merge(const ToolCallUpdate& u) {
  auto found = state_->by_id.find(u.tool_call_id);
  if (found == state_->by_id.end()) {
    State::Call& made = state_->order.emplace_back();
    made.bytes += made.id.Take(u.tool_call_id, made.now.tool_call_id);
    state_->bytes += made.bytes;
    made.now.is_new = true;
    made.now.title = "";
    made.now.kind = "other";
    made.now.status = "pending";
    made.now.content.emplace();
    made.now.locations.emplace();
    found = state_->by_id.emplace(made.now.tool_call_id, std::prev(state_->order.end())).first;
  }
  State::Call& call = *found->second;
  const bool was_finished = Finished(call.now);
  int64_t more = 0;
  const auto take = [&](const auto& said, Part& part, auto& kept) {
    if (said && kept != said) more += part.Take(said, kept);
  };
  // A word that the protocol knows need not be copied.
  const auto take_word = [&](const OptText& said, wire::Words words, Part& part, OptText& kept) {
    if (!said || kept == said) return;
    const auto known = std::find(words.begin(), words.end(), *said);
    if (known == words.end()) {
      more += part.Take(said, kept);
      return;
    }
    kept = *known;
    more -= static_cast<int64_t>(part.block.size);
    part.block = {};
  };
  const auto take_json = [&](JsonView said, Part& part, JsonView& kept) {
    if (!said.absent() && !(kept == said)) more += part.Take(said, kept);
  };
  take(u.title, call.title, call.now.title);
  take(u.name, call.name, call.now.name);
  take_word(u.kind, wire::kToolKinds, call.kind, call.now.kind);
  take_word(u.status, wire::kToolStatuses, call.status, call.now.status);
  take(u.content, call.content, call.now.content);
  take(u.locations, call.locations, call.now.locations);
  take_json(u.raw_input, call.raw_input, call.now.raw_input);
  take_json(u.raw_output, call.raw_output, call.now.raw_output);
  take_json(u.meta, call.meta, call.now.meta);
  if (Finished(call.now) != was_finished) was_finished ? --state_->finished : ++state_->finished;
  call.bytes += more;
  state_->bytes += more;
  while (state_->order.size() > 1 && (state_->order.size() > state_->limits.calls ||
                                      state_->bytes > static_cast<int64_t>(state_->limits.bytes))) {
    state_->Forget(state_->Oldest(&call));
  }
  return call.now;
}

const ToolCallUpdate* ToolCalls::Find(std::string_view tool_call_id) const {
  const auto it = state_->by_id.find(tool_call_id);
  return it == state_->by_id.end() ? nullptr : &it->second->now;
}

void ToolCalls::ForgetFinished() {
  for (auto it = state_->order.begin(); it != state_->order.end();) {
    const auto here = it++;
    if (Finished(here->now)) state_->Forget(here);
  }
}

void ToolCalls::ShrinkTo(size_t bytes) {
  while (state_->bytes > static_cast<int64_t>(bytes)) state_->Forget(state_->Oldest(nullptr));
}

size_t ToolCalls::size() const { return state_->order.size(); }
size_t ToolCalls::bytes() const { return static_cast<size_t>(state_->bytes); }

}  // namespace watchbill::acp
