// In a file of its own: the kernel's header, which alone knows some fields, cannot stand beside the C
// library's.
#include "tcp.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace watchbill::net {

uint64_t AcknowledgedBytes(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_acked;
}

void NoticeLostPeer(int socket) {
  const int on = 1, idle_s = 20, every_s = 10, misses = 3;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &misses, sizeof misses);
}

}  // namespace watchbill::net
