#include "prompt.hpp"

#include <algorithm>

#include "watchbill/base/json_writer.hpp"

namespace watchbill::channels {
namespace {

bool OfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string_view FirstCharacters(std::string_view text, size_t characters) {
  size_t at = 0;
  for (size_t n = 0; n < characters && at < text.size(); ++n) {
    at += std::max<size_t>(1, json_detail::Utf8Length(text.substr(at)));
  }
  return text.substr(0, at);
}

}  // namespace

std::string TextOf(const history::Message& message) {
  std::string out;
  for (const history::Part& part : message.parts) {
    const auto* text = std::get_if<history::TextPart>(&part);
    if (text == nullptr) continue;
    if (!out.empty()) out.push_back('\n');
    out.append(text->text);
  }
  return out;
}

std::optional<std::string> CommandFor(std::string_view text, std::string_view agent) {
  if (!text.starts_with('/')) return std::nullopt;
  size_t end = 1;
  while (end < text.size() && OfName(text[end])) ++end;
  if (end == text.size() || text[end] != ':' || end == 1) return std::string(text);
  if (text.substr(1, end - 1) != agent) return std::nullopt;
  return "/" + std::string(text.substr(end + 1));
}

std::string Told(const std::vector<history::Message>& messages, size_t characters) {
  std::string out;
  for (const history::Message& message : messages) {
    if (message.role == history::Role::kSystem) continue;
    const std::string text = TextOf(message);
    if (text.empty()) continue;
    if (out.empty()) out = "What was said in this conversation before, oldest first:\n";
    const std::string_view shown = FirstCharacters(text, characters);
    out.append("\n").append(message.role == history::Role::kUser ? std::string_view("user") : message.agent);
    out.append(": ").append(shown).append(shown.size() < text.size() ? "…\n" : "\n");
  }
  return out;
}

}  // namespace watchbill::channels
