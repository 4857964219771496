// The agent of bench_acp: a turn that is made once and sent over and over.
#include <errno.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "acp_bench.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::bench {
namespace {

constexpr size_t kLines = 4000;
// Fewer tool calls than a client keeps of one session.
constexpr size_t kLinesOfOneKind = 800;

class Author {
 public:
  explicit Author(uint64_t seed) : random_(seed) {}

  void Write(Kind kind) {
    line_.clear();
    JsonWriter w(line_);
    w.Begin('{').Key("jsonrpc").String("2.0").Key("method").String("session/update");
    w.Key("params").Begin('{').Key("sessionId").String(kSession);
    w.Key("update").Begin('{').Key("sessionUpdate").String(kKindNames[kind]);
    Body(kind, w);
    w.End('}').End('}').End('}');
    line_.push_back('\n');
    ++sums_.updates;
    out_.bytes.append(line_);
    out_.ends.push_back(out_.bytes.size());
    out_.sums.push_back(sums_);
  }
  Lines Take() { return std::move(out_); }
  // Shuffles, in the same way with every standard library.
  template <typename T>
  void Shuffle(std::vector<T>& all) {
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[Below(i)]);
  }

 private:
  size_t Below(size_t bound) { return static_cast<size_t>(random_() % bound); }

  // What a reader has to add up.
  const std::string& Counted(const std::string& text) {
    sums_.text_bytes += text.size();
    for (const char c : text) sums_.text_units += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return text;
  }

  std::string Words(size_t least, size_t most) {
    static constexpr std::string_view kWords[] = {
        "the",    "session", "is",    "opened", "before", "first", "prompt",  "and",    "café",   "reads",
        "a",      "file",    "of",    "tests",  "which",  "fails", "because", "buffer", "naïve",  "then",
        "writes", "it",      "again", "with",   "lines",  "so",    "nothing", "waits",  "résumé", "now"};
    std::string out;
    for (size_t n = least + Below(most - least + 1); n > 0; --n) {
      if (!out.empty()) out.push_back(' ');
      out.append(kWords[Below(std::size(kWords))]);
    }
    return out;
  }
  std::string Prose(size_t least, size_t most) {
    std::string out = Words(least, most);
    if (Below(4) == 0) out.append(".\n\n");
    if (Below(12) == 0) out.append("run \"make check\"\n");
    return out;
  }
  std::string Path() {
    static constexpr std::string_view kFolders[] = {"src", "tests", "include", "docs"};
    std::string out = "/srv/project/";
    out.append(kFolders[Below(std::size(kFolders))]).append("/part_").append(std::to_string(Below(90)));
    return out.append(".cc");
  }
  std::string CallId() {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out = "call_";
    for (int i = 0; i < 24; ++i) out.push_back(kHex[Below(16)]);
    return out;
  }
  void Text(JsonWriter& w, const std::string& text) {
    w.Key("content").Begin('{').Key("type").String("text").Key("text").String(Counted(text)).End('}');
  }

  void Body(Kind kind, JsonWriter& w) {
    switch (kind) {
      case kMessage:
      case kThought:
        Text(w, Prose(3, 14));
        break;
      case kTool: {
        static constexpr std::string_view kToolKinds[] = {"read", "edit", "search", "execute"};
        call_ = CallId();
        const std::string path = Path();
        w.Key("toolCallId").String(call_).Key("title").String(Counted("Read " + path));
        w.Key("kind").String(kToolKinds[Below(std::size(kToolKinds))]).Key("status").String("pending");
        w.Key("locations").Begin('[').Begin('{').Key("path").String(Counted(path));
        w.Key("line").Int(1 + static_cast<int64_t>(Below(400))).End('}').End(']');
        w.Key("rawInput").Begin('{').Key("path").String(path).Key("limit").Int(200).End('}');
        break;
      }
      case kToolUpdate: {
        const bool over = with_content_ = !with_content_;
        w.Key("toolCallId").String(call_);
        w.Key("status").String(Counted(over ? "completed" : "in_progress"));
        if (!over) break;
        w.Key("content").Begin('[').Begin('{').Key("type").String("content");
        Text(w, Prose(8, 24));
        w.End('}').End(']');
        break;
      }
      case kUsage: {
        used_ += Below(2000);
        w.Key("used").Int(static_cast<int64_t>(used_)).Key("size").Int(200'000);
        w.Key("cost").Begin('{').Key("amount").Double(static_cast<double>(used_) / 1e5);
        w.Key("currency").String("USD").End('}');
        sums_.tokens += used_ + 200'000;
        break;
      }
      case kPlan: {
        static constexpr std::string_view kPriorities[] = {"high", "medium", "low"};
        static constexpr std::string_view kStatuses[] = {"pending", "in_progress", "completed"};
        w.Key("entries").Begin('[');
        for (int i = 0; i < 4; ++i) {
          w.Begin('{').Key("content").String(Counted(Words(4, 8)));
          w.Key("priority").String(kPriorities[Below(3)]).Key("status").String(kStatuses[Below(3)]).End('}');
        }
        w.End(']');
        break;
      }
      case kCommands:
        w.Key("availableCommands").Begin('[');
        for (const char* name : {"plan", "review", "compact", "test", "explain"}) {
          w.Begin('{').Key("name").String(Counted(name)).Key("description").String(Counted(Words(4, 9)));
          if (Below(2) == 0) w.Key("input").Begin('{').Key("hint").String("what to look at").End('}');
          w.End('}');
        }
        w.End(']');
        break;
      case kKinds:
        break;
    }
  }

  std::mt19937_64 random_;
  Lines out_;
  Sums sums_;
  std::string line_;
  std::string call_ = "call_0123456789abcdef01234567";
  bool with_content_ = false;
  uint64_t used_ = 1000;
};

// The value of a member that stands before any nested one of the same name, as clients write their requests.
std::string_view Member(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + key.size();
  return line.substr(begin, line.find_first_of(",}", begin) - begin);
}

bool WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

uint64_t Lines::BytesOf(uint64_t updates) const {
  const uint64_t rest = updates % ends.size();
  return updates / ends.size() * bytes.size() + (rest == 0 ? 0 : ends[rest - 1]);
}

Sums Lines::SumsOf(uint64_t updates) const {
  const uint64_t rounds = updates / sums.size(), rest = updates % sums.size();
  const Sums last = rest == 0 ? Sums{} : sums[rest - 1];
  const Sums& whole = sums.back();
  return {updates, rounds * whole.text_bytes + last.text_bytes, rounds * whole.text_units + last.text_units,
          rounds * whole.tokens + last.tokens};
}

Lines MixedTurn() {
  Author author(20);
  for (size_t done = 0; done < kLines; done += 100) {
    std::vector<Kind> hundred;
    for (size_t kind = 0; kind < kKinds; ++kind)
      hundred.insert(hundred.end(), kShares[kind], static_cast<Kind>(kind));
    author.Shuffle(hundred);
    for (const Kind kind : hundred) author.Write(kind);
  }
  return author.Take();
}

Lines TurnOf(Kind kind) {
  Author author(21 + kind);
  for (size_t i = 0; i < kLinesOfOneKind; ++i) author.Write(kind);
  return author.Take();
}

Answer AnswerTo(std::string_view line) {
  const std::string_view method = Member(line, "\"method\":"), id = Member(line, "\"id\":");
  std::string result;
  if (method == "\"initialize\"") {
    result =
        R"({"protocolVersion":1,"agentCapabilities":{"loadSession":false,"promptCapabilities":{"image":false}},)"
        R"("agentInfo":{"name":"generator","version":"1.0.0"},"authMethods":[]})";
  } else if (method == "\"session/new\"") {
    result.append(R"({"sessionId":")").append(kSession).append("\"}");
  } else if (method == "\"session/prompt\"") {
    result = R"({"stopReason":"end_turn"})";
  }
  Answer answer;
  if (id.empty() || method.empty()) return answer;
  answer.prompt = method == "\"session/prompt\"";
  answer.line.append(R"({"jsonrpc":"2.0","id":)").append(id);
  if (result.empty()) {
    answer.line.append(R"(,"error":{"code":-32601,"message":"Method not found"}})");
  } else {
    answer.line.append(R"(,"result":)").append(result).append("}");
  }
  answer.line.push_back('\n');
  return answer;
}

int Generate(uint64_t updates) {
  const Lines turn = MixedTurn();
  std::string input;
  for (;;) {
    char piece[4096];
    const ssize_t n = ::read(STDIN_FILENO, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 ? 0 : 1;
    input.append(piece, static_cast<size_t>(n));
    for (size_t newline; (newline = input.find('\n')) != std::string::npos; input.erase(0, newline + 1)) {
      const Answer answer = AnswerTo(std::string_view(input).substr(0, newline));
      if (answer.line.empty()) {
        // An error, as clients answer what they could not read.
        fmt::print(stderr, "bench_acp: a client sent what is no request: {}\n", input.substr(0, newline));
        return 1;
      }
      if (answer.prompt) {
        uint64_t left = turn.BytesOf(updates);
        while (left > 0) {
          const size_t now = static_cast<size_t>(std::min<uint64_t>(left, turn.bytes.size()));
          if (!WriteAll(std::string_view(turn.bytes).substr(0, now))) return 1;
          left -= now;
        }
      }
      if (!WriteAll(answer.line)) return 1;
    }
  }
}

}  // namespace watchbill::bench
