// Every reader of frames: what it takes it can write, and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "translate.hpp"
#include "watchbill/monitorproto/decoder.hpp"
#include "watchbill/monitorproto/encode.hpp"

using watchbill::monitorproto::Decoder;

namespace {

template <typename Read>
void Try(Decoder& decoder, Read read, std::string_view text) {
  const auto frame = (decoder.*read)(text);
  if (!frame.ok()) return;
  const std::string written = watchbill::monitorproto::Encode(*frame, 0);
  if (!(decoder.*read)(written).ok()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Decoder decoder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Try(decoder, &Decoder::ReadAgent, text);
  Try(decoder, &Decoder::ReadAgentCommand, text);
  Try(decoder, &Decoder::ReadRunner, text);
  Try(decoder, &Decoder::ReadRunnerCommand, text);
  Try(decoder, &Decoder::ReadDashboard, text);
  return 0;
}
