#include "watchbill/acp/read.hpp"

#include "decode.hpp"
#include "fields.hpp"
#include "watchbill/acp/framer.hpp"

namespace watchbill::acp {

struct Reader::State {
  json::Document document{{.bytes = LineFramer::kLongestLine, .depth = 64}};
};

Reader::Reader() : state_(std::make_unique<State>()) {}
Reader::~Reader() = default;

template <typename Message>
absl::StatusOr<Message> Reader::Read(JsonView json) {
  if (json.absent()) return wire::Read<Message>(json::Value());
  if (absl::Status status = state_->document.Parse(json.text()); !status.ok()) return status;
  return wire::Read<Message>(state_->document.root());
}

absl::StatusOr<JsonView> Reader::Check(JsonView json) {
  if (absl::Status status = state_->document.Parse(json.text()); !status.ok()) return status;
  return state_->document.root().text();
}

#define WATCHBILL_ACP_READER(Type, words) template absl::StatusOr<Type> Reader::Read<Type>(JsonView);
WATCHBILL_ACP_MESSAGES(WATCHBILL_ACP_READER)
#undef WATCHBILL_ACP_READER

}  // namespace watchbill::acp
