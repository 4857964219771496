// What of TCP Asio does not show.
#pragma once

#include <cstdint>

namespace watchbill::net {

// The bytes that the peer's system has acknowledged on this socket; 0 where that cannot be told.
uint64_t AcknowledgedBytes(int socket);

// Has the system find out that a peer is gone without a word, within a minute, also where nothing is sent: a
// laptop that sleeps or a cable that is out closes nothing.
void NoticeLostPeer(int socket);

}  // namespace watchbill::net
