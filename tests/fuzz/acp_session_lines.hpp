// What the agent of the session target writes: lines with gaps, which the input fills.
#pragma once

#include <string_view>

namespace watchbill::acp::fuzz {

// A gap is a % and a letter; what is put there takes a byte of the input, some more where that says so.
//   %i  the id of a call that is open       %s  a session             %w  a word
//   %k  a new id of the agent's own         %t  a tool call           %n  a number
//   %r  an id of the agent's that was used  %c  a piece of content    %x  bytes as they are
inline constexpr std::string_view kLines[] =
    {
        // Answers.
        R"({"jsonrpc":"2.0","id":%i,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true},"sessionCapabilities":{"list":{},"delete":{},"close":{},"resume":{}},"auth":{"logout":{}}},"authMethods":[{"id":"a","name":"A"},{"id":"t","name":"T","type":"terminal","args":["login"]}]}})",
        R"({"jsonrpc":"2.0","id":%i,"result":{"protocolVersion":%n,"agentInfo":{"name":"%x"},"authMethods":[{"id":"%w","type":"%w"}]}})",
        R"({"jsonrpc":"2.0","id":%i,"error":{"code":%n,"message":"%x","data":{"details":"%x"}}})",
        R"({"jsonrpc":"2.0","id":%i,"error":{"code":-32000,"message":"Authentication required"}})",
        R"({"jsonrpc":"2.0","id":%i,"result":{"sessionId":"%s"}})",
        R"({"jsonrpc":"2.0","id":%i,"result":{"sessionId":"%s","modes":{"currentModeId":"m1","availableModes":[{"id":"m1","name":"M"},{"id":"%w","name":"N"}]},"configOptions":[{"id":"o1","name":"O","category":"%w","type":"select","currentValue":"v1","options":[{"value":"v1","name":"V"},{"value":"%w","name":"W"}]},{"id":"o2","name":"B","type":"boolean","currentValue":true}],"models":{"currentModelId":"x1","availableModels":[{"modelId":"x1"},{"modelId":"%w"}]}}})",
        R"({"jsonrpc":"2.0","id":%i,"result":null})",
        R"({"jsonrpc":"2.0","id":%i,"result":{"stopReason":"%w","usage":{"totalTokens":%n}}})",
        R"({"jsonrpc":"2.0","id":%i,"result":{"sessions":[{"sessionId":"%s","cwd":"/a","title":"%x"},{"sessionId":"%s"}],"nextCursor":"%w"}})",
        R"({"jsonrpc":"2.0","id":%i,"result":{"configOptions":[{"id":"%w","name":"O","type":"select","currentValue":"v1","options":[{"group":"g","name":"G","options":[{"value":"%w","name":"V"}]}]}]}})",
        R"({"jsonrpc":"2.0","id":%i,"result":%x})",
        R"({"jsonrpc":"2.0","id":%i})",
        R"({"id":%n,"result":{}})",
        // What is told.
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","content":%c,"messageId":"%x"}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"%x"}}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"user_message_chunk","content":%c},"_meta":{"a":%n}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"tool_call","toolCallId":"%t","title":"%x","kind":"%w","status":"%w","rawInput":%x}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"tool_call_update","toolCallId":"%t","status":"%w","content":[{"type":"content","content":%c},{"type":"diff","path":"/a","oldText":null,"newText":"%x"},{"type":"terminal","terminalId":"t"}],"locations":[{"path":"/a","line":%n}]}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"tool_call_update","toolCallId":"%t","status":"%w","rawOutput":[%n]}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"plan","entries":[{"content":"%x","priority":"%w","status":"%w"},%n]}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"%w","input":{"hint":"%x"}}]}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"current_mode_update","currentModeId":"%w"}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"config_option_update","configOptions":[{"id":"o2","name":"B","type":"boolean","currentValue":false},{"id":"%w","name":"O","type":"%w","currentValue":"%w","options":[]}]}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"session_info_update","title":null,"updatedAt":"%x"}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"usage_update","used":%n,"size":%n,"cost":{"amount":%n,"currency":"USD"}}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"notice","severity":"%w","title":"%x"}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"compaction_update","compactionId":"%t","status":"%w","summary":[%c],"error":null}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"compaction_summary_chunk","compactionId":"%t","content":%c}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"%x","a":%n}}})",
        R"({"jsonrpc":"2.0","method":"session/update","params":%x})",
        // What is asked.
        R"({"jsonrpc":"2.0","id":"perm%k","method":"session/request_permission","params":{"sessionId":"%s","toolCall":{"toolCallId":"%t","title":"%x"},"options":[{"optionId":"y","name":"Yes","kind":"%w"},{"optionId":"n","name":"No","kind":"%w"}]}})",
        R"({"jsonrpc":"2.0","id":"perm%k","method":"session/request_permission","params":{"sessionId":"%s","toolCall":{"toolCallId":"%t","status":"%w"},"options":[]}})",
        R"({"jsonrpc":"2.0","id":"read%k","method":"fs/read_text_file","params":{"sessionId":"%s","path":"/%x","line":%n,"limit":%n}})",
        R"({"jsonrpc":"2.0","id":"none%k","method":"fs/write_text_file","params":{"sessionId":"%s","path":"/a","content":"%x"}})",
        R"({"jsonrpc":"2.0","id":"term%k","method":"terminal/create","params":{"sessionId":"%s","command":"%x","args":["%w"],"env":[{"name":"%w","value":"%x"}],"cwd":"/%x","outputByteLimit":%n}})",
        R"({"jsonrpc":"2.0","id":"outp%k","method":"terminal/output","params":{"sessionId":"%s","terminalId":"%t"}})",
        R"({"jsonrpc":"2.0","id":"exit%k","method":"terminal/wait_for_exit","params":{"sessionId":"%s","terminalId":"%t"}})",
        R"({"jsonrpc":"2.0","id":"none%k","method":"terminal/kill","params":{"sessionId":"%s","terminalId":"%t"}})",
        R"({"jsonrpc":"2.0","id":"none%k","method":"terminal/release","params":{"sessionId":"%s","terminalId":"%t"}})",
        R"({"jsonrpc":"2.0","id":"form%k","method":"elicitation/create","params":{"sessionId":"%s","mode":"form","message":"%x","requestedSchema":{"type":"object","properties":{"a":{"type":"string","format":"%w"},"b":{"type":"%w","default":%n}},"required":["a"]}}})",
        R"({"jsonrpc":"2.0","id":"form%k","method":"elicitation/create","params":{"sessionId":"%s","toolCallId":"%t","mode":"url","elicitationId":"%t","url":"%x","message":""}})",
        R"({"jsonrpc":"2.0","id":"form%k","method":"elicitation/create","params":{"requestId":%i,"mode":"%w","url":"/","elicitationId":"e","message":"%x"}})",
        R"({"jsonrpc":"2.0","id":"else%k","method":"%x","params":{"sessionId":"%s"}})",
        R"({"jsonrpc":"2.0","id":%n,"method":"fs/read_text_file","params":{"sessionId":"%s","path":"/a"}})",
        R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%r}})",
        R"({"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"%t"}})",
        R"({"jsonrpc":"2.0","method":"_own/%x","params":[%n]})",
        // What is no message, or a broken one.
        R"({"jsonrpc":"2.0","id":%i,"result":{"a":%x)",
        R"({"jsonrpc":"2.0","id":"perm%k","method":"session/request_permission","params":{"sessionId":"%s",%x)",
        R"({"jsonrpc":"2.0","result":{"stopReason":"end_turn",%x},"id":%i})",
        R"(%x)",
};

inline constexpr std::string_view kSessions[] = {"s1", "s2", "s3", "s4", ""};
inline constexpr std::string_view kTools[] = {"c1", "c2", "c3", "c4", ""};
inline constexpr std::string_view kWords[] = {
    "end_turn", "cancelled",  "pending",      "in_progress", "completed",
    "failed",   "allow_once", "allow_always", "reject_once", "reject_always",
    "form",     "url",        "string",       "number",      "integer",
    "boolean",  "array",      "select",       "text",        "model",
    "m1",       "m2",         "o1",           "v1",          "v2",
    "x2",       "edit",       "high",         "terminal",    "email",
    "",         "other words"};
inline constexpr std::string_view kNumbers[] = {
    "1", "0",   "2",     "3",      "-1",     "65537", "4294967296",
    "7", "1.5", "1e400", "-32000", "-32800", "null",  "18446744073709551615",
    "4", "5"};
inline constexpr std::string_view kContents[] = {
    R"({"type":"text","text":"t","annotations":{"audience":["user"],"priority":0.5}})",
    R"({"type":"image","data":"QUJD","mimeType":"image/png","uri":"file:///a"})",
    R"({"type":"audio","data":"QUJD","mimeType":"audio/wav"})",
    R"({"type":"resource_link","name":"a","uri":"file:///a","size":3})",
    R"({"type":"resource","resource":{"uri":"file:///a","text":"\u00e9"}})",
    R"({"type":"resource","resource":{"uri":"file:///a","blob":"QUJD"}})",
    R"({"type":"other","n":1.50})",
    R"({"type":"text"})"};

}  // namespace watchbill::acp::fuzz
