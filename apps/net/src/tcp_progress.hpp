// How far the other side has come with what was sent.
#pragma once

#include <cstdint>

namespace watchbill::net {

// The bytes that the peer's system has acknowledged on this TCP socket; 0 where that cannot be told.
uint64_t AcknowledgedBytes(int socket);

}  // namespace watchbill::net
