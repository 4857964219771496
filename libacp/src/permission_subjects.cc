#include "permission_subjects.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "json_document.hpp"

namespace watchbill::acp {
namespace {

// Of one request; what is behind it is not looked at, and makes the request uncertain.
constexpr size_t kMaxForms = 4'096;
// As large as a line of an agent can be. What the line's own limits let through is let through here.
constexpr json::Limits kRawInput = {size_t{64} << 20, 512};

bool IsFileKind(Text kind) {
  return kind == "read" || kind == "edit" || kind == "delete" || kind == "move" || kind == "search";
}

// As a shell would need it to be written. Two lists of words never give the same line.
std::string Quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// `bash -lc "the line"` is the line, if it is a shell of the system.
bool IsShell(std::string_view program) {
  for (const std::string_view folder : {"/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"}) {
    if (program.starts_with(folder)) {
      program.remove_prefix(folder.size());
      break;
    }
  }
  return program == "sh" || program == "bash" || program == "zsh" || program == "dash" || program == "ksh";
}
bool RunsLine(std::string_view flag) {
  return flag == "-c" || flag == "-lc" || flag == "-ic" || flag == "-ilc";
}

// The strings of a list; nothing where something else stands in it.
std::optional<std::vector<std::string_view>> Strings(json::Value list) {
  std::vector<std::string_view> out;
  for (json::Value v = list.First(); !v.absent(); v = v.Next()) {
    const auto text = v.AsString();
    if (!text) return std::nullopt;
    out.push_back(*text);
  }
  return out;
}

class Gathering {
 public:
  Gathering(const RequestPermissionRequest& request, Text folder) : request_(request) {
    if (folder.starts_with('/')) out_.folder = NormalPath(folder);
  }

  PermissionSubjects Take() {
    const ToolCallUpdate& call = request_.tool_call;
    const Text kind = ToolKindOf(request_);
    if (!call.raw_input.absent()) RawInput(call.raw_input, kind);
    Paths(call);
    if (call.title) out_.title = Kept(*call.title);
    // Some agents say the command in the title alone. The files that such a command names are not all that it
    // may do.
    if (kind == "execute" && out_.command.empty() && !out_.title.empty()) {
      out_.command = out_.title;
      AddForms(out_.command, out_.command_forms);
    }
    AddForms(out_.title, out_.title_forms);
    if (!out_.command.empty()) {
      out_.primary = SubjectKind::kCommand;
    } else if (!out_.paths.empty()) {
      out_.primary = SubjectKind::kPath;
    } else if (!out_.title.empty()) {
      out_.primary = SubjectKind::kTitle;
    }
    return std::move(out_);
  }

 private:
  // As much of it as is looked at.
  std::string Kept(std::string_view text) {
    const size_t n = std::min(text.size(), left_);
    if (n < text.size()) out_.certain = false;
    left_ -= n;
    return std::string(text.substr(0, n));
  }

  void RawInput(JsonView raw, Text kind) {
    json::Document document(kRawInput);
    if (!document.Parse(raw.text()).ok()) {
      out_.certain = false;
      return;
    }
    const json::Value input = document.root();
    std::optional<std::string_view> path;
    if (IsFileKind(kind)) {
      for (const std::string_view key : {"path", "file_path", "filePath", "filepath"}) {
        if (const auto text = input[key].AsString()) {
          path = text;
          AddPath(*text);
        }
      }
    }
    const json::Value command = input["command"];
    switch (command.kind()) {
      case json::Kind::kAbsent:
      case json::Kind::kNull:
        return;
      case json::Kind::kString:
        // A tool that edits files may call what it does to them a command: "create".
        if (path && IsOneWord(*command.AsString())) return;
        out_.command = *command.AsString();
        AddForms(Kept(out_.command), out_.command_forms);
        break;
      case json::Kind::kArray:
        Words(Strings(command));
        break;
      default:
        out_.certain = false;
        return;
    }
    // The words behind a program may stand beside it.
    const json::Value args = input["args"];
    if (!out_.command.empty() && !args.absent() && args.kind() != json::Kind::kNull) Arguments(args);
    if (out_.command.size() > PermissionRules::kMaxSubjectBytes) {
      out_.command.resize(PermissionRules::kMaxSubjectBytes);
      out_.certain = false;
    }
  }

  static bool IsOneWord(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  }

  void Words(const std::optional<std::vector<std::string_view>>& words) {
    if (!words) {
      out_.certain = false;
      return;
    }
    std::string plain;
    for (const std::string_view word : *words) {
      out_.command += (out_.command.empty() ? "" : " ") + Quoted(word);
      plain.append(plain.empty() ? "" : " ").append(word);
      // May be a line for a shell, whichever program it is handed to.
      if (word.find_first_of(" \t\n") != std::string_view::npos) AddForms(Kept(word), out_.command_forms);
    }
    if (out_.command == "''") out_.command.clear();
    AddForms(Kept(plain), out_.command_forms);
    if (out_.command != plain) AddForms(Kept(out_.command), out_.command_forms);
    if (words->size() == 3 && IsShell((*words)[0]) && RunsLine((*words)[1]) && !(*words)[2].empty()) {
      out_.command = (*words)[2];
      AddForms(Kept(out_.command), out_.command_forms);
    }
  }

  void Arguments(json::Value args) {
    std::string plain = out_.command;
    if (const auto text = args.AsString()) {
      if (!text->empty()) out_.command.append(" ").append(*text);
    } else if (args.kind() == json::Kind::kArray) {
      const auto words = Strings(args);
      if (!words) out_.certain = false;
      for (const std::string_view word : words.value_or(std::vector<std::string_view>())) {
        out_.command += " " + Quoted(word);
        plain.append(" ").append(word);
        if (word.find_first_of(" \t\n") != std::string_view::npos) AddForms(Kept(word), out_.command_forms);
      }
      AddForms(Kept(plain), out_.command_forms);
    } else {
      out_.certain = false;
    }
    AddForms(Kept(out_.command), out_.command_forms);
  }

  void Paths(const ToolCallUpdate& call) {
    if (call.locations) {
      for (const ToolCallLocation& location : *call.locations) AddPath(location.path);
    }
    if (call.content) {
      for (const ToolCallContent& content : *call.content) {
        if (const auto* diff = std::get_if<Diff>(&content)) AddPath(diff->path);
      }
    }
  }

  void AddPath(std::string_view path) {
    if (path.empty()) return;
    if (path.size() > left_ || out_.paths.size() >= PermissionRules::kMaxPaths) {
      out_.certain = false;
      return;
    }
    LexicalPath normal = NormalPath(path, out_.folder);
    if (!seen_.insert(TextOf(normal)).second) return;
    left_ -= path.size();
    out_.paths.push_back(std::move(normal));
  }

  void AddForms(const std::string& text, std::vector<std::string>& forms) {
    if (text.empty()) return;
    forms.push_back(text);
    std::string form;
    bool blank = false;
    const auto end = [&] {
      if (!form.empty() && form != text) {
        if (forms.size() >= kMaxForms) {
          out_.certain = false;
        } else {
          forms.push_back(form);
        }
      }
      form.clear();
      blank = false;
    };
    for (const char c : text) {
      if (IsShellOperator(c)) {
        end();
      } else if (c == ' ' || c == '\t') {
        blank = true;
      } else {
        if (blank && !form.empty()) form.push_back(' ');
        blank = false;
        form.push_back(c);
      }
    }
    end();
  }

  const RequestPermissionRequest& request_;
  PermissionSubjects out_;
  size_t left_ = PermissionRules::kMaxSubjectBytes;
  std::set<std::string> seen_;
};

}  // namespace

Text ToolKindOf(const RequestPermissionRequest& request) {
  const Text kind = request.tool_call.kind.value_or("");
  return kind.empty() ? "other" : kind;
}

PermissionSubjects SubjectsOf(const RequestPermissionRequest& request, Text folder) {
  return Gathering(request, folder).Take();
}

std::vector<std::string> PermissionSubjects::Texts() const {
  std::vector<std::string> texts;
  if (!primary) return texts;
  if (*primary == SubjectKind::kCommand) {
    texts.push_back(command);
  } else if (*primary == SubjectKind::kTitle) {
    texts.push_back(title);
  } else {
    for (const LexicalPath& path : paths) texts.push_back(TextOf(path));
  }
  return texts;
}

}  // namespace watchbill::acp
