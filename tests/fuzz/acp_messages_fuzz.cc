// Every message: what can be read can be written, reads as the same, and is written as the same.
//
// An input: a line with the name of its type, as fields.hpp has it (any other picks one), and then JSON.
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "acp_fuzz.hpp"
#include "fields.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/acp/read.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::acp;
using namespace watchbill::acp::fuzz;

// Makes a message what is written of it: a word that a closed list does not know is not.
class Known {
 public:
  template <typename T>
  void Must(Text, T& member) {
    Go(member);
  }
  template <typename T>
  void MustBe(Text, T&) {}
  template <typename T>
  void May(Text, T& member) {
    Go(member);
  }
  template <typename T, typename Default>
  void Or(Text, T&, const Default&) {}
  void Flag(Text, bool&) {}
  void Word(Text, OptText& member, wire::Words words) {
    if (member && !Among(*member, words)) member.reset();
  }
  void OrWord(Text, Text& member, Text otherwise, wire::Words words) {
    if (!Among(member, words)) member = otherwise;
  }
  template <typename T>
  void Part(Text, T& member) {
    Go(member);
  }
  template <typename T>
  void List(Text, T& member) {
    Go(member);
  }
  template <typename T>
  void MayList(Text, T& member) {
    Go(member);
  }
  template <typename T>
  void MustList(Text, T& member) {
    Go(member);
  }
  template <typename T>
  void Patch(Text, T& member) {
    Go(member);
  }
  void Meta(JsonView&) {}
  void Constant(Text, Text) {}
  void RequestId(Text, JsonView&) {}
  template <typename T>
  void Tagged(Text, T& member) {
    Go(member);
  }
  template <typename T>
  void ConfigValue(T&) {}
  template <typename T>
  void SelectItems(Text, T& member) {
    Go(member);
  }
  template <typename T>
  void Properties(Text, T& member) {
    Go(member);
  }
  template <typename T>
  void Values(Text, T&) {}

  template <typename T>
  void Go(std::optional<T>& optional) {
    if (optional) Go(*optional);
  }
  template <typename T>
  void Go(std::vector<T>& list) {
    for (T& one : list) Go(one);
  }
  template <typename... T>
  void Go(std::variant<T...>& variant) {
    std::visit([&](auto& one) { Go(one); }, variant);
  }
  template <typename T>
  void Go(T& message) {
    if constexpr (requires(Known & known) { wire::Fields(known, message); }) wire::Fields(*this, message);
  }

 private:
  static bool Among(Text word, wire::Words words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
};

template <typename Message>
void Try(std::string_view text) {
  static Reader reader, again;
  auto once = reader.Read<Message>(JsonView::Trusted(text));
  if (!once.ok()) return;
  const std::string written = Encode(*once);
  const auto twice = again.Read<Message>(JsonView::Trusted(written));
  Require(twice.ok());
  Require(Encode(*twice) == written);
  Known known;
  known.Go(*once);
  Require(*once == *twice);
}

struct Named {
  std::string_view name;
  void (*tries)(std::string_view);
};
#define WATCHBILL_ACP_TRY(Type, words) {#Type, Try<Type>},
constexpr Named kMessages[] = {WATCHBILL_ACP_MESSAGES(WATCHBILL_ACP_TRY)};
#undef WATCHBILL_ACP_TRY

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const std::string_view name = input.TakeUntil('\n');
  size_t sum = 0;
  for (const char c : name) sum += static_cast<unsigned char>(c);
  size_t which = sum % std::size(kMessages);
  for (size_t i = 0; i < std::size(kMessages); ++i) {
    if (kMessages[i].name == name) which = i;
  }
  kMessages[which].tries(input.rest());
  return 0;
}
