// The handle behind wb_mp_decoder, for this library's C wrapper and for the one that joins it with others.
#pragma once

#include <string>

#include "watchbill/monitorproto/decoder.hpp"

struct wb_mp_decoder {
  explicit wb_mp_decoder(watchbill::monitorproto::Decoder::Limits limits) : decoder(limits) {}
  watchbill::monitorproto::Decoder decoder;
  std::string text;  // of the frame that was read last
};
