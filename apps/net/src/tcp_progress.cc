// In a file of its own: the kernel's header, which alone knows the field, cannot stand beside the C
// library's.
#include "tcp_progress.hpp"

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

}  // namespace watchbill::net
