// The methods, events and shapes of /rpc, as data: what the dispatcher knows, and what the page's types are
// made from.
#pragma once

#include <string>
#include <string_view>

namespace watchbill::supervisor {

struct RpcParameter {
  std::string_view name, type;
};
struct RpcMethod {
  std::string_view name;
  RpcParameter parameters[2];
  std::string_view result;
};
struct RpcEvent {
  std::string_view name, parameters;  // a TypeScript type
};
struct RpcShape {
  std::string_view name, type;  // a TypeScript type
};

inline constexpr RpcMethod kRpcMethods[] = {
    {"AgentService.List", {}, "Agent[]"},
    {"AgentService.Start", {{"name", "string"}}, "null"},
    {"AgentService.Stop", {{"name", "string"}}, "null"},
    {"AgentService.Restart", {{"name", "string"}}, "null"},
    {"AgentService.Logs", {{"name", "string"}}, "string[]"},
    {"ConfigService.Current", {}, "Current"},
    {"ChannelService.List", {}, "Channel[]"},
    {"ChannelService.Direct", {{"agent", "string"}}, "Channel"},
    {"ChannelService.Send", {{"id", "string"}, {"text", "string"}}, "string"},
    {"ChannelService.Cancel", {{"id", "string"}}, "null"},
    {"ChannelService.AnswerPermission", {{"id", "string"}, {"optionId", "string"}}, "null"},
    {"ChannelService.Conversation", {{"id", "string"}}, "Conversation"},
    {"ChannelService.Older", {{"id", "string"}, {"beforeId", "string"}}, "Page"},
    {"ChannelService.Commands", {{"agent", "string"}}, "Command[]"},
};

inline constexpr RpcEvent kRpcEvents[] = {
    {"agent:state", "{ agent: string; state: AgentState; error?: string; outdated: boolean }"},
    {"agent:log", "{ agent: string; line: string }"},
    {"channels:changed", "{ channels: Channel[] }"},
    {"message:updated", "{ channel: string; message: Message }"},
    {"message:delta",
     "{ channel: string; messageId: string; index: number; kind: Part['kind']; text?: string; part?: Part }"},
    {"turn:changed", "{ channel: string; busy: boolean; queued: number; answering: string }"},
    {"permission:requested", "Permission"},
    {"permission:resolved", "{ id: string; channel: string }"},
    {"usage:changed", "{ channel: string; agent: string; usage: Usage }"},
    {"commands:changed", "{ agent: string; commands: Command[] }"},
};

inline constexpr RpcShape kRpcShapes[] = {
    {"AgentState", "'stopped' | 'starting' | 'ready' | 'busy' | 'error'"},
    {"Agent",
     "{ name: string; title: string; icon: string; description: string; state: AgentState; error: string; "
     "outdated: "
     "boolean }"},
    {"Channel", "{ id: string; name: string; description: string; direct: string; members: string[] }"},
    {"ToolKind", "'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'other'"},
    {"ToolStatus", "'pending' | 'in_progress' | 'completed' | 'failed'"},
    {"Location", "{ path: string; line?: number }"},
    {"Diff", "{ path: string; oldText: string; newText: string; newFile: boolean }"},
    {"ToolCall",
     "{ id: string; title: string; kind: ToolKind; status: ToolStatus; input: string; output: string; "
     "locations: "
     "Location[]; diffs: Diff[] }"},
    {"PlanEntry",
     "{ content: string; priority: 'high' | 'medium' | 'low'; status: 'pending' | 'in_progress' | "
     "'completed' }"},
    {"Part",
     "{ kind: 'text' | 'thought'; text: string } | { kind: 'tool'; tool: ToolCall } | { kind: 'plan'; "
     "entries: "
     "PlanEntry[] }"},
    {"Message",
     "{ id: string; channel: string; createdAt: string; agent: string; role: 'user' | 'agent' | 'system'; "
     "parts: Part[]; "
     "done: boolean; queued: boolean; stopReason: string; error: string; code: string }"},
    {"PermissionOption", "{ optionId: string; name: string; kind: string }"},
    {"Permission",
     "{ id: string; channel: string; agent: string; messageId: string; toolCall: ToolCall; options: "
     "PermissionOption[]; "
     "rejections: number }"},
    {"Usage", "{ used: number; size: number }"},
    {"Command", "{ name: string; description: string; hint: string }"},
    {"Problem", "{ line: number; column: number; message: string; warning: boolean }"},
    {"Current",
     "{ path: string; source: 'flag' | 'recent' | 'default'; created: boolean; valid: boolean; problems: "
     "Problem[]; "
     "warnings: Problem[]; theme: 'system' | 'light' | 'dark'; language: 'system' | 'en' | 'fr'; "
     "historyProblem: string }"},
    {"Conversation",
     "{ channel: Channel; messages: Message[]; more: boolean; busy: boolean; queued: number; answering: "
     "string; usage: "
     "Record<string, Usage>; permissions: Permission[] }"},
    {"Page", "{ messages: Message[]; more: boolean }"},
};

// The TypeScript of all of it.
std::string RpcTypes();

}  // namespace watchbill::supervisor
