#include "watchbill/acp/read.hpp"

#include "decode.hpp"
#include "watchbill/acp/framer.hpp"

namespace watchbill::acp {

struct Reader::State {
  json::Document document{{.bytes = LineFramer::kLongestLine, .depth = 64}};
};

Reader::Reader() : state_(std::make_unique<State>()) {}
Reader::~Reader() = default;

namespace {

template <typename Decode>
auto Parsed(json::Document& document, JsonView text, const Decode& decode)
    -> decltype(decode(json::Value())) {
  if (text.absent()) return decode(json::Value());
  if (absl::Status status = document.Parse(text.text()); !status.ok()) return status;
  return decode(document.root());
}

}  // namespace

absl::StatusOr<InitializeRequest> Reader::Initialize(JsonView params) {
  return Parsed(state_->document, params, decode::Initialize);
}
absl::StatusOr<InitializeResponse> Reader::Initialized(JsonView result) {
  return Parsed(state_->document, result, decode::Initialized);
}
absl::StatusOr<NewSessionRequest> Reader::NewSession(JsonView params) {
  return Parsed(state_->document, params, decode::NewSession);
}
absl::StatusOr<NewSessionResponse> Reader::SessionMade(JsonView result) {
  return Parsed(state_->document, result, decode::SessionMade);
}
absl::StatusOr<PromptRequest> Reader::Prompt(JsonView params) {
  return Parsed(state_->document, params, decode::Prompt);
}
absl::StatusOr<PromptResponse> Reader::Prompted(JsonView result) {
  return Parsed(state_->document, result, decode::Prompted);
}
absl::StatusOr<SessionUpdate> Reader::Update(JsonView params) {
  return Parsed(state_->document, params, decode::Update);
}
absl::StatusOr<PermissionRequest> Reader::Permission(JsonView params) {
  return Parsed(state_->document, params, decode::Permission);
}
absl::StatusOr<OptText> Reader::PermissionAnswer(JsonView result) {
  return Parsed(state_->document, result, decode::PermissionAnswer);
}
absl::StatusOr<Text> Reader::Cancel(JsonView params) {
  return Parsed(state_->document, params, decode::Session);
}

}  // namespace watchbill::acp
