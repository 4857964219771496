// What the parts of bench_acp share: a turn as an agent sends it, and the modes of the program.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace watchbill::bench {

enum Kind : uint8_t { kMessage, kThought, kToolUpdate, kTool, kUsage, kPlan, kCommands, kKinds };
inline constexpr std::array<std::string_view, kKinds> kKindNames = {"agent_message_chunk",
                                                                    "agent_thought_chunk",
                                                                    "tool_call_update",
                                                                    "tool_call",
                                                                    "usage_update",
                                                                    "plan",
                                                                    "available_commands_update"};
// How many of a hundred updates are of each kind.
inline constexpr std::array<size_t, kKinds> kShares = {70, 10, 10, 4, 3, 2, 1};

inline constexpr std::string_view kSession = "0199c3a2-7f04-7c55-8f1e-5b0f3d8c2a41";

// What a reader adds up of every update, which is how it is known that it looked at all of them: the texts of
// chunks; titles and the paths of tool calls; statuses and texts of their updates; what plans and commands
// say.
struct Sums {
  uint64_t updates = 0;
  uint64_t text_bytes = 0;  // in UTF-8
  uint64_t text_units = 0;  // in UTF-16, as JavaScript counts
  uint64_t tokens = 0;      // used and size of usage updates
  friend bool operator==(const Sums&, const Sums&) = default;
};

// Whole lines, each a session/update with its newline.
struct Lines {
  std::string bytes;
  std::vector<size_t> ends;
  std::vector<Sums> sums;  // of all up to this line

  // Of `updates` lines, where the whole is sent over and over.
  uint64_t BytesOf(uint64_t updates) const;
  Sums SumsOf(uint64_t updates) const;
};
// The same at every call. A turn in the shares above, or of one kind alone. Where the first is sent over and
// over, its tool calls are begun anew under the same ids.
Lines MixedTurn();
Lines TurnOf(Kind kind);

// What the agent answers to one line of a client; nothing where that is no request. Of session/prompt it is
// the end of the turn, which is to be sent behind the updates.
struct Answer {
  std::string line;
  bool prompt = false;
};
Answer AnswerTo(std::string_view line);

// An agent on standard input and output: a turn has this many updates. Gives an exit status.
int Generate(uint64_t updates);

// Our client on standard input and output; what it saw, and what that took from the update of number `warm`
// on, goes to standard error as one line of JSON. Gives an exit status.
int Read(uint64_t warm, size_t buffer_bytes);
// The same client fed from memory: what an update of each kind costs.
void PrintKinds();
// What a client at rest holds, in the mean of as many.
void PrintRest(size_t clients, size_t buffer_bytes);

// As a pipe is read where nothing else is said: larger pieces are no faster here, and stay in a client's
// buffer.
inline constexpr size_t kReadBytes = 64 << 10;

}  // namespace watchbill::bench
