// The messages of the Agent Client Protocol, version 1, as plain structures that compare.
//
// A message that was read is made of views that are good until its reader reads again; to write one, fill it
// with views of your own. Types and members are called as in the schema, in this library's spelling. What a
// peer may leave out is optional or has the default that the schema names. Words of lists (kinds, statuses,
// reasons) stay the words they came as. What is not stable in version 1 has no structure: it is JSON, as it
// came.
#pragma once

#include "watchbill/acp/content.hpp"  // IWYU pragma: export
#include "watchbill/acp/host.hpp"     // IWYU pragma: export
#include "watchbill/acp/setup.hpp"    // IWYU pragma: export
#include "watchbill/acp/turn.hpp"     // IWYU pragma: export

namespace watchbill::acp {

// Codes of an error. (JSON-RPC 2.0; ACP "Errors")
enum ErrorCode : int32_t {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kRequestCancelled = -32800,
  kAuthenticationRequired = -32000,
  kResourceNotFound = -32002,
};

struct RpcError {
  int32_t code = kInternalError;
  Text message;
  JsonView data;  // absent where there was none
  bool operator==(const RpcError&) const = default;
};

// "$/cancel_request", either way: the request of that id need not go on.
struct CancelRequestNotification {
  JsonView request_id;  // a number, a string or null, as it came
  Meta meta;
  bool operator==(const CancelRequestNotification&) const = default;
};

}  // namespace watchbill::acp
