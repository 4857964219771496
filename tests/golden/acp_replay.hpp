// A recorded conversation played again with a Client of ours: it makes the calls that the recorded client
// made, and hears what the agent wrote, in whatever pieces.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "acp_recording.hpp"

namespace watchbill::acp::golden {

class Replay {
 public:
  // Plays it line by line. The recording has to outlive this.
  //
  // Ids in answers of the agent become those of our calls. A call that the Client refuses by its rules is
  // noted, and its answer is left out. At the end the agent is gone.
  explicit Replay(const Recording& recording);

  struct Line {
    size_t entry;  // in the recording
    size_t begin;  // in the stream
    size_t end;    // behind its newline
    size_t told;   // how much has been told when it has come
  };
  const std::vector<Line>& lines() const { return lines_; }
  const std::string& stream() const { return stream_; }  // all that the agent writes
  // How much has been told behind each entry of the recording.
  const std::vector<size_t>& told_after() const { return told_after_; }
  const std::vector<std::string>& told() const { return told_; }    // the account: every event, in full
  const std::vector<std::string>& words() const { return words_; }  // the same in words
  const std::vector<Entry>& written() const { return written_; }    // what the Client wrote
  // What was not played as it was recorded, and how often.
  const std::map<std::string, size_t>& notes() const { return notes_; }
  // `text` without what is of this conversation alone: ids of sessions, and lists of what there is.
  std::string Plain(std::string text) const;

  // Plays the first `lines` lines again with the stream cut at these places, which ascend: whatever stands
  // between two cuts and between two calls of the client comes as one piece. Says what differs: another
  // event, an event told before its line was whole or after, anything else written. Empty: nothing.
  std::string Differs(const std::vector<size_t>& cuts, size_t lines = SIZE_MAX) const;

 private:
  class Player;
  const Recording& recording_;
  std::vector<std::string> sessions_;
  std::vector<Line> lines_;
  std::vector<size_t> told_after_;
  std::string stream_, output_;
  std::vector<std::string> told_, words_;
  std::vector<Entry> written_;
  std::map<std::string, size_t> notes_;
};

}  // namespace watchbill::acp::golden
