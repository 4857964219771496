#include "yaml_text.hpp"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "watchbill/base/json_writer.hpp"
#include "yaml_source.hpp"

namespace watchbill::supervisor {
namespace {

// Thrown by the builder, through yaml-cpp, when nothing that follows is worth reading.
struct Stop {};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

const char* KindWord(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kScalar:
      return "a text";
    case YamlNode::Kind::kNull:
      break;
  }
  return "nothing";
}

// Makes the tree of yaml-cpp's events. Its own tree loses keys that stand twice and shares what aliases stand
// for without counting it.
class Builder : public YAML::EventHandler {
 public:
  Builder(YamlSource& source, YamlText& out) : source_(source), out_(out) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (!std::exchange(started_, true)) return;
    const size_t at = OffsetOf(mark);
    if (std::string_view(source_.text()).substr(at).starts_with("---")) {
      Fail(at, "a second document starts here; the file has to be one");
    }
    Fail(at,
         "this stands after the end of what the file says; the keys of one map start in the same column, and "
         "nothing follows a closing bracket");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const size_t at = NothingAt(OffsetOf(mark));
    Leaf(at, anchor, YamlNode{});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const size_t at = OffsetOf(mark);
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Fail(at, "this alias stands within what it stands for");
    const Anchored& target = found->second;
    Count(at, target.weight);
    if (open_.size() + target.height > kMaxYamlDepth) FailDepth(at);
    if (!open_.empty()) open_.back().height = std::max(open_.back().height, target.height);
    Put(YamlValue{.node = target.node, .place = source_.PlaceOf(at), .alias = true});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const size_t at = OffsetOf(mark);
    CheckTag(at, tag);
    const size_t begin = AfterProperties(at);
    const char first = begin < source_.text().size() ? source_.text()[begin] : '\0';
    if (first == '"' || first == '\'') CheckClosed(begin);
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.plain = tag == "?";
    node.text = YamlSource::WithoutMarks(value, first == '"');
    Leaf(at, anchor, std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    Begin(OffsetOf(mark), tag, anchor, YamlNode::Kind::kList);
    open_.back().block = style == YAML::EmitterStyle::Block;
  }
  void OnSequenceEnd() override { End(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Begin(OffsetOf(mark), tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { End(); }

 private:
  size_t OffsetOf(const YAML::Mark& mark) const { return source_.OffsetOf(mark.pos); }

  struct Anchored {
    const YamlNode* node;
    size_t weight, height;  // nodes, and levels, of what it stands for
  };
  struct Open {
    YamlNode* node;
    Place place;
    YAML::anchor_t anchor;
    size_t count_before;
    size_t height = 0;                 // of the highest child
    std::optional<YamlEntry> entry{};  // whose value is awaited
    bool drop = false;                 // that entry: it was reported
    bool block = false;                // a list of lines with "-"
    std::map<std::string, int> lines{};
  };

  [[noreturn]] void Fail(size_t at, std::string message) {
    Report(source_.PlaceOf(at), std::move(message));
    throw Stop{};
  }
  [[noreturn]] void FailDepth(size_t at) {
    Fail(at, fmt::format("this is nested deeper than {} levels", kMaxYamlDepth));
  }
  void Report(Place place, std::string message) {
    out_.problems.push_back({.line = place.line, .column = place.column, .message = std::move(message)});
  }
  void Count(size_t at, size_t nodes) {
    count_ += nodes;
    if (count_ > kMaxYamlNodes) {
      Fail(at, fmt::format("the file holds more than {} values, those that aliases stand for counted",
                           kMaxYamlNodes));
    }
  }

  void CheckTag(size_t at, const std::string& tag) {
    static constexpr std::string_view kCore = "tag:yaml.org,2002:";
    if (tag.empty() || tag == "?" || tag == "!") return;
    for (const std::string_view known : {"str", "int", "float", "bool", "seq", "map"}) {
      if (tag.starts_with(kCore) && std::string_view(tag).substr(kCore.size()) == known) return;
    }
    Report(source_.PlaceOf(at), fmt::format("the tag {} means nothing here", Shown(tag)));
  }

  // Where the value itself begins behind "!tag" and "&anchor".
  size_t AfterProperties(size_t at) const {
    const std::string& text = source_.text();
    while (at < text.size() && (text[at] == '!' || text[at] == '&' || IsBlank(text[at]) || text[at] == '#')) {
      const char first = text[at];
      while (at < text.size() && (first == '#' ? text[at] != '\n' : IsBlank(text[at]) == IsBlank(first)))
        ++at;
    }
    return at;
  }

  // yaml-cpp takes the end of the file for the quote that is missing when a line's end stands before it.
  void CheckClosed(size_t begin) {
    const std::string& text = source_.text();
    const char quote = text[begin];
    for (size_t at = begin + 1; at < text.size(); ++at) {
      if (text[at] == '\\' && quote == '"') {
        ++at;
      } else if (text[at] == quote) {
        if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return;
        ++at;
      }
    }
    Fail(begin, "this quote is not closed before the end of the file");
  }

  // A list's item that is nothing is marked where the next thing stands. Its "-" is the last that was written
  // before.
  size_t NothingAt(size_t at) const {
    if (open_.empty() || !open_.back().block) return at;
    const std::string_view text = source_.text();
    size_t end = at;
    while (end > 0) {
      const size_t newline = text.rfind('\n', end - 1);
      const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
      std::string_view line = text.substr(begin, end - begin);
      for (size_t hash = line.find('#'); hash != std::string_view::npos; hash = line.find('#', hash + 1)) {
        if (hash == 0 || IsBlank(line[hash - 1])) line = line.substr(0, hash);
      }
      while (!line.empty() && IsBlank(line.back())) line.remove_suffix(1);
      const bool dash = !line.empty() && line.back() == '-' && (end < at || at == text.size());
      if (dash) return begin + line.size() - 1;
      if (!line.empty()) return at;  // "- null": it is where it says
      end = begin == 0 ? 0 : begin - 1;
    }
    return at;
  }

  void Leaf(size_t at, YAML::anchor_t anchor, YamlNode made) {
    Count(at, 1);
    const YamlNode& node = out_.nodes.emplace_back(std::move(made));
    if (anchor != 0) anchors_[anchor] = {.node = &node, .weight = 1, .height = 0};
    Put(YamlValue{.node = &node, .place = source_.PlaceOf(at)});
  }

  void Begin(size_t at, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    CheckTag(at, tag);
    const size_t count_before = count_;
    Count(at, 1);
    if (open_.size() >= kMaxYamlDepth) FailDepth(at);
    const Place place = source_.PlaceOf(at);
    YamlNode& node = out_.nodes.emplace_back();
    node.kind = kind;
    open_.push_back({.node = &node, .place = place, .anchor = anchor, .count_before = count_before});
  }

  void End() {
    const Open done = std::move(open_.back());
    open_.pop_back();
    const size_t height = done.height + 1;
    if (done.anchor != 0) {
      anchors_[done.anchor] = {.node = done.node, .weight = count_ - done.count_before, .height = height};
    }
    if (!open_.empty()) open_.back().height = std::max(open_.back().height, height);
    Put(YamlValue{.node = done.node, .place = done.place});
  }

  void Put(YamlValue value) {
    if (open_.empty()) {
      out_.root = value;
      return;
    }
    Open& open = open_.back();
    if (open.node->kind == YamlNode::Kind::kList) {
      open.node->items.push_back(value);
    } else if (!open.entry) {
      Key(open, value);
    } else {
      // What is nothing is marked wherever the next thing stands.
      if (value.node->kind == YamlNode::Kind::kNull && !value.alias) value.place = open.entry->place;
      open.entry->value = value;
      if (!open.drop) open.node->entries.push_back(std::move(*open.entry));
      open.entry.reset();
    }
  }

  void Key(Open& open, const YamlValue& value) {
    if (value.node->kind != YamlNode::Kind::kScalar) {
      Report(value.place, fmt::format("{} cannot be a key; a text was expected", KindWord(value.node->kind)));
      throw Stop{};
    }
    const std::string& key = value.node->text;
    const auto [first, added] = open.lines.emplace(key, value.place.line);
    if (!added) {
      Report(value.place, fmt::format("{} stands twice; the first is on line {}", Shown(key), first->second));
    }
    const bool merge = key == "<<" && value.node->plain;
    if (merge) {
      Report(value.place, "\"<<\" is not read here; write out the keys that it would bring");
    }
    open.drop = !added || merge;
    open.entry = YamlEntry{.key = key, .place = value.place, .value = {}};
  }

  YamlSource& source_;
  YamlText& out_;
  bool started_ = false;
  size_t count_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;  // those that are complete
};

// yaml-cpp's words are about its own state; these say what to look for.
std::string InOurWords(const std::string& theirs, bool tab_in_front) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"illegal map value",
       "a \":\" cannot stand here; keys of one map start in the same column, and a text that holds \": \" "
       "needs quotes"},
      {"illegal map key", "a key cannot stand here; keys of one map start in the same column"},
      {"illegal block entry", "a list cannot start here; its \"-\" goes on a line of its own, under the key"},
      {"end of map not found",
       "this does not fit what stands above; keys of one map start in the same column"},
      {"end of sequence not found",
       "this does not fit what stands above; the items of one list start in the same column, with \"-\""},
      {"end of map flow not found", "\",\" or \"}\" was expected"},
      {"end of sequence flow not found", "\",\" or \"]\" was expected"},
      {"illegal flow end", "this bracket closes nothing"},
      {"unknown token", "a text that starts like this needs quotes"},
      {"unknown escape character",
       "this escape is not known in double quotes; a backslash is written \\\\, or the text put in single "
       "quotes"},
      {"bad character found while scanning hex",
       "\\x, \\u and \\U are followed by 2, 4 and 8 hexadecimal digits"},
      {"invalid unicode", "this escape is no character; half a surrogate pair needs its other half"},
      {"illegal EOF in scalar", "a quote is not closed before the end of the file"},
      {"illegal document indicator", "a quote is not closed before this \"---\" or \"...\""},
      {"the referenced anchor is not defined", "there is no anchor of this name above"},
  };
  for (const auto& [start, words] : kWords) {
    if (!theirs.starts_with(start)) continue;
    const bool about_columns = words.find("column") != std::string_view::npos;
    return about_columns && tab_in_front ? "a tab cannot indent a line; spaces were expected"
                                         : std::string(words);
  }
  return fmt::format("this is not YAML: {}", Shown(theirs));
}

Problem SyntaxProblem(YamlSource& source, const YAML::Exception& error) {
  size_t at = source.OffsetOf(error.mark.pos);
  const std::string_view line = source.LineAt(at);
  const std::string_view indent = line.substr(0, line.find_first_not_of(" \t"));
  const bool tab = indent.find('\t') != std::string_view::npos;
  // Marked behind the escape: its backslash is what to look at.
  if (error.msg.starts_with("unknown escape") || error.msg.starts_with("invalid unicode")) {
    const size_t backslash = at == 0 ? std::string::npos : source.text().rfind('\\', at - 1);
    if (backslash != std::string::npos && at - backslash <= 10) at = backslash;
  }
  const Place place = source.PlaceOf(at);
  std::string message = InOurWords(error.msg, tab);
  if (at == source.text().size() && message.ends_with("was expected"))
    message += " before the end of the file";
  return {.line = place.line, .column = place.column, .message = std::move(message)};
}

}  // namespace

YamlText ReadYaml(std::string_view text) {
  YamlText out;
  if (text.size() > kMaxConfigBytes) {
    out.problems.push_back(
        {.message = fmt::format("the file has {} bytes; at most {} are read", text.size(), kMaxConfigBytes)});
    return out;
  }
  YamlSource source(text);
  if (auto bad = source.BadByte()) {
    out.problems.push_back(std::move(*bad));
    return out;
  }
  source.MarkSurrogatePairs();
  std::istringstream in(source.text());
  Builder builder(source, out);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
  } catch (const YAML::Exception& error) {
    out.problems.push_back(SyntaxProblem(source, error));
  } catch (const std::exception& error) {
    out.problems.push_back({.message = fmt::format("this is not YAML: {}", Shown(error.what()))});
  }
  return out;
}

std::string Shown(std::string_view text) {
  static constexpr size_t kCharacters = 60;
  std::string out;
  size_t characters = 0;
  for (size_t at = 0; at < text.size(); ++characters) {
    if (characters == kCharacters) return out + "…";
    const size_t length = json_detail::Utf8Length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control = length == 0 || byte < 0x20 || byte == 0x7F ||
                         (length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0);
    out.append(control ? std::string_view("\uFFFD") : text.substr(at, length));
    at += std::max<size_t>(1, length);
  }
  return out;
}

}  // namespace watchbill::supervisor
