// What an agent asks of its host, where the host has offered it: files, terminals, answers of a person.
// (ACP v1, "File System", "Terminals", "Elicitation".)
#pragma once

#include <string>

#include "watchbill/acp/setup.hpp"

namespace watchbill::acp {

// "fs/read_text_file"
struct ReadTextFileRequest {
  Text session_id;
  Text path;                      // absolute
  std::optional<uint32_t> line;   // the first that is wanted, from 1
  std::optional<uint32_t> limit;  // how many lines
  Meta meta;
  bool operator==(const ReadTextFileRequest&) const = default;
};
struct ReadTextFileResponse {
  Text content;
  Meta meta;
  bool operator==(const ReadTextFileResponse&) const = default;
};
// "fs/write_text_file"
struct WriteTextFileRequest {
  Text session_id;
  Text path;  // absolute
  Text content;
  Meta meta;
  bool operator==(const WriteTextFileRequest&) const = default;
};
using WriteTextFileResponse = EmptyResponse;

// "terminal/create"
struct CreateTerminalRequest {
  Text session_id;
  Text command;  // a program, or with some agents a whole line for a shell
  std::vector<Text> args;
  std::vector<EnvVariable> env;
  OptText cwd;                                // absolute
  std::optional<uint64_t> output_byte_limit;  // of what is kept; the beginning goes first
  Meta meta;
  bool operator==(const CreateTerminalRequest&) const = default;
};
struct CreateTerminalResponse {
  Text terminal_id;
  Meta meta;
  bool operator==(const CreateTerminalResponse&) const = default;
};
// "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"
struct TerminalRequest {
  Text session_id, terminal_id;
  Meta meta;
  bool operator==(const TerminalRequest&) const = default;
};
struct TerminalOutputRequest : TerminalRequest {
  bool operator==(const TerminalOutputRequest&) const = default;
};
struct WaitForTerminalExitRequest : TerminalRequest {
  bool operator==(const WaitForTerminalExitRequest&) const = default;
};
struct KillTerminalRequest : TerminalRequest {
  bool operator==(const KillTerminalRequest&) const = default;
};
struct ReleaseTerminalRequest : TerminalRequest {
  bool operator==(const ReleaseTerminalRequest&) const = default;
};
// How a command ended: a code or a signal's name.
struct TerminalExitStatus {
  std::optional<uint32_t> exit_code;
  OptText signal;
  Meta meta;
  bool operator==(const TerminalExitStatus&) const = default;
};
struct TerminalOutputResponse {
  Text output;
  bool truncated = false;
  std::optional<TerminalExitStatus> exit_status;  // nothing: it runs
  Meta meta;
  bool operator==(const TerminalOutputResponse&) const = default;
};
using WaitForTerminalExitResponse = TerminalExitStatus;
using KillTerminalResponse = EmptyResponse;
using ReleaseTerminalResponse = EmptyResponse;

// What a form asks for, one property each.
struct EnumOption {
  Text value;  // "const"
  Text title;
  OptText description;
  Meta meta;
  bool operator==(const EnumOption&) const = default;
};
struct StringPropertySchema {
  std::optional<uint32_t> min_length, max_length;
  OptText pattern, format;  // format: email uri date date-time
  OptText default_value;
  std::optional<std::vector<Text>> enumeration;  // "enum"
  std::optional<std::vector<EnumOption>> one_of;
  bool operator==(const StringPropertySchema&) const = default;
};
struct NumberPropertySchema {
  std::optional<double> minimum, maximum, default_value;
  bool operator==(const NumberPropertySchema&) const = default;
};
struct IntegerPropertySchema {
  std::optional<int64_t> minimum, maximum, default_value;
  bool operator==(const IntegerPropertySchema&) const = default;
};
struct BooleanPropertySchema {
  std::optional<bool> default_value;
  bool operator==(const BooleanPropertySchema&) const = default;
};
struct MultiSelectPropertySchema {
  std::optional<uint64_t> min_items, max_items;
  std::variant<std::vector<Text>, std::vector<EnumOption>> items;  // words, or words with titles
  std::optional<std::vector<Text>> default_value;
  bool operator==(const MultiSelectPropertySchema&) const = default;
};
struct UnknownPropertySchema {
  Text type;
  JsonView raw;  // written as it is
  bool operator==(const UnknownPropertySchema&) const = default;
};
struct ElicitationProperty {
  Text key;
  OptText title, description;
  std::variant<StringPropertySchema, NumberPropertySchema, IntegerPropertySchema, BooleanPropertySchema,
               MultiSelectPropertySchema, UnknownPropertySchema>
      schema;
  Meta meta;
  bool operator==(const ElicitationProperty&) const = default;
};
struct ElicitationSchema {
  OptText title, description;
  std::vector<ElicitationProperty> properties;  // in the order they came in
  std::optional<std::vector<Text>> required;
  Meta meta;
  bool operator==(const ElicitationSchema&) const = default;
};

struct ElicitationFormMode {
  ElicitationSchema requested_schema;
  bool operator==(const ElicitationFormMode&) const = default;
};
// A person is to open this address, which is shown whole and never fetched before.
struct ElicitationUrlMode {
  Text elicitation_id, url;
  bool operator==(const ElicitationUrlMode&) const = default;
};
struct UnknownElicitationMode {
  Text mode;
  JsonView raw;  // the whole of the params
  bool operator==(const UnknownElicitationMode&) const = default;
};
// "elicitation/create"
struct CreateElicitationRequest {
  Text message;
  std::variant<ElicitationFormMode, ElicitationUrlMode, UnknownElicitationMode> mode;
  // What it is about: a session, and maybe a tool call of it, or else a request of ours by its id.
  OptText session_id, tool_call_id;
  JsonView request_id;
  Meta meta;
  bool operator==(const CreateElicitationRequest&) const = default;
};
using ElicitationValue = std::variant<Text, int64_t, double, bool, std::vector<Text>>;
struct CreateElicitationResponse {
  Text action = "cancel";                                  // accept decline cancel, or another word
  std::vector<std::pair<Text, ElicitationValue>> content;  // of accept
  Meta meta;
  bool operator==(const CreateElicitationResponse&) const = default;
};
// "elicitation/complete"
struct CompleteElicitationNotification {
  Text elicitation_id;
  Meta meta;
  bool operator==(const CompleteElicitationNotification&) const = default;
};

// What an agent may ask of its host, the permission of a turn apart.
using HostRequest = std::variant<ReadTextFileRequest, WriteTextFileRequest, CreateTerminalRequest,
                                 TerminalOutputRequest, WaitForTerminalExitRequest, KillTerminalRequest,
                                 ReleaseTerminalRequest, CreateElicitationRequest>;
// The session it is for; nothing for an elicitation about a request.
OptText SessionOf(const HostRequest& request);

}  // namespace watchbill::acp
