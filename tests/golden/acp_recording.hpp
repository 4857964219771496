// Recorded conversations of a client with an agent: what each wrote, line by line, and what each line is.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace watchbill::acp::golden {

struct Entry {
  enum class From { kClient, kAgent };
  enum class What { kRequest, kNotification, kAnswer, kNoise };
  From from = From::kAgent;
  What what = What::kNoise;
  std::string line;                // as it goes over the wire, without its newline
  bool as_is = false;              // the line is to stay as it stands: it was recorded as a text
  std::string id;                  // JSON, of requests and answers; empty where an answer has none
  std::string method;              // of an answer: what it answers, empty where nobody asked
  std::string body;                // the params or the result, JSON; empty where there are none
  std::string error;               // of an answer that is an error, JSON
  std::vector<std::string> reads;  // what a client says of it, where the recording tells that
};

// Says what lines are, in the order in which they went over the wire: an answer has the method of what it
// answers.
class Listener {
 public:
  // `line` is a message or not; of a message, `line` becomes its compact text unless it is to stay `as_is`.
  Entry Hear(Entry::From from, std::string_view line, bool as_is = false);

 private:
  std::map<std::string, std::string> asked_[2];  // methods by ids, of the client and of the agent
};

struct Recording {
  std::string name;
  std::vector<Entry> entries;
  std::vector<std::string> ends;  // what a client says when the agent is gone, where the recording tells that
};

// One JSON object a line: `dir` says who wrote (`client->agent`, `agent->client`; anything else is left out),
// and `msg`, a message, or `raw`, any line, what; `reads` is a list of texts. The last may be of `dir` `end`.
// Throws std::runtime_error with the place of what is wrong.
Recording ReadRecording(const std::filesystem::path& path);
// The *.ndjson files of a folder, by name; none where there is no such folder.
std::vector<std::filesystem::path> RecordingsIn(const std::filesystem::path& folder);
// Recordings of agents that others wrote: WATCHBILL_TRANSCRIPTS names their folder, first as a variable of
// the environment, then as the definition of the build. None is said loudly on stderr.
std::vector<Recording> Transcripts();
// Our own, in tests/golden/acp/talks: always there.
std::vector<Recording> Talks();

}  // namespace watchbill::acp::golden
