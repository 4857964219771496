#include "../../../libboard/src/c_handle.hpp"
#include "../../../libmonitorproto/src/c_handle.hpp"
#include "translate.hpp"
#include "watchbill/base/c_support.hpp"
#include "watchbill/watchbill.h"

using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Time;

extern "C" {

int32_t wb_abi_version(void) { return WB_ABI_VERSION; }
wb_str wb_version(void) { return watchbill::c::Str(std::string_view(WATCHBILL_VERSION)); }

int32_t wb_board_take_agent_frame(wb_board* board, wb_mp_decoder* decoder, uint64_t connection, wb_str text,
                                  wb_now now, wb_mp_frame* frame, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto read = decoder->decoder.ReadAgent(watchbill::c::View(text));
    if (!read.ok()) return Fail(err, read.status());
    board->Apply(watchbill::monitor::EventFor(connection, *read), Time(now));
    // Read again for the caller: the frame's views are the decoder's, and filling them is its affair.
    return frame == nullptr ? WB_OK : wb_mp_decode(decoder, WB_MP_AGENT, text, frame, err);
  });
}

int32_t wb_board_take_runner_frame(wb_board* board, wb_mp_decoder* decoder, uint64_t connection, wb_str text,
                                   wb_now now, wb_mp_frame* frame, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto read = decoder->decoder.ReadRunner(watchbill::c::View(text));
    if (!read.ok()) return Fail(err, read.status());
    const auto event = watchbill::monitor::EventFor(connection, *read);
    if (event) board->Apply(*event, Time(now));
    if (frame != nullptr) {
      if (const int32_t failed = wb_mp_decode(decoder, WB_MP_RUNNER, text, frame, err); failed < 0)
        return failed;
    }
    return event ? WB_OK : 1;
  });
}

int32_t wb_board_runner_closed(wb_board* board, uint64_t connection, wb_now now, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    board->Apply(watchbill::board::RunnerClosed{connection}, Time(now));
    return WB_OK;
  });
}

}  // extern "C"
