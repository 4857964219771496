// What an agent may write, in pieces whose size the first byte says: lines, messages, the client's events and
// the readers. What is written is always lines of JSON, and what was read once reads the same again.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json_document.hpp"
#include "watchbill/acp/client.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/acp/framer.hpp"
#include "watchbill/acp/log_tail.hpp"
#include "watchbill/acp/peer.hpp"
#include "watchbill/acp/read.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::acp;

void Require(bool holds) {
  if (!holds) std::abort();
}

// Calls `take` with each piece.
template <typename Take>
void InPieces(std::string_view bytes, size_t piece, const Take& take) {
  if (piece == 0) piece = bytes.size() + 1;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) take(bytes.substr(0, piece));
}

std::vector<std::string> Lines(std::string_view bytes, size_t piece) {
  LineFramer framer(48);
  std::vector<std::string> lines;
  const auto drain = [&] {
    while (const auto line = framer.Next()) {
      lines.push_back(std::to_string(line->too_long) + " " + std::string(line->text));
    }
  };
  InPieces(bytes, piece, [&](std::string_view part) {
    framer.Feed(part);
    drain();
    Require(framer.waiting() <= 48 + part.size());
  });
  framer.End();
  drain();
  Require(framer.waiting() == 0);
  return lines;
}

void RequireLinesOfJson(std::string_view out) {
  static json::Document document({.bytes = 1 << 20, .depth = 70});
  while (!out.empty()) {
    const size_t newline = out.find('\n');
    Require(newline != std::string_view::npos);
    Require(document.Parse(out.substr(0, newline)).ok());
    Require(document.root()["jsonrpc"].AsString() == "2.0");
    out.remove_prefix(newline + 1);
  }
}

template <typename T>
void RequireSame(const T& read, absl::StatusOr<T> (Reader::*again)(JsonView)) {
  static Reader reader;
  const std::string written = Encode(read);
  const auto twice = (reader.*again)(JsonView::Trusted(written));
  Require(twice.ok());
  Require(Encode(*twice) == written);
}

template <typename T>
void Try(std::string_view text, absl::StatusOr<T> (Reader::*read)(JsonView)) {
  static Reader reader;
  const auto once = (reader.*read)(JsonView::Trusted(text));
  if (once.ok()) RequireSame(*once, read);
}

// A client that does what its agent wants; gives a short account.
std::string Converse(std::string_view bytes, size_t piece) {
  Client::Limits limits;
  limits.peer = {4096, 32};
  limits.stray_lines = 50;
  Client client(limits);
  Now now{1, 0};
  std::string account, session;
  Require(client.Initialize({}, now).ok());
  const auto drain = [&] {
    while (const auto event = client.Next()) {
      account.push_back(static_cast<char>('a' + event->index()));
      if (std::holds_alternative<HandshakeDone>(*event)) {
        Require(client.NewSession({"/", {}}, now).ok());
      } else if (const auto* made = std::get_if<SessionMade>(&*event)) {
        session = made->session.session;
        (void)client.Prompt({session, {}});
      } else if (const auto* update = std::get_if<Updated>(&*event)) {
        RequireSame(update->update, &Reader::Update);
      } else if (const auto* asked = std::get_if<PermissionAsked>(&*event)) {
        RequireSame(asked->permission, &Reader::Permission);
        const std::string first(asked->permission.options.empty() ? "" : asked->permission.options[0].id);
        const uint64_t request = asked->request;
        if (request % 4 == 0 && !first.empty()) Require(client.AnswerPermission(request, first).ok());
        if (request % 4 == 1) Require(client.RefusePermission(request).ok());
        if (request % 4 == 2) (void)client.Cancel(session);
      } else if (const auto* over = std::get_if<PromptEnded>(&*event)) {
        Require(over->stop_reason.empty() != over->failure.empty());
      }
    }
    RequireLinesOfJson(client.Output());
    client.Consume(client.Output().size());
  };
  InPieces(bytes, piece, [&](std::string_view part) {
    client.Feed(part);
    drain();
  });
  client.End("");
  drain();
  Require(!client.prompting(session));
  Require(client.Deadline() == kNever);
  return account;
}

void ConverseAsPeer(std::string_view bytes, size_t piece) {
  Peer peer({4096, 32});
  for (int i = 0; i < 4; ++i) (void)peer.Call("m", "{}", 100 + i);
  size_t open = 4;
  const auto drain = [&] {
    while (const auto event = peer.Next()) {
      if (const auto* asked = std::get_if<IncomingRequest>(&*event)) {
        const JsonText id(asked->id);
        peer.Respond(id.view(), std::string(asked->params.text()));
        peer.Refuse(id.view(), kMethodNotFound, std::string(id.text()));
      } else if (std::holds_alternative<CallEnded>(*event)) {
        Require(open-- > 0);
      }
    }
    RequireLinesOfJson(peer.Output());
    peer.Consume(peer.Output().size());
  };
  InPieces(bytes, piece, [&](std::string_view part) {
    peer.Feed(part);
    drain();
    peer.Tick(Now{static_cast<int64_t>(part.size()), 0});
  });
  peer.End("over");
  drain();
  Require(open == 0 && peer.open_calls() == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  Require(Lines(bytes, piece) == Lines(bytes, 0));
  Require(Converse(bytes, piece) == Converse(bytes, 0));
  ConverseAsPeer(bytes, piece);
  LineFramer framer(4096);
  framer.Feed(bytes);
  framer.End();
  for (int n = 0; n < 20; ++n) {
    const auto line = framer.Next();
    if (!line) break;
    Try(line->text, &Reader::Initialize);
    Try(line->text, &Reader::Initialized);
    Try(line->text, &Reader::NewSession);
    Try(line->text, &Reader::SessionMade);
    Try(line->text, &Reader::Prompt);
    Try(line->text, &Reader::Prompted);
    Try(line->text, &Reader::Update);
    Try(line->text, &Reader::Permission);
  }
  const std::string shown = Printable(bytes);
  Require(Printable(shown) == shown);
  LogTail log(4);
  InPieces(bytes, piece, [&](std::string_view part) { (void)log.Feed(part); });
  (void)log.End();
  Require(log.lines().size() <= 4);
  return 0;
}
