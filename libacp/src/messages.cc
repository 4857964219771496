#include "watchbill/acp/messages.hpp"

namespace watchbill::acp {

Text TypeOf(const ContentBlock& block) {
  static constexpr Text kTypes[] = {"text", "image", "audio", "resource_link", "resource"};
  const auto* unknown = std::get_if<UnknownContent>(&block);
  return unknown != nullptr ? unknown->type : kTypes[block.index()];
}

OptText WordsOf(const ContentBlock& block) {
  if (const auto* text = std::get_if<TextContent>(&block)) return text->text;
  if (const auto* resource = std::get_if<EmbeddedResource>(&block)) {
    if (const auto* text = std::get_if<TextResourceContents>(&resource->resource)) return text->text;
  }
  return std::nullopt;
}

OptText UriOf(const ContentBlock& block) {
  if (const auto* link = std::get_if<ResourceLink>(&block)) return link->uri;
  if (const auto* image = std::get_if<ImageContent>(&block)) return image->uri;
  if (const auto* resource = std::get_if<EmbeddedResource>(&block)) {
    return std::visit([](const auto& contents) { return contents.uri; }, resource->resource);
  }
  return std::nullopt;
}

Text KindOf(const SessionUpdate& update) {
  static constexpr Text kKinds[] = {"",
                                    "",
                                    "plan",
                                    "available_commands_update",
                                    "current_mode_update",
                                    "config_option_update",
                                    "session_info_update",
                                    "usage_update",
                                    "notice",
                                    "compaction_update",
                                    "compaction_summary_chunk"};
  static constexpr Text kChunks[] = {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk"};
  if (const auto* chunk = std::get_if<ContentChunk>(&update)) return kChunks[static_cast<int>(chunk->from)];
  if (const auto* tool = std::get_if<ToolCallUpdate>(&update)) {
    return tool->is_new ? "tool_call" : "tool_call_update";
  }
  const auto* unknown = std::get_if<UnknownUpdate>(&update);
  return unknown != nullptr ? unknown->kind : kKinds[update.index()];
}

OptText SessionOf(const HostRequest& request) {
  if (const auto* elicitation = std::get_if<CreateElicitationRequest>(&request))
    return elicitation->session_id;
  return std::visit([](const auto& it) -> OptText { return it.session_id; }, request);
}

}  // namespace watchbill::acp
