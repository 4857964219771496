// What prompts, messages and tool calls are made of. (ACP v1, "Content"; the shapes are those of MCP.)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "watchbill/base/json_text.hpp"

namespace watchbill::acp {

using Text = std::string_view;
using OptText = std::optional<std::string_view>;
// `_meta`: an object that is passed on and not looked into; absent where there was none.
using Meta = JsonView;

struct Annotations {
  std::optional<std::vector<Text>> audience;  // "user", "assistant"
  OptText last_modified;                      // ISO 8601
  std::optional<double> priority;
  Meta meta;
  bool operator==(const Annotations&) const = default;
};

struct TextContent {
  Text text;
  std::optional<Annotations> annotations;
  Meta meta;
  bool operator==(const TextContent&) const = default;
};
struct ImageContent {
  Text data;  // base64
  Text mime_type;
  OptText uri;
  std::optional<Annotations> annotations;
  Meta meta;
  bool operator==(const ImageContent&) const = default;
};
struct AudioContent {
  Text data;  // base64
  Text mime_type;
  std::optional<Annotations> annotations;
  Meta meta;
  bool operator==(const AudioContent&) const = default;
};
struct ResourceLink {
  Text name, uri;
  OptText title, description, mime_type;
  std::optional<int64_t> size;  // bytes
  std::optional<Annotations> annotations;
  Meta meta;
  bool operator==(const ResourceLink&) const = default;
};
struct TextResourceContents {
  Text uri, text;
  OptText mime_type;
  Meta meta;
  bool operator==(const TextResourceContents&) const = default;
};
struct BlobResourceContents {
  Text uri;
  Text blob;  // base64
  OptText mime_type;
  Meta meta;
  bool operator==(const BlobResourceContents&) const = default;
};
struct EmbeddedResource {
  std::variant<TextResourceContents, BlobResourceContents> resource;
  std::optional<Annotations> annotations;
  Meta meta;
  bool operator==(const EmbeddedResource&) const = default;
};
// Of a type that has no structure here: the object as it came, and written as it is.
struct UnknownContent {
  Text type;
  JsonView raw;
  bool operator==(const UnknownContent&) const = default;
};

using ContentBlock =
    std::variant<TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource, UnknownContent>;

// "text", "image", "audio", "resource_link", "resource", or the word of an unknown one.
Text TypeOf(const ContentBlock& block);
// The words of a text, or of a resource that is text; nothing for anything else.
OptText WordsOf(const ContentBlock& block);
// Where it lies, for what says so: a link, a resource, an image.
OptText UriOf(const ContentBlock& block);

}  // namespace watchbill::acp
