#include "c_handle.hpp"
#include "watchbill/base/c_support.hpp"
#include "watchbill/monitorproto.h"
#include "watchbill/monitorproto/encode.hpp"

namespace mp = watchbill::monitorproto;
using watchbill::c::Fail;
using watchbill::c::Str;

namespace {

void Fill(wb_mp_frame& o, const mp::Register& f) {
  o.kind = WB_MP_REGISTER;
  o.id = Str(f.id);
  o.name = Str(f.name);
  o.host = Str(f.host);
}
void Fill(wb_mp_frame& o, const mp::Run& f) {
  o.kind = WB_MP_RUN;
  o.run_id = Str(f.run_id);
}
void Fill(wb_mp_frame& o, const mp::Log& f) {
  o.kind = WB_MP_LOG;
  o.run_id = Str(f.facts.run_id);
  o.name = Str(f.facts.name);
  o.tokens = f.facts.tokens.value_or(-1);
}
void Fill(wb_mp_frame& o, const mp::Leaving&) { o.kind = WB_MP_LEAVING; }
void Fill(wb_mp_frame& o, const mp::Ok& f) {
  o.kind = WB_MP_OK;
  o.ask = Str(f.ask);
}
void Fill(wb_mp_frame& o, const mp::Error& f) {
  o.kind = WB_MP_ERROR;
  o.ask = Str(f.ask);
}
void Fill(wb_mp_frame& o, const mp::UnknownFrame& f) {
  o.kind = WB_MP_UNKNOWN;
  o.ask = Str(f.ask);
}
void Fill(wb_mp_frame& o, const mp::Terminate& f) {
  o.kind = WB_MP_TERMINATE;
  o.ask = Str(f.ask);
}
void Fill(wb_mp_frame& o, const mp::Duplicate&) { o.kind = WB_MP_DUPLICATE; }
void Fill(wb_mp_frame& o, const mp::MayReturn&) { o.kind = WB_MP_MAY_RETURN; }
void Fill(wb_mp_frame& o, const mp::RunnerRegister& f) {
  o.kind = WB_MP_RUNNER_REGISTER;
  o.host = Str(f.host);
}
void Fill(wb_mp_frame& o, const mp::RunnerStarted& f) {
  o.kind = WB_MP_STARTED;
  o.folder = Str(f.folder);
}
void Fill(wb_mp_frame& o, const mp::RunnerStart& f) {
  o.kind = WB_MP_START;
  o.ask = Str(f.ask);
  o.folder = Str(f.folder);
}
void Fill(wb_mp_frame& o, const mp::RunnerKill& f) {
  o.kind = WB_MP_KILL;
  o.ask = Str(f.ask);
  o.folder = Str(f.folder);
}
void Fill(wb_mp_frame& o, const mp::Watch&) { o.kind = WB_MP_WATCH; }
void Fill(wb_mp_frame& o, const mp::DashboardCommand& f) {
  o.kind = WB_MP_COMMAND;
  o.id = Str(f.id);
  if (!f.ask.absent()) o.ask = Str(f.ask.text());
}

template <typename Variant>
int32_t Answer(wb_mp_decoder& d, const absl::StatusOr<Variant>& frame, wb_mp_frame* out, wb_error* err) {
  if (!frame.ok()) return Fail(err, frame.status());
  wb_mp_frame filled{};
  filled.tokens = -1;
  std::visit([&](const auto& one) { Fill(filled, one); }, *frame);
  const auto at = d.decoder.at();
  d.text = mp::Encode(*frame, at ? watchbill::WallMsFromIso(*at).value_or(0) : 0);
  filled.text = Str(std::string_view(d.text));
  watchbill::c::CopyKnown(out, filled, out->struct_size);
  return WB_OK;
}

}  // namespace

extern "C" {

void wb_mp_decoder_options_init(wb_mp_decoder_options* options) {
  const mp::Decoder::Limits limits;
  options->struct_size = sizeof *options;
  options->max_depth = static_cast<uint32_t>(limits.depth);
  options->max_bytes = limits.bytes;
}

int32_t wb_mp_decoder_new(const wb_mp_decoder_options* options, wb_mp_decoder** out, wb_error* err) {
  return watchbill::c::Guard(err, [&]() -> int32_t {
    wb_mp_decoder_options all;
    wb_mp_decoder_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    if (all.max_depth == 0 || all.max_depth > 512 || all.max_bytes == 0) {
      return Fail(err, absl::StatusCode::kInvalidArgument, "max_depth is 1 to 512, and max_bytes at least 1");
    }
    *out = new wb_mp_decoder({.bytes = static_cast<size_t>(all.max_bytes), .depth = all.max_depth});
    return WB_OK;
  });
}

void wb_mp_decoder_free(wb_mp_decoder* decoder) { delete decoder; }

int32_t wb_mp_decode(wb_mp_decoder* d, int32_t speaker, wb_str text, wb_mp_frame* out, wb_error* err) {
  return watchbill::c::Guard(err, [&]() -> int32_t {
    const std::string_view bytes = watchbill::c::View(text);
    switch (speaker) {
      case WB_MP_AGENT:
        return Answer(*d, d->decoder.ReadAgent(bytes), out, err);
      case WB_MP_MONITOR_TO_AGENT:
        return Answer(*d, d->decoder.ReadAgentCommand(bytes), out, err);
      case WB_MP_RUNNER:
        return Answer(*d, d->decoder.ReadRunner(bytes), out, err);
      case WB_MP_MONITOR_TO_RUNNER:
        return Answer(*d, d->decoder.ReadRunnerCommand(bytes), out, err);
      case WB_MP_DASHBOARD:
        return Answer(*d, d->decoder.ReadDashboard(bytes), out, err);
      default:
        break;
    }
    return Fail(err, absl::StatusCode::kInvalidArgument, "no such speaker: use a wb_mp_speaker");
  });
}

wb_str wb_mp_protocol(void) { return Str(mp::kProtocol); }

}  // extern "C"
