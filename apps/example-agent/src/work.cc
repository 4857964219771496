#include "work.hpp"

#include <fmt/core.h>

namespace watchbill::example {

uint64_t Work::Random() {  // splitmix64
  uint64_t z = state_ += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

int64_t Work::Between(int64_t least, int64_t most) {
  return least + static_cast<int64_t>(Random() % static_cast<uint64_t>(most - least + 1));
}

std::string Work::NextId() {
  const uint64_t a = Random(), b = Random();
  return fmt::format("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", a >> 32, a >> 16 & 0xFFFF, a & 0xFFF,
                     b >> 48 & 0xFFF, b & 0xFFFFFFFFFFFF);
}

std::vector<Beat> Work::NextRun() {
  static constexpr const char* kTools[] = {"read-tide-table", "look-up-berth", "fetch-manifest",
                                           "check-weather"};
  const auto model = [&](bool delegated) {
    Beat beat;
    beat.kind = Beat::Kind::kEntry;
    beat.delegated = delegated;
    beat.entry_kind = "llm";
    beat.name = "example-model";
    beat.took_ms = beat.after_ms = Between(250, 900);
    beat.tokens_in = Between(80, 600);
    beat.tokens_out = Between(20, 240);
    return beat;
  };
  const auto tool = [&](bool delegated, bool ok) {
    Beat beat;
    beat.kind = Beat::Kind::kEntry;
    beat.delegated = delegated;
    beat.entry_kind = "tool";
    beat.name = kTools[Random() % std::size(kTools)];
    beat.took_ms = beat.after_ms = Between(40, 400);
    beat.ok = ok;
    return beat;
  };
  const auto edge = [&](Beat::Kind kind, bool delegated, std::string outcome) {
    Beat beat;
    beat.kind = kind;
    beat.delegated = delegated;
    beat.outcome = std::move(outcome);
    return beat;
  };

  const int64_t fate = Between(0, 15);
  std::vector<Beat> beats;
  beats.push_back(edge(Beat::Kind::kEnter, false, ""));
  beats.push_back(model(false));
  beats.push_back(tool(false, true));
  if (fate % 3 == 0) {
    beats.push_back(edge(Beat::Kind::kEnter, true, ""));
    beats.push_back(model(true));
    beats.push_back(tool(true, fate != 0));
    beats.push_back(edge(Beat::Kind::kExit, true, fate == 0 ? "error" : "done"));
    if (fate == 0) {
      beats.back().error = "The berth register did not answer.";
      beats.back().failure = "tool";
      beats.back().node = "register";
    }
  }
  if (fate == 1) {
    beats.push_back(edge(Beat::Kind::kExit, false, "waiting: question"));
    beats.push_back(edge(Beat::Kind::kEnter, false, ""));
    beats.back().after_ms = 4000;
  }
  if (fate != 0) beats.push_back(model(false));
  beats.push_back(edge(Beat::Kind::kExit, false, fate == 0 ? "error" : "done"));
  if (fate == 0) {
    beats.back().error = "The dispatch desk could not finish.";
    beats.back().failure = "agent";
    beats.back().node = "delegate";
  }
  return beats;
}

}  // namespace watchbill::example
