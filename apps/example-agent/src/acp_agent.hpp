// The example agent as an agent of the Agent Client Protocol, version 1.
//
// Bytes and the time in, bytes out: whoever holds it moves the bytes and calls Tick when Deadline says so.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "story.hpp"
#include "watchbill/acp/peer.hpp"
#include "watchbill/acp/read.hpp"
#include "watchbill/base/now.hpp"
#include "work.hpp"

namespace watchbill::example {

struct AcpOptions {
  std::string version;   // of the program
  int64_t word_ms = 30;  // between two words; 0: a word at each Tick
  uint64_t seed = 1;     // of the ids of its sessions
  // A prompt was taken. `command` is empty where it is none of the agent's commands.
  std::function<void(std::string_view session, std::string_view command, size_t bytes)> prompted;
};

// Answers prompts of any number of sessions at the same time. One thread.
class AcpAgent {
 public:
  // Sessions of one connection, more are refused.
  static constexpr size_t kMostSessions = 10'000;
  // Where more output than this waits, it says nothing by itself until all of it is taken. Answers still
  // come.
  static constexpr size_t kMostWaiting = 1 << 20;

  explicit AcpAgent(AcpOptions options);

  void Feed(std::string_view bytes, Now now);
  // The client is gone or the agent is to end: a line without its newline still counts, and every prompt that
  // is being answered ends as cancelled.
  void End(Now now);

  std::string_view Output() const { return peer_.Output(); }
  void Consume(size_t bytes);

  // When Tick has something to say; kNever where nothing is, or output waits.
  int64_t Deadline() const;
  // Says what is due: at most one word, or one step, of each answer.
  void Tick(Now now);

 private:
  enum class Policy { kAsk, kAllow, kReject };  // what was chosen for always
  struct Session {
    std::string folder;
    Policy edits = Policy::kAsk;
    int64_t tokens = 0;  // used so far
  };
  // A prompt that is being answered.
  struct Turn {
    std::string request;  // its id, as JSON
    Story story;
    size_t step = 0;
    size_t said = 0;  // bytes of the step that is being said
    int64_t due_ns = 0;
    std::string tool;               // a call that is not completed
    std::optional<uint64_t> asked;  // our request for a permission that is not answered
    std::optional<bool> allowed;    // what became of the last one
  };
  using Turns = std::map<std::string, Turn, std::less<>>;

  void OnRequest(const acp::IncomingRequest& request, Now now);
  void OnNotification(const acp::IncomingNotification& notification);
  void OnPermission(const acp::CallEnded& ended, Now now);
  void OnStray(const acp::StrayLine& stray, Now now);
  void OnPrompt(const acp::IncomingRequest& request, Now now);
  void OnNewSession(const acp::IncomingRequest& request);

  bool Advance(const std::string& session, Turn& turn, Now now);
  void BeginEdit(const std::string& session, Turn& turn, const EditFile& edit);
  void EndTool(const std::string& session, Turn& turn, bool allowed);
  // Answers the prompt; gives the turn behind it.
  Turns::iterator EndTurn(Turns::iterator turn, std::string_view reason);

  template <typename Update>
  void Tell(std::string_view session, Update update);

  AcpOptions options_;
  Work ids_;
  acp::Peer peer_;
  acp::Reader reader_;
  std::map<std::string, Session, std::less<>> sessions_;
  Turns turns_;                            // by session
  std::map<uint64_t, std::string> asked_;  // sessions by our request
  uint64_t tools_ = 0;
  bool initialized_ = false;
  bool paused_ = false;
  int64_t no_complaint_before_ns_ = INT64_MIN;
};

}  // namespace watchbill::example
